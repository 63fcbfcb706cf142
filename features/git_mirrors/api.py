"""Git mirrors for keys with the scope `publish` (docs/contract.md 3.4)."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.openapi.annotations import operator_read
from features.git_mirrors.mirror_state import describe_mirror
from features.git_mirrors.mirror_store import list_mirrors


@operator_read("GET", answer="GitMirrorList")
def git_mirror_list(request: Request) -> Response:  # noqa: ARG001 (the view of an endpoint without arguments)
    """Where releases are pushed: of each branch the version here and there, since when, and why it fails."""
    return Response({"mirrors": [describe_mirror(row) for row in list_mirrors()]})
