"""What is counted in memory reaches the database, is bounded, and outlives a database that is away."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import OperationalError

from registry.access import keys
from registry.models import AgentKey, DemandMiss, LoadCount
from registry.usage import tallies
from tests.factories import OLGA

pytestmark = pytest.mark.django_db


def _loads() -> dict[tuple[str, int, str], int]:
    rows = LoadCount.objects.values_list("capability_id", "revision", "key_name", "count")
    return {(name, revision, key): count for name, revision, key, count in rows}


def _misses() -> dict[str, int]:
    return dict(DemandMiss.objects.values_list("capability_id", "count"))


def test_loads_are_counted_by_revision_and_key() -> None:
    for _ in range(2):
        for key_name in ("", "agent", "agent"):
            tallies.count_load("alpha", 1, key_name=key_name)
        tallies.count_load("alpha", 2, key_name="")
        tallies.flush()
    assert _loads() == {("alpha", 1, ""): 2, ("alpha", 1, "agent"): 4, ("alpha", 2, ""): 2}


def test_nothing_is_written_where_nothing_was_counted(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        tallies.flush()


def test_the_use_of_a_key_is_noted() -> None:
    keys.create_key(name="agent", by=OLGA)
    tallies.note_key_use("agent")
    tallies.note_key_use("somebody who was deleted")
    tallies.flush()
    assert AgentKey.objects.get().last_used_at is not None


def test_misses_are_counted() -> None:
    for _ in range(2):
        tallies.count_miss("sleep")
        tallies.count_miss("Größe 👋")
        tallies.count_miss("x" * 200)
        tallies.flush()
    assert _misses() == {"sleep": 2, "Größe 👋": 2, "x" * 64: 2}


def test_misses_in_memory_are_bounded() -> None:
    for number in range(tallies.MISSES_HELD_MAX + 50):
        tallies.count_miss(f"made_up_{number}")
        tallies.count_miss("x" * 64 + str(number))
    tallies.count_miss("made_up_0")
    assert len(tallies._held.misses) == tallies.MISSES_HELD_MAX
    assert tallies._held.misses["made_up_0"] == 2


def test_misses_in_the_table_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "MISSES_KEPT_MAX", 2)
    for name in ("a", "b", "c"):
        tallies.count_miss(name)
    tallies.flush()
    tallies.count_miss("d")
    tallies.count_miss("a")
    tallies.flush()
    assert _misses() == {"a": 2, "b": 1}


def test_counts_are_kept_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    keys.create_key(name="agent", by=OLGA)
    tallies.count_load("alpha", 1, key_name="")
    tallies.count_miss("sleep")
    tallies.note_key_use("agent")

    def away() -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patch:
        patch.setattr(tallies, "impatient_writing", away)
        tallies.flush()
        tallies.count_load("alpha", 1, key_name="")
        tallies.flush()
    assert _loads() == {}
    tallies.flush()
    assert (_loads(), _misses()) == ({("alpha", 1, ""): 2}, {"sleep": 1})
    assert AgentKey.objects.get().last_used_at is not None


def test_counting_from_many_threads_loses_nothing() -> None:
    def count() -> None:
        for _ in range(500):
            tallies.count_load("alpha", 1, key_name="")
            tallies.note_key_use("agent")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        tallies.flush()
    for thread in threads:
        thread.join()
    tallies.flush()
    assert _loads() == {("alpha", 1, ""): 2000}
