"""The agent's endpoints: translate the request, make one call, translate the outcome."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from agent_api import parameters
from agent_api.authentication import require_scope
from agent_api.endpoint import endpoint
from agent_api.openapi.describe import (
    CAPABILITY_ID,
    DIGEST,
    MALFORMED,
    NOT_FOUND,
    NOT_MODIFIED,
    describe,
    query,
    whole_number,
)
from agent_api.representations import respond
from agent_api.v1.listing import LIMIT_MAX, OS, list_answer, read_query
from agent_api.v1.loading import load_answer
from registry import snapshot

_LIST_PARAMETERS = (
    query("group", "Only capabilities of this skill group."),
    query("os", "Only what works there; common is included.", enum=list(OS)),
    query("updated_since_revision", "Only what changed after this registry_revision.", kind=whole_number(0)),
    query("limit", f"Entries a page, 1 to {LIMIT_MAX}.", kind=whole_number(1, LIMIT_MAX)),
    query("cursor", "next_cursor of the page before."),
    query("fields", "minimal: the first four keys of an entry alone.", enum=["minimal"]),
)
_PIN_PARAMETERS = (
    query("capability_id", "Which capability.", kind=CAPABILITY_ID, required=True),
    query("digest", "Pin the release with this digest.", kind=DIGEST),
    query("revision", "Pin this revision.", kind=whole_number(1)),
)


@describe(answer="RegistryList", parameters=_LIST_PARAMETERS, also=NOT_MODIFIED)
@endpoint("GET")
def capability_registry_list(request: Request) -> HttpResponse:
    """List every capability that can be loaded, ordered by capability_id."""
    held = snapshot.current()
    caller = require_scope(request, held, "read")
    return respond(request, caller, list_answer(held, read_query(request), caller.principal))


@describe(
    answer="SkillBundle",
    body="SkillLoadRequest",
    methods=["POST"],
    operation_id="capability_skill_load_post",
    also=NOT_FOUND | MALFORMED,
)
@describe(answer="SkillBundle", parameters=_PIN_PARAMETERS, methods=["GET"], also=NOT_MODIFIED | NOT_FOUND | MALFORMED)
@endpoint("GET", "POST")
def capability_skill_load(request: Request) -> HttpResponse:
    """Load one capability: its skill doc, tools and UI schemas."""
    held = snapshot.current()
    caller = require_scope(request, held, "read")
    values = parameters.json_object(request) if request.method == "POST" else parameters.query(request)
    return respond(request, caller, load_answer(held, caller, values))


@describe(answer="SkillBundle", body="SkillLoadRequest", also=NOT_FOUND | MALFORMED)
@endpoint("POST")
def capability_skill_reload(request: Request) -> HttpResponse:
    """Load one capability past every cache."""
    caller = require_scope(request, snapshot.current(), "read")
    held = snapshot.HOLDER.refresh()
    return respond(request, caller, load_answer(held, caller, parameters.json_object(request), fresh=True))
