"""Metrics of the registry for monitoring: from memory, and from the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Count
from django.utils import timezone

from registry.common.postgresql.circuit_breaker import CIRCUIT_BREAKER
from registry.core.jobs import admin
from registry.matching.training_progress import count_missing_vectors
from registry.models import Capability, Incident, Job
from registry.snapshot import STORE

# Finished jobs are history, and there may be very many; these three are what an operator may have to review.
JOB_STATES: Final = ("queued", "running", "parked")
# Metrics are scraped again soon.
STATEMENT_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class SnapshotMetrics:
    """What this process serves from. `age_seconds` is the time since the database last confirmed it, or None."""

    registry_revision: int
    access_revision: int
    is_stale: bool
    age_seconds: float | None


@dataclass(frozen=True, slots=True)
class StoredMetrics:
    """Counts from the database; every known status and state has its number, zero included."""

    capabilities: Mapping[str, int]
    jobs: Mapping[str, int]
    oldest_due: timedelta
    open_incidents: int
    vectors_missing: int


def read_snapshot_metrics() -> SnapshotMetrics:
    """The metrics from memory, without a query."""
    held = STORE.snapshot
    return SnapshotMetrics(held.registry_revision, held.access_revision, STORE.failed_at is not None, STORE.age())


def read_stored_metrics() -> StoredMetrics | None:
    """None where the database is unreachable; where that is known already, it is not queried."""
    if STORE.failed_at is not None:
        return None
    try:
        with CIRCUIT_BREAKER.within(STATEMENT_SECONDS):
            return _ask()
    except (DatabaseError, InterfaceError):
        connection.close_if_unusable_or_obsolete()
        return None


def _ask() -> StoredMetrics:
    statuses = Capability.objects.order_by().values_list("status").annotate(Count("pk"))
    states = Job.objects.order_by().filter(state__in=JOB_STATES).values_list("state").annotate(Count("pk"))
    return StoredMetrics(
        capabilities=dict.fromkeys(Capability.Status.values, 0) | dict(statuses),
        jobs=dict.fromkeys(JOB_STATES, 0) | dict(states),
        oldest_due=_oldest_due(),
        open_incidents=Incident.objects.filter(closed_at__isnull=True).count(),
        vectors_missing=count_missing_vectors(),
    )


def _oldest_due() -> timedelta:
    """For how long the job that is due longest has waited; zero where none is due."""
    now = timezone.now()
    since = admin.oldest_due_job(now)
    return now - since if since is not None else timedelta(0)
