"""What a worker says to a Prometheus."""

from __future__ import annotations

import socket

import httpx2
import pytest

from registry.core.jobs import queue as jobs
from registry.core.jobs.run_counts import RUN_COUNTS, RunCounts
from registry.core.transactions import write_transaction
from registry.operations import worker_metrics


def test_runs_are_counted_by_kind_and_result() -> None:
    counts = RunCounts()
    for result, seconds in (("done", 0.5), ("done", 0.25), ("parked", 1)):
        counts.add("webhook.deliver", result, seconds)
    assert counts.copy() == (
        {("webhook.deliver", "done"): 2, ("webhook.deliver", "parked"): 1},
        {"webhook.deliver": 1.75},
    )


@pytest.mark.django_db
def test_a_job_that_was_run_is_in_the_scrape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN_COUNTS, "results", type(RUN_COUNTS.results)())
    with write_transaction():
        jobs.enqueue("jobs.prune", {})
    assert jobs.run_next_job() is not None
    port = worker_metrics.serve("127.0.0.1", 0)
    scraped = httpx2.get(f"http://127.0.0.1:{port}/metrics", timeout=10).text
    assert 'studio_job_runs_total{kind="jobs.prune",result="done"} 1.0' in scraped
    assert 'studio_job_run_seconds_total{kind="jobs.prune"}' in scraped
    assert "process_resident_memory_bytes" in scraped
    assert "studio_build_info" in scraped


def test_who_sends_nothing_keeps_the_next_scrape_waiting_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_metrics._Scrape, "timeout", 0.2)
    port = worker_metrics.serve("127.0.0.1", 0)
    with socket.create_connection(("127.0.0.1", port)) as silent:
        assert httpx2.get(f"http://127.0.0.1:{port}/metrics", timeout=20).status_code == 200
        assert silent.recv(1) == b""
