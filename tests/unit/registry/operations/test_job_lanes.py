"""Lanes: one job of each at work at a time, and the next one as soon as it has ended."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from registry.core.jobs import queue
from registry.core.jobs.queue import Lease
from registry.operations import job_lanes
from registry.operations.job_lanes import serve_lanes

JOBS = 20
# Longer than any test may take: only the end of a job can begin the next one in time.
NEVER_SECONDS = 3600.0


class _Lane:
    """One lane with so many jobs; a job that is claimed while another is at work would be a fault."""

    def __init__(self) -> None:
        self.waiting = [Lease(number, "note", {}, 1, 1) for number in range(JOBS)]
        self.at_work: Lease | None = None
        self.done: list[int] = []
        self.empty = threading.Event()
        self._lock = threading.Lock()

    def claim_job(self, *_: object, **__: object) -> Lease | None:
        with self._lock:
            if self.at_work is None and self.waiting:
                self.at_work = self.waiting.pop(0)
                return self.at_work
            return None

    def execute_job(self, lease: Lease) -> None:
        with self._lock:
            assert self.at_work is lease
            self.done.append(lease.job_id)
            self.at_work = None
        if len(self.done) == JOBS:
            self.empty.set()


def test_a_lane_goes_on_without_waiting_for_the_next_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    lane, stop = _Lane(), threading.Event()
    monkeypatch.setattr(queue, "claim_job", lane.claim_job)
    monkeypatch.setattr(queue, "execute_job", lane.execute_job)
    monkeypatch.setattr(job_lanes, "POLL_SECONDS", NEVER_SECONDS)
    with serve_lanes(stop, timedelta):
        assert lane.empty.wait(20), f"{len(lane.done)} of {JOBS} were done"
    assert lane.done == list(range(JOBS))


def test_it_ends_at_once_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "claim_job", lambda *_, **__: None)
    monkeypatch.setattr(job_lanes, "POLL_SECONDS", NEVER_SECONDS)
    stop = threading.Event()
    with serve_lanes(stop, timedelta):
        pass
    assert stop.is_set()
