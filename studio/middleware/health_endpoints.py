"""Is this process alive, and can it do its work? For probes of platforms and proxies."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from registry.common.postgresql.circuit_breaker import CIRCUIT_BREAKER
from registry.common.redis_clients import open_redis
from registry.core.storage import find_storage_outage

# A probe that waits longer counts as failed with most platforms anyway.
PATIENCE_SECONDS: Final = 2.0


def _probe(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answers GET and HEAD; another method gets 405 in the envelope, as everywhere where machines ask."""

    @csrf_exempt
    @wraps(view)
    def answered(request: HttpRequest) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request)
        body = {"error": {"code": "METHOD_NOT_ALLOWED", "message": f'Method "{request.method}" not allowed.'}}
        return JsonResponse(body, status=405, headers={"Allow": "GET, HEAD", "Cache-Control": "no-store"})

    return answered


@_probe
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (every view takes a request)
    """Alive: this process answers. Asks neither the database nor Redis."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8", headers={"Cache-Control": "no-store"})


@_probe
def readyz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (every view takes a request)
    """200 where everything that is used can be reached, and the database written; else 503 with what is wrong."""
    found = {"database": _database()}
    if settings.REDIS_URL:
        found["redis"] = _redis(settings.REDIS_URL)
    is_ready = all(state == "ok" for state in found.values())
    body = {"ready": is_ready, **found}
    return JsonResponse(body, status=200 if is_ready else 503, headers={"Cache-Control": "no-store"})


def _database() -> str:
    with CIRCUIT_BREAKER.within(PATIENCE_SECONDS):
        outage = find_storage_outage()
    return "ok" if outage is None else outage.state


def _redis(url: str) -> str:
    # Only installations with REDIS_URL need it.
    import redis

    try:
        with open_redis(url, socket_timeout=1, socket_connect_timeout=1) as client:
            client.ping()
    except redis.RedisError:
        return "away"
    return "ok"
