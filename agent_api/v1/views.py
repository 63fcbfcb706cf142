"""The agent's endpoints: translate the request, make one call, translate the outcome."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from agent_api import parameters
from agent_api.authentication import require_scope
from agent_api.endpoint import endpoint
from agent_api.representations import respond
from agent_api.v1.listing import list_answer, read_query
from agent_api.v1.loading import load_answer
from registry import snapshot


@endpoint("GET")
def capability_registry_list(request: Request) -> HttpResponse:
    """List every capability that can be loaded, ordered by capability_id."""
    held = snapshot.current()
    caller = require_scope(request, held, "read")
    return respond(request, caller, list_answer(held, read_query(request)))


@endpoint("GET", "POST")
def capability_skill_load(request: Request) -> HttpResponse:
    """Load one capability: its skill doc, tools and UI schemas."""
    held = snapshot.current()
    caller = require_scope(request, held, "read")
    values = parameters.json_object(request) if request.method == "POST" else parameters.query(request)
    return respond(request, caller, load_answer(held, caller, values))


@endpoint("POST")
def capability_skill_reload(request: Request) -> HttpResponse:
    """Load one capability past every cache."""
    caller = require_scope(request, snapshot.current(), "read")
    held = snapshot.HOLDER.refresh()
    return respond(request, caller, load_answer(held, caller, parameters.json_object(request), fresh=True))
