"""The agent's endpoints: translate the request, make one call, translate the outcome."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.http.representations import respond
from agent_api.openapi.annotations import (
    CAPABILITY_ID,
    DIGEST,
    FILE_PATH,
    NO_FILE,
    NOT_FOUND,
    NOT_MODIFIED,
    SHARE_PARAMETER,
    UNLOADABLE,
    describe,
    integer_parameter,
    query_parameter,
    read_endpoint,
)
from agent_api.v1.file_content import content_response
from agent_api.v1.match_and_search import QUERY_MAX, RANKINGS, TOP_FOUND_MAX, match_response, search_response
from agent_api.v1.prompt_render import prompt_response
from agent_api.v1.registry_list import LIMIT_MAX, OS, list_response, parse_query
from agent_api.v1.skill_load import file_response, load_response
from registry.common import rate_limits
from registry.snapshot import STORE, Snapshot

# An answer depends on the message alone until something is published, which nobody can tell a cache.
_NO_STORE = {"Cache-Control": "no-store"}
_LIST_PARAMETERS = (
    query_parameter("group", "Only capabilities of this skill group."),
    query_parameter("os", "Only what works there; common is included.", enum=list(OS)),
    query_parameter(
        "updated_since_revision", "Only what changed after this registry_revision.", kind=integer_parameter(0)
    ),
    query_parameter("limit", f"Entries a page, 1 to {LIMIT_MAX}.", kind=integer_parameter(1, LIMIT_MAX)),
    query_parameter("cursor", "next_cursor of the page before; it expires an hour after the registry has changed."),
    query_parameter("fields", "minimal: the first four keys of an entry alone.", enum=["minimal"]),
)
PIN_PARAMETERS = (
    query_parameter("capability_id", "Which capability.", kind=CAPABILITY_ID, required=True),
    query_parameter("digest", "Pin the release with this digest.", kind=DIGEST),
    query_parameter("revision", "Pin this revision.", kind=integer_parameter(1)),
)
_PATH = query_parameter("path", "The file, such as references/units.md.", kind=FILE_PATH, required=True)
_QUERY = {"type": "string", "minLength": 1, "maxLength": QUERY_MAX, "pattern": r"\S"}
_SEARCH_PARAMETERS = (
    query_parameter("q", f"What is looked for, 1 to {QUERY_MAX:,} characters.", kind=_QUERY, required=True),
    query_parameter(
        "top_k", f"Results at most, 1 to {TOP_FOUND_MAX}; 5 by default.", kind=integer_parameter(1, TOP_FOUND_MAX)
    ),
    query_parameter("min_score", "Results below this combined score are left out.", kind=SHARE_PARAMETER),
    query_parameter("group", "Only capabilities of this skill group."),
    query_parameter(
        "ranking",
        "hybrid: BM25 brought to 0..1, the default without an embedder; coverage: the share of the query that is "
        "found, the default with one. The answer says which.",
        enum=list(RANKINGS),
    ),
)


@read_endpoint("GET", answer="RegistryList", parameters=_LIST_PARAMETERS, also=NOT_MODIFIED)
def capability_registry_list(request: Request, held: Snapshot, caller: Caller) -> HttpResponse:
    """List every capability that can be loaded, ordered by capability_id."""
    return respond(request, caller, list_response(held, parse_query(parameters.query(request)), caller.principal))


@describe(
    answer="SkillBundle",
    body="SkillLoadRequest",
    methods=["POST"],
    operation_id="capability_skill_load_post",
    also=NOT_FOUND | UNLOADABLE,
)
@read_endpoint(
    "GET",
    "POST",
    answer="SkillBundle",
    parameters=PIN_PARAMETERS,
    methods=["GET"],
    also=NOT_MODIFIED | NOT_FOUND | UNLOADABLE,
)
def capability_skill_load(request: Request, held: Snapshot, caller: Caller) -> HttpResponse:
    """Load one capability: its skill doc, tools and UI schemas."""
    values = parameters.json_object(request) if request.method == "POST" else parameters.query(request)
    return respond(request, caller, load_response(held, caller, values))


@read_endpoint("POST", answer="SkillBundle", body="SkillLoadRequest", also=NOT_FOUND | UNLOADABLE)
def capability_skill_reload(request: Request, _held: Snapshot, caller: Caller) -> HttpResponse:
    """Load one capability past every cache."""
    rate_limits.consume("uncached", caller.limit_subject)
    held = STORE.refresh()
    return respond(request, caller, load_response(held, caller, parameters.json_object(request), fresh=True))


@read_endpoint(
    "GET", answer="SupportingFile", parameters=(*PIN_PARAMETERS, _PATH), also=NOT_MODIFIED | NO_FILE | UNLOADABLE
)
def capability_file_load(request: Request, held: Snapshot, caller: Caller) -> HttpResponse:
    """Load one supporting file of a capability, by its path in `files` of the load response."""
    return respond(request, caller, file_response(held, caller, parameters.query(request)))


@read_endpoint("GET", answer="bytes", parameters=(*PIN_PARAMETERS, _PATH), also=NOT_MODIFIED | NO_FILE | UNLOADABLE)
def capability_file_content(request: Request, held: Snapshot, caller: Caller) -> HttpResponseBase:
    """The bytes of one supporting file, whole or the range that is asked for."""
    return content_response(request, held, caller, parameters.query(request))


@read_endpoint("POST", answer="MatchAnswer", body="MatchRequest")
def capability_match(request: Request, held: Snapshot, caller: Caller) -> Response:
    """Which capability a message asks for: match, ambiguous or none, with the reasons."""
    return Response(match_response(held, caller, parameters.json_object(request)), headers=_NO_STORE)


@read_endpoint("GET", answer="SearchResults", parameters=_SEARCH_PARAMETERS)
def capability_search(request: Request, held: Snapshot, caller: Caller) -> Response:
    """Capabilities for some words, by meaning and by keyword."""
    return Response(search_response(held, caller, parameters.query(request)), headers=_NO_STORE)


@read_endpoint("POST", answer="Prompt", body="PromptRenderRequest", also=NOT_FOUND | UNLOADABLE)
def prompt_render(request: Request, held: Snapshot, caller: Caller) -> Response:
    """Render the prompt that an agent would read for these capabilities."""
    return Response(prompt_response(held, caller, parameters.json_object(request)), headers=_NO_STORE)
