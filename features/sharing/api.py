"""`capability_install`: an agent redeems an install code (docs/contract.md 4)."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.openapi.annotations import write_endpoint
from capability_rules.errors import InvalidRequest
from features.sharing import install_codes
from registry.common import rate_limits
from registry.common.errors import InstallCodeNotFound

_NO_CODE = {404: ("Error", "No capability has this code (INSTALL_CODE_NOT_FOUND).")}


@write_endpoint("read", answer="Installed", body="InstallRequest", also=_NO_CODE)
def capability_install(request: Request, caller: Caller) -> Response:
    """Redeem an install code: from then on the key sees that capability, listed or not."""
    code = parameters.string(parameters.json_object(request), "code", most=100)
    if not code:
        raise InvalidRequest("code is missing: SKILL-XXXX-XXXX-XXXX")
    guessers = (
        rate_limits.guess_subject("install code", request.META.get("REMOTE_ADDR")),
        f"install code by {caller.key_name}",
    )
    _refuse_guessers(guessers)
    try:
        revision = install_codes.redeem_code(code=code, by=caller.actor, groups=caller.principal.sight.groups)
    except InstallCodeNotFound:
        for guesser in guessers:
            rate_limits.consume("guess", guesser)
        raise
    digest = revision.digest
    if caller.principal.sight.read_only_tools:
        digest = revision.read_only_digest or digest
    return Response({"capability_id": revision.capability.capability_id, "name": revision.name, "digest": digest})


def _refuse_guessers(guessers: tuple[str, ...]) -> None:
    """A client that has guessed too often does not learn whether this code is right. Raises `RateLimited`."""
    for guesser in guessers:
        if rate_limits.is_exhausted("guess", guesser):
            rate_limits.consume("guess", guesser)
