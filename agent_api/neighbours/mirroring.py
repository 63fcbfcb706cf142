"""`GET /mirror/golden`: what a registry that follows this one needs beside the loads (docs/gitops.md)."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api import parameters
from agent_api.authentication import require_scope
from agent_api.endpoint import endpoint
from registry import snapshot
from registry.errors import Unauthenticated
from registry.snapshot.golden import golden_page


@extend_schema(exclude=True)
@endpoint("GET")
def mirror_golden(request: Request) -> Response:
    """Golden sentences by capability_id. With a key alone, also where reads are public: users have said them."""
    held = snapshot.current()
    caller = require_scope(request, held, "read")
    if caller.is_public:
        raise Unauthenticated("Golden sentences are given to a key with the scope read: Authorization: Bearer KEY")
    after = parameters.text(parameters.query(request), "after", most=64)
    answer = Response(golden_page(held, caller.principal, after=after))
    answer["Cache-Control"] = "private, no-store"
    return answer
