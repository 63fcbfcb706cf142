"""What a process does beside reading: the collector is kept from what it holds."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from registry.core import transactions
from registry.snapshot import watcher
from registry.snapshot.snapshot import Snapshot
from registry.snapshot.store import STORE, SnapshotStore


@pytest.fixture
def holder(monkeypatch: pytest.MonkeyPatch) -> Iterator[SnapshotStore]:
    holder = SnapshotStore()
    monkeypatch.setattr(watcher, "STORE", holder)
    monkeypatch.setattr(watcher, "_settled_at", [])
    yield holder
    gc.unfreeze()


def _hold(holder: SnapshotStore, count: int) -> None:
    entries: Any = {str(number): object() for number in range(count)}
    holder.snapshot, holder.has_read = Snapshot(1, 0, entries, {}), True


def test_nothing_is_settled_before_anything_was_read(holder: SnapshotStore) -> None:
    before = gc.get_freeze_count()
    assert not watcher.freeze_heap()
    assert gc.get_freeze_count() == before


def test_what_was_read_first_is_taken_out_of_the_collectors_way(holder: SnapshotStore) -> None:
    before = gc.get_freeze_count()
    _hold(holder, 3)
    assert watcher.freeze_heap()
    # Everything that there is, Django and all, of which a collection would look at each.
    assert gc.get_freeze_count() > before + 10_000
    assert not watcher.freeze_heap()


def test_a_registry_that_has_doubled_is_settled_anew(holder: SnapshotStore) -> None:
    _hold(holder, 1000)
    assert watcher.freeze_heap()
    _hold(holder, 2500)
    assert not watcher.freeze_heap()
    _hold(holder, 2501)
    assert watcher.freeze_heap()


def test_changes_in_a_row_are_read_a_fifth_of_a_second_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    # By the waits: a change after some time of quiet, then many at once.
    waits, reads = [0.9, 0.0, 0.0, 0.0], list[float]()
    clock = SimpleNamespace(now=0.0)
    clock.monotonic = lambda: clock.now
    clock.sleep = lambda seconds: setattr(clock, "now", clock.now + seconds)

    def wait() -> None:
        if not waits:
            raise SystemExit
        clock.sleep(waits.pop(0))

    monkeypatch.setattr(watcher, "time", clock)
    monkeypatch.setattr(watcher, "_wait", wait)
    monkeypatch.setattr(watcher, "_refresh", lambda: reads.append(round(clock.now, 3)))
    monkeypatch.setattr(watcher, "freeze_heap", lambda: False)
    with pytest.raises(SystemExit):
        watcher._keep_fresh()
    assert reads == [0.9, 0.9, 1.1, 1.3]


def test_a_process_that_watches_reads_its_own_writes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    monkeypatch.setattr(transactions.COMMITTED, "paths", [])
    monkeypatch.setattr(watcher, "_started", threading.Lock())
    for name in ("_run", "_flush_counts"):
        monkeypatch.setattr(watcher, name, lambda: None)
    monkeypatch.setattr(STORE, "refresh", lambda: reads.append("refresh"))
    monkeypatch.setattr(STORE, "is_watched", False)
    transactions.COMMITTED()
    assert reads == []
    watcher.start_watcher()
    transactions.COMMITTED()
    assert reads == ["refresh"]
