"""The worker's loop: the day's jobs once, what is due at once, and the patience that it has beside Celery."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone

from capability_rules.validation import RULES_VERSION
from registry.core.jobs import queue
from registry.core.jobs.queue import HANDLERS
from registry.core.transactions import write_transaction
from registry.models import Capability, Job, Revision
from registry.operations import housekeeping, worker
from registry.operations.worker import Worker
from tests.factories import publish

pytestmark = pytest.mark.django_db


def _kinds() -> list[str]:
    return sorted(Job.objects.values_list("kind", flat=True))


@pytest.mark.both_databases
def test_a_worker_does_the_days_jobs_and_ends() -> None:
    assert Worker().run_due() == len(housekeeping.DAILY_JOBS)
    assert _kinds() == sorted([*housekeeping.DAILY_JOBS, "matching.learn"])
    # Several publishes are learned from together: a moment later.
    assert Job.objects.exclude(state="done").get().kind == "matching.learn"


def test_a_day_has_its_jobs_once_whoever_asks() -> None:
    Worker().run_due()
    assert Worker().run_due() == 0
    assert housekeeping.queue_daily(date(2030, 1, 1)) == len(housekeeping.DAILY_JOBS)
    assert housekeeping.queue_daily(date(2030, 1, 1)) == 0


def test_a_look_for_work_that_reaches_the_database_is_seen_by_a_probe(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    Worker(alive_file=alive)._try()
    assert alive.exists()


def test_a_look_that_does_not_reach_it_is_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("away")

    monkeypatch.setattr("registry.operations.worker.revalidation.queue_outdated", refuse)
    # The test's own connection must stay open.
    monkeypatch.setattr(connection, "close", lambda: None)
    Worker(alive_file=tmp_path / "alive")._try()
    assert not (tmp_path / "alive").exists()


@pytest.mark.both_databases
def test_a_start_under_other_rules_checks_what_is_published() -> None:
    publish()
    Revision.objects.update(rules_version="0")
    Worker().run_due()
    assert Capability.objects.filter(published_revision__rules_version=RULES_VERSION).exists()


def test_what_was_done_long_ago_is_forgotten_and_what_was_parked_is_not() -> None:
    old = timezone.now() - timedelta(days=31)
    for state in ("done", "parked"):
        Job.objects.create(kind="revalidate", state=state, finished_at=old)
    Worker().run_due()
    assert sorted(Job.objects.filter(kind="revalidate").values_list("state", flat=True)) == ["parked"]


def test_beside_celery_a_job_is_left_to_the_messages_for_a_while(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert Worker().run_due() == 0
    Job.objects.update(run_after=timezone.now() - timedelta(seconds=11))
    assert Worker().run_due() == len(housekeeping.DAILY_JOBS) + 1


def test_it_pauses_only_where_nothing_was_due(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float | None] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            paused.append(timeout)
            self.set()
            return True

    has_worked = [True, True, False]
    monkeypatch.setattr(worker, "serve_lanes", lambda *_: nullcontext())
    monkeypatch.setattr(Worker, "_try", lambda _: has_worked.pop(0))
    Worker(stop=Stop()).run()
    assert (has_worked, paused) == ([], [worker.POLL_SECONDS])


@pytest.mark.both_databases
def test_stop_takes_effect_between_two_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Worker()
    monkeypatch.setitem(HANDLERS, "note", lambda _lease: busy.stop.set())
    with write_transaction():
        for _ in range(2):
            queue.enqueue("note", {}, run_after=timezone.now() - timedelta(hours=1))
    busy.run()
    assert sorted(Job.objects.filter(kind="note").values_list("state", flat=True)) == ["done", "queued"]


def _away_at_first(step: Callable[..., Any], stop: threading.Event) -> Callable[..., Any]:
    calls: list[int] = []

    def run(**options: Any) -> Any:
        calls.append(1)
        if len(calls) <= 2:
            raise OperationalError("the server closed the connection")
        stop.set()
        return step(**options)

    return run


@pytest.mark.both_databases
def test_a_database_that_is_away_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = Worker()
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.01)
    # The test's transaction is on this connection.
    monkeypatch.setattr(connection, "close", lambda: None)
    monkeypatch.setattr(queue, "run_next_job", _away_at_first(queue.run_next_job, waiting.stop))
    waiting.run()
    assert Job.objects.filter(state="done").count() == 1
    assert caplog.text.count("cannot be reached") == 1


def test_once_says_that_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def away(**_options: Any) -> None:
        raise OperationalError("nobody there")

    monkeypatch.setattr(queue, "run_next_job", away)
    with pytest.raises(CommandError, match="The database cannot be used: nobody there"):
        call_command("worker", "--once")


def test_a_day_whose_jobs_cannot_all_be_queued_has_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise ValueError("an odd row")

    monkeypatch.setattr("registry.operations.worker.revalidation.queue_outdated", fail)
    assert Worker().run_due() == len(housekeeping.DAILY_JOBS)
    assert caplog.text.count("could not be queued") == 1


def test_a_look_that_fails_ends_no_worker(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    working = Worker()
    monkeypatch.setattr(worker, "ERROR_PAUSE_SECONDS", 0.01)
    looks: list[int] = []

    def look(**_options: Any) -> None:
        looks.append(1)
        if len(looks) == 3:
            working.stop.set()
        raise ValueError("an odd row")

    monkeypatch.setattr(queue, "run_next_job", look)
    working.run()
    assert caplog.text.count("the look for work failed") == 3
