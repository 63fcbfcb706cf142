"""What a client asks of a member by way of the browser (RFC 6749 4.1.1, 7636, 8707, 9207).

What is wrong with the client or with the address to go back to is said here and leads nowhere; all else is said to the
client, by its address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from capability_rules.errors import RegistryError
from features.oauth.clients import find_client
from features.oauth.connections import DEFAULT_SCOPES, SCOPES
from features.oauth.models import OAuthClient
from features.oauth.redirect_uris import add_parameters, is_named
from features.oauth.server_address import find_issuer, is_resource
from registry.access.agent_keys import Scope
from registry.common.rate_limits import RateLimited

FIELDS: Final = (
    *("response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method"),
    *("resource", "response_mode", "request", "request_uri"),
)
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_STATE_LENGTH_MAX: Final = 2000


class AuthorizationUnusable(Exception):
    """There is nowhere to go back to; the message is for the member."""


class AuthorizationRefused(Exception):
    """The client learns of it, at `location`."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A request that a member may answer."""

    client: OAuthClient
    redirect_uri: str
    state: str
    scopes: tuple[Scope, ...]
    code_challenge: str

    def get_location(self, **parameters: str) -> str:
        """Where the browser goes with the answer."""
        return _get_location(self.redirect_uri, self.state, parameters)


def read_request(given: QueryDict, *, asked_by: str) -> AuthorizationRequest:
    """The request of a member's browser. Raises `AuthorizationUnusable`, `AuthorizationRefused`, `RateLimited`."""
    twice = next((name for name in FIELDS if len(given.getlist(name)) > 1), "")
    if twice:
        raise AuthorizationUnusable(_("The address has %(name)s twice.") % {"name": twice})
    client = _read_client(given.get("client_id", ""), asked_by)
    redirect_uri = given.get("redirect_uri", "")
    if not is_named(redirect_uri, client.redirect_uris):
        raise AuthorizationUnusable(_("The address to go back to is not one that this client has named."))
    state = given.get("state", "")
    error = _find_error(given)
    if error:
        code, words = error
        state = "" if len(state) > _STATE_LENGTH_MAX else state
        raise AuthorizationRefused(_get_location(redirect_uri, state, {"error": code, "error_description": words}))
    wanted = given.get("scope", "").split()
    scopes = tuple(scope for scope in SCOPES if scope in wanted) or DEFAULT_SCOPES
    return AuthorizationRequest(client, redirect_uri, state, scopes, given.get("code_challenge", ""))


def _read_client(client_id: str, asked_by: str) -> OAuthClient:
    try:
        return find_client(client_id, asked_by=asked_by)
    except RateLimited:
        raise
    except RegistryError as error:
        raise AuthorizationUnusable(f"{error.message}.") from None


def _find_error(given: QueryDict) -> tuple[str, str] | None:
    """The code of RFC 6749 4.1.2.1 with words, None where nothing is wrong."""
    if given.get("request") or given.get("request_uri"):
        return "request_not_supported", "Send the parameters in the query"
    if given.get("response_type") != "code":
        return "unsupported_response_type", "response_type must be code"
    if given.get("response_mode", "query") != "query":
        return "invalid_request", "response_mode must be query"
    if given.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(given.get("code_challenge", "")):
        return "invalid_request", "code_challenge with code_challenge_method=S256 is required"
    if "resource" in given and not is_resource(given.get("resource", "")):
        return "invalid_target", "resource must be the MCP server of this registry"
    if len(given.get("state", "")) > _STATE_LENGTH_MAX:
        return "invalid_request", f"state has at most {_STATE_LENGTH_MAX} characters"
    return None


def _get_location(redirect_uri: str, state: str, parameters: dict[str, str]) -> str:
    return add_parameters(redirect_uri, parameters | ({"state": state} if state else {}) | {"iss": find_issuer()})
