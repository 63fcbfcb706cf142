"""What is counted in memory reaches the database, is bounded, and outlives a database that is away."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from registry.access import agent_keys
from registry.core.jobs.queue import Lease
from registry.models import AgentKey, LoadCount, MatchCount, UnknownCapabilityRequest
from registry.usage import demand, usage_counters
from tests.factories import OLGA

pytestmark = pytest.mark.django_db


def _loads() -> dict[tuple[str, int, str], int]:
    rows = LoadCount.objects.values_list("capability_id", "revision", "key_name", "count")
    return {(name, revision, key): count for name, revision, key, count in rows}


def _misses() -> dict[str, int]:
    return dict(UnknownCapabilityRequest.objects.values_list("capability_id", "count"))


def test_loads_are_counted_by_revision_and_key() -> None:
    for _ in range(2):
        for key_name in ("", "agent", "agent"):
            usage_counters.count_load("alpha", 1, key_name=key_name)
        usage_counters.count_load("alpha", 2, key_name="")
        usage_counters.flush()
    assert _loads() == {("alpha", 1, ""): 2, ("alpha", 1, "agent"): 4, ("alpha", 2, ""): 2}


@pytest.mark.both_databases
def test_matches_are_counted_by_decision_and_kept_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("away")

    usage_counters.count_match("match")
    with monkeypatch.context() as patched:
        patched.setattr(usage_counters, "add_count", away)
        usage_counters.flush()
    assert not MatchCount.objects.exists()
    for decision in ("match", "none"):
        usage_counters.count_match(decision)
    usage_counters.flush()
    usage_counters.count_match("match")
    usage_counters.flush()
    assert dict(MatchCount.objects.values_list("decision", "count")) == {"match": 3, "none": 1}


def test_nothing_is_written_where_nothing_was_counted(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        usage_counters.flush()


def test_the_use_of_a_key_is_noted() -> None:
    agent_keys.create_key(name="agent", by=OLGA)
    usage_counters.record_key_use("agent")
    usage_counters.record_key_use("somebody who was deleted")
    usage_counters.flush()
    assert AgentKey.objects.get().last_used_at is not None


def test_misses_are_counted() -> None:
    for _ in range(2):
        usage_counters.count_miss("sleep")
        usage_counters.count_miss("Größe 👋")
        usage_counters.count_miss("x" * 200)
        usage_counters.flush()
    assert _misses() == {"sleep": 2, "Größe 👋": 2, "x" * 64: 2}


def test_misses_in_memory_are_bounded() -> None:
    for number in range(usage_counters.BUFFERED_MISSES_MAX + 50):
        usage_counters.count_miss(f"made_up_{number}")
        usage_counters.count_miss("x" * 64 + str(number))
    usage_counters.count_miss("made_up_0")
    assert len(usage_counters._held.misses) == usage_counters.BUFFERED_MISSES_MAX
    assert usage_counters._held.misses["made_up_0"] == 2


@pytest.mark.both_databases
def test_misses_in_the_table_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage_counters, "STORED_MISSES_MAX", 2)
    for name in ("a", "b", "c"):
        usage_counters.count_miss(name)
    usage_counters.flush()
    assert _misses() == {"a": 1, "b": 1}
    usage_counters.count_miss("d")
    usage_counters.count_miss("a")
    usage_counters.flush()
    assert _misses() == {"a": 2, "d": 1}


@pytest.mark.both_databases
def test_made_up_ids_give_way_to_wanted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever filled the table kept every id out for good that agents asked for later."""
    monkeypatch.setattr(usage_counters, "STORED_MISSES_MAX", 20)
    usage_counters.count_miss("early", key_name="agent")
    for number in range(20):
        for _ in range(3):
            usage_counters.count_miss(f"made_up_{number}")
    usage_counters.flush()
    usage_counters.count_miss("wanted", key_name="agent")
    usage_counters.flush()
    for number in range(20, 60):
        usage_counters.count_miss(f"made_up_{number}")
        usage_counters.flush()
    assert {"early", "wanted"} <= set(_misses())
    assert len(_misses()) == 20


def test_a_flood_leaves_room_for_calls_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage_counters, "BUFFERED_MISSES_MAX", 5)
    for number in range(50):
        usage_counters.count_miss(f"made_up_{number}")
    usage_counters.count_miss("wanted", key_name="agent")
    usage_counters.flush()
    assert "wanted" in _misses()


@pytest.mark.both_databases
def test_ids_that_nobody_asks_for_again_are_forgotten() -> None:
    usage_counters.count_miss("old")
    usage_counters.flush()
    UnknownCapabilityRequest.objects.update(last_seen_at=timezone.now() - timedelta(days=91))
    usage_counters.count_miss("new")
    usage_counters.flush()
    demand.prune_messages(Lease(1, demand.KIND, {}, 1, 1))()
    assert _misses() == {"new": 1}


@pytest.mark.both_databases
def test_counts_are_kept_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    agent_keys.create_key(name="agent", by=OLGA)
    usage_counters.count_load("alpha", 1, key_name="")
    usage_counters.count_miss("sleep")
    usage_counters.record_key_use("agent")

    def away() -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patch:
        patch.setattr(usage_counters, "try_write_transaction", away)
        usage_counters.flush()
        usage_counters.count_load("alpha", 1, key_name="")
        usage_counters.flush()
    assert _loads() == {}
    usage_counters.flush()
    assert (_loads(), _misses()) == ({("alpha", 1, ""): 2}, {"sleep": 1})
    assert AgentKey.objects.get().last_used_at is not None


def test_counting_from_many_threads_loses_nothing() -> None:
    def count() -> None:
        for _ in range(500):
            usage_counters.count_load("alpha", 1, key_name="")
            usage_counters.record_key_use("agent")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        usage_counters.flush()
    for thread in threads:
        thread.join()
    usage_counters.flush()
    assert _loads() == {("alpha", 1, ""): 2000}
