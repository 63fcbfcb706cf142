"""`manage.py job`: what is parked is seen, put back or given up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from registry.common import caches
from registry.core.jobs import queue
from registry.core.jobs.queue import HANDLERS, Lease
from registry.core.transactions import write_transaction
from registry.models import AuditEvent, Job

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def parked(monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job that failed at every try."""

    def fail(_lease: Lease) -> None:
        raise RuntimeError("out of \x1b[31m ink")

    monkeypatch.setitem(HANDLERS, "note", fail)
    with write_transaction():
        job, _ = queue.enqueue("note", {"word": "hello"}, dedupe_key="a")
    while (lease := queue.claim_job(timezone.now() + timedelta(hours=1))) is not None:
        queue.execute_job(lease)
    return job


def test_parked_jobs_are_listed(manage: Any, parked: Job) -> None:
    with write_transaction():
        queue.enqueue("note", {})
    (row,) = manage("job", "list", "--state", "parked", "--format", "json").document["jobs"]
    assert (row["id"], row["kind"], row["tries"], row["tries_max"]) == (parked.pk, "note", 5, 5)
    assert row["error"].startswith("RuntimeError: out of")
    assert len(manage("job", "list").out.splitlines()) == 2
    assert "\x1b" not in manage("job", "list").out


def test_a_job_is_shown_with_its_error(manage: Any, parked: Job) -> None:
    done = manage("job", "show", str(parked.pk))
    assert "payload: {'word': 'hello'}" in done.out
    assert "Traceback" in done.out
    assert "\x1b" not in done.out
    assert manage("job", "show", str(parked.pk), "--format", "json").document["payload"] == {"word": "hello"}


def test_a_parked_job_is_put_back_with_all_its_tries(manage: Any, parked: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    assert manage("job", "retry", str(parked.pk)).out == f"job {parked.pk}: queued\n"
    row = Job.objects.get(pk=parked.pk)
    assert (row.state, row.attempts, row.finished_at) == ("queued", 0, None)
    assert AuditEvent.objects.get(verb="job.retry").subject == f"job {parked.pk}"
    monkeypatch.setitem(HANDLERS, "note", lambda _lease: None)
    assert queue.run_next_job() == "done"
    done = manage("job", "retry", str(parked.pk))
    assert (done.code, "is done: only a parked job" in done.err) == (1, True)


def test_a_job_whose_work_is_queued_anew_is_not_put_back(manage: Any, parked: Job) -> None:
    with write_transaction():
        queue.enqueue("note", {}, dedupe_key="a")
    done = manage("job", "retry", str(parked.pk))
    assert (done.code, "another one for the same work is open" in done.err) == (1, True)


def test_a_job_is_given_up(manage: Any, parked: Job) -> None:
    assert manage("job", "cancel", str(parked.pk), "--format", "json").document["state"] == "cancelled"
    assert AuditEvent.objects.filter(verb="job.cancel").count() == 1
    assert not Job.objects.filter(state="parked").exists()
    done = manage("job", "cancel", str(parked.pk))
    assert (done.code, "STATUS_CONFLICT" in done.err) == (1, True)


def test_a_queued_one_is_given_up_and_a_running_one_is_not(manage: Any, parked: Job) -> None:
    with write_transaction():
        queued, running = (queue.enqueue("note", {})[0] for _ in range(2))
    queue.claim_job(timezone.now(), job_id=running.pk)
    assert manage("job", "cancel", str(queued.pk)).code == 0
    assert "is running" in manage("job", "cancel", str(running.pk)).err
    assert queue.run_next_job() is None


@pytest.mark.parametrize("verb", ["show", "retry", "cancel"])
def test_a_job_that_is_not_there(manage: Any, verb: str) -> None:
    done = manage("job", verb, "123456")
    assert (done.code, "NOT_FOUND" in done.err) == (1, True)


def test_registry_vectors(manage: Any, settings: Any) -> None:
    settings.EMBEDDER, settings.EMBEDDER_MODEL = "https://models.example/v1", "some-model"
    caches.reset_all()
    assert manage("registry", "vectors", "--format", "json").document["state"] == "never"
    payload = {"model": "some-model", "since": "2026-11-27T09:00:00+00:00", "meanwhile": "old", "made": 64, "total": 99}
    job = Job.objects.create(kind="matching.learn", payload=payload, last_error="Traceback\nEmbedderUnavailable: away")
    assert manage("registry", "vectors", "--format", "json").document == {
        **payload,
        "state": "failing",
        "error": "EmbedderUnavailable: away",
        "job": job.pk,
    }
    assert "made: 64\ntotal: 99\nsince: 2026-11-27T09:00:00+00:00\n" in manage("registry", "vectors").out
