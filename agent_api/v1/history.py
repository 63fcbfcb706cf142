"""What proves the history: signatures of revisions, checkpoints, and the public keys (docs/contract.md 4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.http import HttpResponse
from rest_framework.request import Request

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.http.endpoint import endpoint
from agent_api.http.representations import respond
from agent_api.openapi.annotations import NOT_MODIFIED, integer_parameter, query_parameter, read_endpoint
from agent_api.v1.skill_load import find_revision
from agent_api.v1.views import PIN_PARAMETERS
from registry.common import rate_limits
from registry.core import checkpoints
from registry.core.signing_keys import build_key_list
from registry.snapshot import Snapshot
from registry.snapshot.response_cache import RenderedResponse, load_signature

CHECKPOINTS_MAX: Final = 100
_NO_SIGNATURE: Final = {404: ("Error", "An unknown capability, or a revision without a signature.")}
_PAGE_PARAMETERS: Final = (
    query_parameter(
        "after", "Those with a higher number, in order; without it the newest alone.", kind=integer_parameter(0)
    ),
    query_parameter(
        "limit", f"Checkpoints a page, 1 to {CHECKPOINTS_MAX}.", kind=integer_parameter(1, CHECKPOINTS_MAX)
    ),
)


@read_endpoint("GET", answer="RevisionSignature", parameters=PIN_PARAMETERS, also=NOT_MODIFIED | _NO_SIGNATURE)
def capability_signature(request: Request, held: Snapshot, caller: Caller) -> HttpResponse:
    """The signature of the revision that capability_skill_load returns for the same arguments."""
    entry, revision_id, _ = find_revision(held, caller, parameters.query(request))
    return respond(request, caller, load_signature(entry, revision_id))


@read_endpoint("GET", answer="RegistryCheckpoints", parameters=_PAGE_PARAMETERS, also=NOT_MODIFIED)
def registry_checkpoints(request: Request, held: Snapshot, caller: Caller) -> HttpResponse:
    """Signed checkpoints of the registry's history, for clients that remember how far it had come."""
    rate_limits.consume("match", caller.limit_subject)
    return respond(request, caller, _page(parameters.query(request), held.registry_revision))


def _page(values: Mapping[str, Any], registry_revision: int) -> RenderedResponse:
    after = parameters.integer(values, "after", least=0)
    limit = parameters.integer(values, "limit", least=1, most=CHECKPOINTS_MAX) or CHECKPOINTS_MAX
    found = checkpoints.list_envelopes(after=after, limit=limit, up_to_revision=registry_revision)
    following = found[-1][0] if after is not None and len(found) == limit else None
    envelopes = [json.loads(envelope) for _, envelope in found]
    return RenderedResponse(orjson.dumps({"checkpoints": envelopes, "next_after": following}))


@endpoint("GET")
def signing_keys(request: Request) -> HttpResponse:  # noqa: ARG001 (a view)
    """`{"keys": [{"keyid", "algorithm", "public_key", "status"}]}`; public keys are for everybody."""
    response = HttpResponse(orjson.dumps(build_key_list()), content_type="application/json")
    response["Cache-Control"] = "public, max-age=300"
    response["Access-Control-Allow-Origin"] = "*"
    return response
