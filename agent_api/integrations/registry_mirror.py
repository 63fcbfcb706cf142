"""`GET /mirror/golden`: what a registry that follows this one needs beside the loads (docs/gitops.md)."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import require_scope
from agent_api.http.endpoint import endpoint
from registry import snapshot
from registry.common.errors import Unauthenticated
from registry.snapshot.golden_utterances import get_utterance_page


@extend_schema(exclude=True)
@endpoint("GET")
def mirror_utterances(request: Request) -> Response:
    """Utterances by capability_id. Always requires a key, even where reads are public: they come from users."""
    held = snapshot.current_snapshot()
    caller = require_scope(request, held, "read")
    if caller.is_public:
        raise Unauthenticated("Golden sentences are given to a key with the scope read: Authorization: Bearer KEY")
    after = parameters.string(parameters.query(request), "after", most=64)
    answer = Response(get_utterance_page(held, caller.principal, after=after))
    answer["Cache-Control"] = "private, no-store"
    return answer
