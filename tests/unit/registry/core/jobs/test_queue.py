"""A job is stored with its cause, worked on by one at a time, and written once; what keeps failing is parked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from capability_kit import tracing
from registry.core import audit
from registry.core.jobs import admin, celery_dispatch, queue
from registry.core.jobs.queue import HANDLERS, OBSERVERS, Lease, LeaseLost
from registry.core.transactions import write_transaction
from registry.feature import installed_features
from registry.models import AuditEvent, Job, UnknownCapabilityRequest
from tests.factories import OLGA
from tests.unit.registry.common.test_tracing import Sent

pytestmark = pytest.mark.django_db
Did = list[Lease]


@pytest.fixture
def did(monkeypatch: pytest.MonkeyPatch) -> Did:
    """The leases under which a job of the kind `note` was done."""
    seen: Did = []
    monkeypatch.setitem(HANDLERS, "note", seen.append)
    return seen


def _handle(monkeypatch: pytest.MonkeyPatch, handler: queue.Handler) -> None:
    monkeypatch.setitem(HANDLERS, "note", handler)


def _queue(**more: Any) -> Job:
    with write_transaction():
        return queue.enqueue("note", {"word": "hello"}, **more)[0]


def _claim(after_seconds: float = 0, **more: Any) -> Lease | None:
    return queue.claim_job(timezone.now() + timedelta(seconds=after_seconds), **more)


def _claimed(after_seconds: float = 0, **more: Any) -> Lease:
    lease = _claim(after_seconds, **more)
    assert lease is not None
    return lease


def _job() -> Job:
    return Job.objects.get()


def _failing(_lease: Lease) -> None:
    raise RuntimeError("out of \x00 ink")


def test_a_job_continues_the_trace_in_which_it_was_stored(did: Did) -> None:
    sent = Sent()
    try:
        with tracing.span("request", kind="server"):
            traced = _queue()
            request = tracing.carrier()["traceparent"]
        assert queue.run_next_job() == "done"
        # Stored without a trace, it begins one; its handler sees its payload alone either way.
        plain = _queue()
        assert queue.run_next_job() == "done"
        tracing.flush(5)
        spans = [span for span in sent.exporter.get_finished_spans() if span.name == "job note"]
    finally:
        tracing.install(None)
    assert [lease.payload for lease in did] == [{"word": "hello"}] * 2
    traced.refresh_from_db()
    assert traced.payload == {"word": "hello", "_trace": {"traceparent": request}}
    plain.refresh_from_db()
    assert plain.payload == {"word": "hello"}
    first, second = spans
    assert first.parent is not None
    assert f"{first.parent.trace_id:032x}-{first.parent.span_id:016x}" in request
    assert second.parent is None
    assert first.attributes == {
        "studio.job.id": traced.pk, "studio.job.kind": "note", "studio.job.attempt": 1, "studio.job.result": "done",
    }  # fmt: skip


def test_a_trace_in_a_payload_that_somebody_made_up_is_passed_over(did: Did) -> None:
    for made_up in ("x", 5, None, {"traceparent": 5}, {"traceparent": "zz"}):
        Job.objects.create(kind="note", payload={"word": "hello", "_trace": made_up})
        assert queue.run_next_job() == "done"
    assert [lease.payload for lease in did] == [{"word": "hello"}] * 5


def test_a_job_is_done(did: Did) -> None:
    job = _queue()
    assert queue.run_next_job() == "done"
    assert [(lease.job_id, lease.payload, lease.attempts) for lease in did] == [(job.pk, {"word": "hello"}, 1)]
    row = _job()
    assert (row.state, row.lease_expires_at, row.last_error) == ("done", None, "")
    assert row.finished_at is not None
    assert queue.run_next_job() is None


@pytest.mark.django_db(transaction=True)
def test_a_job_without_its_cause_is_refused(did: Did) -> None:
    with pytest.raises(RuntimeError, match="transaction of the write"):
        queue.enqueue("note", {})
    assert not Job.objects.exists()


def test_a_cause_that_fails_leaves_no_job(did: Did) -> None:
    def cause() -> None:
        with write_transaction():
            queue.enqueue("note", {})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cause()
    assert not Job.objects.exists()


def test_a_kind_that_nobody_handles_is_refused_at_once() -> None:
    with (
        pytest.raises(ValueError, match=r"'unheard' is not a kind of job: expected one of .*revalidate"),
        write_transaction(),
    ):
        queue.enqueue("unheard", {})


def test_open_jobs_with_one_key_are_one(did: Did) -> None:
    first = _queue(dedupe_key="a")
    assert _queue(dedupe_key="a") == first
    _claimed()
    assert _queue(dedupe_key="a") == first
    assert _queue(dedupe_key="b") != first


def test_a_key_is_free_again_when_its_job_is_done(did: Did) -> None:
    first = _queue(dedupe_key="a")
    queue.run_next_job()
    assert _queue(dedupe_key="a") != first


def test_the_job_that_has_been_due_longest_comes_first(did: Did) -> None:
    now = timezone.now()
    later, sooner = (_queue(run_after=now - timedelta(seconds=seconds)) for seconds in (5, 9))
    assert [_claimed().job_id, _claimed().job_id] == [sooner.pk, later.pk]
    assert _claim() is None


def test_a_job_waits_for_its_time(did: Did) -> None:
    _queue(run_after=timezone.now() + timedelta(seconds=30))
    assert _claim() is None
    assert _claim(31) is not None


def test_a_sweep_takes_only_what_is_overdue(did: Did) -> None:
    _queue()
    assert _claim(overdue_by=timedelta(seconds=10)) is None
    assert _claim(11, overdue_by=timedelta(seconds=10)) is not None


def test_one_job_can_be_asked_for(did: Did) -> None:
    _queue()
    second = _queue()
    assert _claimed(job_id=second.pk).job_id == second.pk
    assert _claim(job_id=second.pk) is None
    assert _claim(job_id=12345) is None


def test_a_lease_keeps_others_away_until_it_ends(did: Did) -> None:
    _queue()
    first = _claimed()
    assert _claim(59) is None
    second = _claimed(61)
    assert (second.job_id, second.attempts, second.fencing_token) == (first.job_id, 2, first.fencing_token + 1)


def test_a_lease_that_is_renewed_holds_on(did: Did) -> None:
    _queue()
    lease = _claimed()
    Job.objects.update(lease_expires_at=timezone.now())
    queue.renew_lease(lease)
    assert _claim(59) is None


def test_whoever_lost_the_lease_cannot_finish(did: Did) -> None:
    _queue()
    first = _claimed()
    second = _claimed(61)
    assert queue.execute_job(first) == "lost"
    assert _job().state == "running"
    with pytest.raises(LeaseLost):
        queue.renew_lease(first)
    assert queue.execute_job(second) == "done"
    assert queue.execute_job(second) == "lost"


def test_whoever_lost_the_lease_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is done twice, what comes of it is written once."""
    _handle(
        monkeypatch,
        lambda lease: lambda: UnknownCapabilityRequest.objects.create(capability_id=f"fence_{lease.fencing_token}"),
    )
    _queue()
    leases = [_claimed(), _claimed(61)]
    assert [queue.execute_job(lease) for lease in leases] == ["lost", "done"]
    assert list(UnknownCapabilityRequest.objects.values_list("capability_id", flat=True)) == ["fence_2"]


def test_whoever_lost_the_lease_cannot_fail_it_either(monkeypatch: pytest.MonkeyPatch) -> None:
    _handle(monkeypatch, _failing)
    _queue()
    first = _claimed()
    _claimed(61)
    assert queue.execute_job(first) == "lost"
    assert (_job().state, _job().last_error) == ("running", "")


def test_what_is_written_and_the_end_of_the_job_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def write() -> None:
        UnknownCapabilityRequest.objects.create(capability_id="half")
        raise RuntimeError("the other half")

    _handle(monkeypatch, lambda _lease: write)
    _queue()
    assert queue.run_next_job() == "queued"
    assert not UnknownCapabilityRequest.objects.exists()


def test_a_failure_is_tried_again_later_and_later(monkeypatch: pytest.MonkeyPatch) -> None:
    _handle(monkeypatch, _failing)
    _queue()
    pauses = []
    for _ in range(queue.ATTEMPTS_MAX - 1):
        lease = _claimed(1000)
        now = timezone.now()
        with monkeypatch.context() as stopped:
            stopped.setattr("django.utils.timezone.now", lambda now=now: now)
            assert queue.execute_job(lease) == "queued"
        pauses.append((_job().run_after - now).total_seconds())
        assert "RuntimeError: out of \ufffd ink" in _job().last_error
    assert pauses == [10, 20, 40, 80]


def _fail_to_the_end() -> None:
    while (lease := _claim(1000)) is not None:
        queue.execute_job(lease)


def test_a_poison_job_is_parked_with_its_error_and_told_in_the_audit_log(monkeypatch: pytest.MonkeyPatch) -> None:
    _handle(monkeypatch, _failing)
    job = _queue()
    _fail_to_the_end()
    row = _job()
    assert (row.state, row.attempts, row.lease_expires_at) == ("parked", queue.ATTEMPTS_MAX, None)
    assert "out of" in row.last_error
    event = AuditEvent.objects.get(verb="job.park")
    assert (event.subject, event.actor_name, event.detail["kind"]) == (f"job {job.pk}", "worker", "note")
    assert event.detail["error"].startswith("RuntimeError: out of")
    assert audit.find_chain_break() is None


def test_a_parked_job_stands_in_nobodys_way(monkeypatch: pytest.MonkeyPatch, did: Did) -> None:
    monkeypatch.setitem(HANDLERS, "poison", _failing)
    with write_transaction():
        queue.enqueue("poison", {})
    _fail_to_the_end()
    _queue()
    assert queue.run_next_job() == "done"


def test_a_job_that_takes_its_worker_down_is_parked_too(did: Did) -> None:
    _queue()
    for number in range(queue.ATTEMPTS_MAX):
        _claimed(61 * number)
    assert _claim(61 * queue.ATTEMPTS_MAX) is None
    assert _job().state == "parked"
    assert "The worker ended" in _job().last_error
    assert AuditEvent.objects.filter(verb="job.park").count() == 1
    assert did == []


def test_a_kind_that_this_code_does_not_know_yet_is_tried_again(monkeypatch: pytest.MonkeyPatch, did: Did) -> None:
    _queue()
    monkeypatch.delitem(HANDLERS, "note")
    assert queue.run_next_job() == "queued"
    assert "'note' is not a kind of job" in _job().last_error


def test_an_empty_queue_is_one_query(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert _claim() is None


def _in_threads(work: Callable[[], object], count: int) -> None:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_many_workers_do_each_job_once(did: Did) -> None:
    for _ in range(30):
        _queue()

    def work() -> None:
        while queue.run_next_job() is not None:
            pass

    _in_threads(work, 4)
    assert len(did) == len({lease.job_id for lease in did}) == 30
    assert set(Job.objects.values_list("state", "attempts")) == {("done", 1)}


@pytest.mark.django_db(transaction=True)
def test_one_key_asked_for_at_once_is_one_job(did: Did) -> None:
    _in_threads(lambda: [_queue(dedupe_key="a") for _ in range(5)], 4)
    assert Job.objects.count() == 1


class _Sender:
    def __init__(self, error: Exception | None = None) -> None:
        self.sent: list[tuple[str, list[int]]] = []
        self.queues: list[tuple[str, int, int]] = []
        self.error = error

    def send_task(self, name: str, arguments: list[int], **options: Any) -> None:
        self.sent.append((name, arguments))
        self.queues.append((options["queue"], options["soft_time_limit"], options["time_limit"]))
        if self.error is not None:
            raise self.error


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch, settings: Any) -> _Sender:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    sender = _Sender()
    monkeypatch.setattr(celery_dispatch, "_sender", lambda: sender)
    monkeypatch.setattr(celery_dispatch, "_silent_until", 0.0)
    return sender


def test_celery_is_told_after_the_commit(
    did: Did, broker: _Sender, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = _queue()
        assert broker.sent == []
    assert broker.sent == [("registry.run_job", [job.pk])]


def test_a_kind_goes_to_its_queue_with_its_limits(broker: _Sender) -> None:
    for kind in ("webhook.deliver", "git_source.sync", "jobs.prune"):
        celery_dispatch.dispatch_job(1, kind)
    assert broker.queues == [("studio.webhooks", 60, 90), ("studio.imports", 900, 960), ("studio", 300, 330)]


def test_each_queue_is_of_kinds_that_there_are_and_ends_softly_first() -> None:
    kinds = {*celery_dispatch._QUEUE_OF_KIND, *(kind for one in installed_features() for kind in one.job_queues)}
    assert kinds <= set(HANDLERS)
    used = {celery_dispatch.queue_of_kind(kind) for kind in kinds}
    queues = celery_dispatch.list_queues()
    assert used | {celery_dispatch.DEFAULT_QUEUE} == set(queues)
    assert len({one.name for one in queues}) == len(queues)
    assert all(0 < one.soft_seconds < one.hard_seconds for one in queues)


def test_celery_is_told_neither_twice_nor_too_early(
    did: Did, broker: _Sender, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        _queue(dedupe_key="a")
        _queue(dedupe_key="a")
        _queue(run_after=timezone.now() + timedelta(hours=1))
    assert len(broker.sent) == 1


def test_nobody_is_told_without_redis(
    did: Did, broker: _Sender, settings: Any, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    settings.REDIS_URL = None
    with django_capture_on_commit_callbacks(execute=True):
        _queue()
    assert broker.sent == []


def test_a_redis_that_is_away_is_asked_once_and_costs_delay_alone(
    did: Did,
    broker: _Sender,
    django_capture_on_commit_callbacks: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    broker.error = ConnectionRefusedError("nobody there")
    with django_capture_on_commit_callbacks(execute=True):
        _queue()
        _queue()
    assert len(broker.sent) == 1
    assert "Redis was not told" in caplog.text
    assert [queue.run_next_job(), queue.run_next_job(), queue.run_next_job()] == ["done", "done", None]


def test_celerys_task_does_the_job_that_it_is_told_of(did: Did) -> None:
    from registry.tasks import run_job

    _queue()
    job = _queue()
    run_job(job.pk)
    run_job(job.pk)
    assert [lease.job_id for lease in did] == [job.pk]


def test_celery_does_the_jobs_of_a_lane_in_order_whichever_message_comes(did: Did, broker: _Sender) -> None:
    """A message that came while another was at work was dropped, or the first one's was lost."""
    from registry.tasks import run_job

    first, second, other = (_queue(concurrency_key=key) for key in ("a", "a", "b"))
    broker.sent.clear()
    run_job(second.pk)
    assert broker.sent == [("registry.run_job", [second.pk])]
    run_job(second.pk)
    run_job(first.pk)
    run_job(other.pk)
    assert len(broker.sent) == 1
    assert [lease.job_id for lease in did] == [first.pk, second.pk, other.pk]


def test_a_transaction_around_it_is_no_matter(did: Did) -> None:
    with transaction.atomic():
        _queue()
        assert queue.run_next_job() == "done"


@pytest.fixture
def lost_follower(monkeypatch: pytest.MonkeyPatch, did: Did) -> None:
    """One that writes something, and then cannot go on."""

    def follow(_payload: dict[str, Any], _state: str) -> None:
        UnknownCapabilityRequest.objects.create(capability_id="half")
        raise KeyError("import")

    monkeypatch.setitem(OBSERVERS, "note", follow)


@pytest.mark.usefixtures("lost_follower")
def test_a_follower_that_fails_keeps_nobody_from_ending_the_job(caplog: pytest.LogCaptureFixture) -> None:
    job = _queue()
    admin.cancel_job(job_id=job.pk, by=OLGA)
    assert _job().state == "cancelled"
    Job.objects.update(state="parked")
    admin.retry_job(job_id=job.pk, by=OLGA)
    assert _job().state == "queued"
    assert caplog.text.count(f"job {job.pk} note is ") == 2
    assert not UnknownCapabilityRequest.objects.exists()


def test_a_failure_that_no_database_can_keep_is_kept_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_lease: Lease) -> None:
        raise RuntimeError("half a pair: \ud800")

    _handle(monkeypatch, fail)
    _queue(max_attempts=1)
    assert queue.run_next_job() == "parked"
    assert "half a pair: ?" in _job().last_error


def test_a_failure_that_cannot_be_noted_leaves_the_job_to_its_lease(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _handle(monkeypatch, _failing)
    _queue()
    lease = _claimed()
    assert queue.execute_job(replace(lease, max_attempts="many")) == "lost"  # type: ignore[arg-type] # as a row may have it
    assert "is left until its lease ends" in caplog.text
    assert _job().state == "running"


def test_a_clock_that_is_set_back_keeps_no_job_of_a_dead_worker(did: Did) -> None:
    """Its lease ends an hour from now by the clock of today, and with it the silence of its concurrency key."""
    _queue(concurrency_key="hook 1")
    assert _claimed(3600) is not None
    with write_transaction():
        queue.enqueue("note", {"word": "second"}, concurrency_key="hook 1")
    assert [queue.run_next_job() for _ in range(3)] == ["done", "done", None]
    assert [lease.payload["word"] for lease in did] == ["hello", "second"]


def test_a_lease_by_a_clock_that_is_a_little_ahead_is_in_force(did: Did) -> None:
    _queue()
    _claimed(50)
    assert queue.run_next_job() is None
    assert did == []


def test_a_clock_that_is_set_back_parks_what_is_spent(did: Did) -> None:
    job = _queue(max_attempts=1)
    _claimed(3600)
    assert queue.run_next_job() is None
    job.refresh_from_db()
    assert (job.state, did) == ("parked", [])


def test_a_job_of_a_clock_that_was_ahead_is_done_now_and_a_planned_one_waits(did: Did) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    soon, planned = _queue(run_after=tomorrow + timedelta(seconds=1)), _queue(run_after=tomorrow + timedelta(hours=1))
    Job.objects.update(created_at=tomorrow)
    assert [queue.run_next_job(), queue.run_next_job()] == ["done", None]
    assert [lease.job_id for lease in did] == [soon.pk]
    assert Job.objects.get(pk=planned.pk).state == "queued"
