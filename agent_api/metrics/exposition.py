"""`GET /metrics`, for a Prometheus: open where reads are, else for a key with the scope `read`.

Metrics are read at each scrape: counters kept as plain integers, the snapshot, and the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeVar

from django.conf import settings
from django.http import HttpResponse
from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from rest_framework.request import Request

from agent_api.fast_path import get_totals
from agent_api.http.authentication import require_scope
from agent_api.http.endpoint import endpoint
from agent_api.metrics.request_middleware import REQUESTS_REGISTRY
from capability_rules.errors import RegistryUnavailable
from capability_rules.validation import RULES_VERSION
from registry import snapshot
from registry.common.errors import Forbidden
from registry.common.rate_limits import LIMIT_DESCRIPTIONS, RATE_LIMITER
from registry.core import chosen_settings
from registry.operations.metrics import StoredMetrics, read_snapshot_metrics, read_stored_metrics
from registry.snapshot import Snapshot
from registry.snapshot.response_cache import RESPONSE_CACHE
from registry.usage import usage_counters

Family = TypeVar("Family", CounterMetricFamily, GaugeMetricFamily)
_STATUS: Final = {False: "200", True: "304"}


class StudioCollector(Collector):
    """Everything that is ours and that no request counts by itself; `of_gateway` is what the gateway has counted."""

    def __init__(self, of_gateway: Sequence[int]) -> None:
        self._of_gateway = of_gateway

    def describe(self) -> Iterator[Metric]:
        """Nothing, so that registering asks no database."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily(
            "studio_build", "What is running.", {"version": settings.STUDIO_VERSION, "rules_version": RULES_VERSION}
        )
        served, loads, hits = get_totals(self._of_gateway)
        yield from _answers(served, loads)
        yield from _bodies(hits)
        yield from _snapshot()
        stored = read_stored_metrics()
        yield _gauge("studio_database_up", "1 where the database answered this scrape.", stored is not None)
        if stored is not None:
            yield from _stored(stored)


def _answers(served: Mapping[tuple[str, bool], int], loads: int) -> Iterator[Metric]:
    warm = CounterMetricFamily(
        "studio_fast_path_responses", "Warm reads, answered before Django is entered.", labels=["route", "status"]
    )
    for (path, is_known), count in served.items():
        warm.add_metric([path.rpartition("/")[2], _STATUS[is_known]], count)
    yield warm
    yield _count("studio_capability_loads", "Capabilities handed out by load or reload.", loads)
    yield _count("studio_demand_misses", "Asked for and not published.", usage_counters.TOTALS.misses)
    yield _count(
        "studio_malformed_answers", "Refused because the stored bundle is malformed.", RESPONSE_CACHE.malformed
    )
    refused = {str(name): RATE_LIMITER.refused[name] for name in LIMIT_DESCRIPTIONS}
    yield _by_label(
        CounterMetricFamily("studio_rate_limited", "Calls refused by RATE_LIMITS.", labels=["limit"]), refused
    )


def _bodies(hits: int) -> Iterator[Metric]:
    yield _gauge("studio_bodies_bytes", "Size of the load responses cached in memory.", RESPONSE_CACHE.bytes_held)
    yield _gauge("studio_bodies_limit_bytes", "Their maximum size.", RESPONSE_CACHE.bytes_max)
    yield _gauge("studio_bodies_entries", "Load responses cached in memory.", len(RESPONSE_CACHE))
    yield _count("studio_bodies_hits", "Load responses found in the cache.", hits)
    yield _count("studio_bodies_misses", "Load responses that had to be rendered.", RESPONSE_CACHE.misses)


def _snapshot() -> Iterator[Metric]:
    found = read_snapshot_metrics()
    yield _gauge("studio_registry_revision", "The registry revision that is served.", found.registry_revision)
    yield _gauge("studio_access_revision", "The revision of keys and settings in force.", found.access_revision)
    yield _gauge("studio_snapshot_stale", "1 where answers are marked stale.", found.is_stale)
    if found.age_seconds is not None:
        words = "Time since the database last agreed with the snapshot."
        yield _gauge("studio_snapshot_age_seconds", words, found.age_seconds)


def _stored(found: StoredMetrics) -> Iterator[Metric]:
    by_status = GaugeMetricFamily("studio_capabilities", "Capabilities by status.", labels=["status"])
    yield _by_label(by_status, found.capabilities)
    by_state = GaugeMetricFamily("studio_jobs", "Jobs that are not done, by state.", labels=["state"])
    yield _by_label(by_state, found.jobs)
    words = "For how long the job that is due longest has waited; 0 where none is due."
    yield _gauge("studio_jobs_oldest_due_age_seconds", words, found.oldest_due.total_seconds())
    yield _gauge("studio_open_incidents", "Incidents that are still open.", found.open_incidents)
    words = "Sentences whose vectors a job has yet to make; 0 where all have theirs."
    yield _gauge("studio_vectors_missing", words, found.vectors_missing)


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(name, words, value=float(value))


def _count(name: str, words: str, value: float) -> Metric:
    return CounterMetricFamily(name, words, value=value)


def _by_label(family: Family, values: Mapping[str, int]) -> Family:
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def collect_from(of_gateway: Sequence[int] = ()) -> CollectorRegistry:
    """Ours and the usual ones about the process; nothing that a library may have put into the global one."""
    found = CollectorRegistry()
    ours = StudioCollector(of_gateway)
    for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR, REQUESTS_REGISTRY, ours):
        found.register(collector)
    return found


@endpoint("GET")
def metrics(request: Request) -> HttpResponse:
    """The figures of this process, in the format that the client asks for."""
    caller = require_scope(request, _snapshot_with_keys(request), "read")
    if caller.principal.sight.groups is not None:
        raise Forbidden("The figures are those of the whole registry; this key is limited to skill groups")
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    body = encode(collect_from(request.META.get("studio.gateway_counts", ())))
    return HttpResponse(body, content_type=content_type, headers={"Cache-Control": "no-store"})


def _snapshot_with_keys(request: Request) -> Snapshot:
    """The snapshot that knows the keys. Raises `RegistryUnavailable` where a key is needed and none is known yet."""
    try:
        return snapshot.current_snapshot()
    except RegistryUnavailable:
        if not chosen_settings.is_public_read() or "Authorization" in request.headers:
            raise
        return snapshot.STORE.snapshot
