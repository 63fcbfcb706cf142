"""`GET /metrics`, for a Prometheus: open where reads are, else for a key with the scope `read`."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpResponse
from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry
from prometheus_client.exposition import choose_encoder
from rest_framework.request import Request

from agent_api.http.authentication import require_scope
from agent_api.http.endpoint import endpoint
from agent_api.metrics.collector import StudioCollector
from agent_api.metrics.request_middleware import REQUESTS_REGISTRY
from registry import snapshot
from registry.common.errors import Forbidden, RegistryUnavailable
from registry.snapshot import Snapshot


def _registry() -> CollectorRegistry:
    """Ours and the usual ones about the process; nothing that a library may have put into the global one."""
    found = CollectorRegistry()
    for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR, REQUESTS_REGISTRY, StudioCollector()):
        found.register(collector)
    return found


CONTENT_TYPES: Final = _registry()


@endpoint("GET")
def metrics(request: Request) -> HttpResponse:
    """The figures of this process, in the format that the client asks for."""
    caller = require_scope(request, _snapshot_with_keys(request), "read")
    if caller.principal.sight.groups is not None:
        raise Forbidden("The figures are those of the whole registry; this key is limited to skill groups")
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    body = encode(CONTENT_TYPES)
    return HttpResponse(body, content_type=content_type, headers={"Cache-Control": "no-store"})


def _snapshot_with_keys(request: Request) -> Snapshot:
    """The snapshot that knows the keys. Raises `RegistryUnavailable` where a key is needed and none is known yet."""
    try:
        return snapshot.current_snapshot()
    except RegistryUnavailable:
        if not settings.AGENT_API_PUBLIC_READ or "Authorization" in request.headers:
            raise
        return snapshot.STORE.snapshot
