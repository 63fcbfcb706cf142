"""Work that a write leaves behind: the outbox (docs/architecture.md).

`enqueue` stores the job in the transaction of its cause, so that neither is there without the other. A worker of either
kind, the embedded one or Celery's, does the same two things: `claim` a lease, `execute` it. A worker may die at any
moment: its lease ends and another one takes the job. What a handler wants written is written in the transaction that
finishes the job, and only while the lease is its own: so it is written once, however often the work was begun.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import rfc8785
from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from capability_kit import tracing
from registry.common import log_context
from registry.common.actors import Actor
from registry.core import audit
from registry.core.hooks import HookTable
from registry.core.jobs import celery_dispatch
from registry.core.jobs.run_counts import RUN_COUNTS
from registry.core.transactions import write_transaction
from registry.models import Job

logger = logging.getLogger(__name__)

ATTEMPTS_MAX: Final = 5
OPEN: Final = (Job.State.QUEUED, Job.State.RUNNING)
WORKER: Final = Actor("system", "worker")
_ERROR_LENGTH_MAX: Final = 4000
# A key of the payload that no handler sees: the trace in which the job was stored, where it was traced.
_CARRIER: Final = "_trace"
_AT_ONCE: Final = timedelta(0)
# A clock that goes back by more than this was set, not adjusted; `overdue_by` is within it too.
_SETBACK_MIN: Final = timedelta(minutes=1)
# What is stored for so soon is not a time that a person has chosen.
_SOON: Final = timedelta(minutes=1)

JobResult = Literal["done", "queued", "parked", "lost"]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a job for `settings.JOB_LEASE_SECONDS`; `attempts` counts this one."""

    job_id: int
    kind: str
    payload: dict[str, Any]
    attempts: int
    fencing_token: int
    max_attempts: int = ATTEMPTS_MAX
    # The span that stored the job, where it was traced.
    carrier: tracing.Carrier = field(default_factory=dict)


CommitAction = Callable[[], object]
# Does what is slow, and returns the write to commit; None for no write.
Handler = Callable[[Lease], CommitAction | None]
# What a job of this kind came to without its handler: parked, or put back or cancelled by a person.
JobState = Literal["parked", "queued", "cancelled"]
# By kind of job; `registry/wiring.py` registers them.
HANDLERS: Final = HookTable()
OBSERVERS: Final = HookTable()


class LeaseLost(Exception):
    """Another worker has taken the job over, or it is finished: nothing may be written for it any more."""


def enqueue(
    kind: str,
    payload: dict[str, Any],
    *,
    run_after: datetime | None = None,
    dedupe_key: str = "",
    concurrency_key: str = "",
    max_attempts: int = ATTEMPTS_MAX,
) -> tuple[Job, bool]:
    """Store a job in the caller's transaction, which holds the lock of the registry's state (`write_transaction()`).

    Returns the job and whether it is new: where an open job has the same `dedupe_key`, it is that one. Jobs with the
    same `concurrency_key` run one after another, beside all others: it is for work that waits for another system.
    Raises RuntimeError outside of a transaction, ValueError for a kind without a handler.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("a job is stored in the transaction of the write that causes it")
    # What runs the job imports its handler; who stores it pays for none.
    if kind not in HANDLERS:
        raise _unknown_kind(kind)
    if carrier := tracing.carrier():
        payload = {**payload, _CARRIER: carrier}
    new = {"kind": kind, "payload": payload, "run_after": run_after or timezone.now()}
    new |= {"concurrency_key": concurrency_key, "max_attempts": max_attempts}
    if dedupe_key:
        job, is_new = Job.objects.get_or_create(dedupe_key=dedupe_key, state__in=OPEN, defaults=new)
    else:
        job, is_new = Job.objects.create(**new), True
    if is_new and run_after is None:
        transaction.on_commit(lambda: celery_dispatch.dispatch_job(job.pk, job.kind), robust=True)
    return job, is_new


def run_now(dedupe_key: str) -> bool | None:
    """Make the open job of that key due now; the caller holds the lock of the registry's state.

    Returns True where it was to run later, False where it is due or running already, None where there is none.
    """
    now = timezone.now()
    job = Job.objects.filter(dedupe_key=dedupe_key, state__in=OPEN).first()
    if job is None:
        return None
    if not Job.objects.filter(pk=job.pk, state="queued", run_after__gt=now).update(run_after=now):
        return False
    transaction.on_commit(lambda: celery_dispatch.dispatch_job(job.pk, job.kind), robust=True)
    return True


def reschedule(dedupe_key: str, *, until: datetime) -> None:
    """Give the queued job of that key another time, unless it is due already; the caller holds the lock."""
    Job.objects.filter(dedupe_key=dedupe_key, state="queued", run_after__gt=timezone.now()).update(run_after=until)


def _handler(kind: str) -> Handler:
    found = HANDLERS.find(kind)
    if found is None:
        raise _unknown_kind(kind)
    return found


def _unknown_kind(kind: str) -> ValueError:
    return ValueError(f"'{kind}' is not a kind of job: expected one of {', '.join(sorted(HANDLERS))}")


def run_next_job(
    *, overdue_by: timedelta = _AT_ONCE, job_id: int | None = None, with_concurrency_key: bool | None = None
) -> JobResult | None:
    """Claim a job and execute it: what became of it, or None where nothing is due."""
    lease = claim_job(timezone.now(), overdue_by=overdue_by, job_id=job_id, with_concurrency_key=with_concurrency_key)
    return execute_job(lease) if lease else None


def run_dispatched_job(job_id: int) -> None:
    """Do the job of a message from Celery; nothing where another worker has it or has done it.

    A job with a concurrency key stands for all of that key: the one that has been due longest is done, and a message
    for the next is sent, since that one's own may have come while this one was at work, or was lost.
    """
    key = Job.objects.filter(pk=job_id).values_list("concurrency_key", flat=True).first()
    if not key:
        run_next_job(job_id=job_id)
        return
    lease = claim_job(timezone.now(), concurrency_key=key)
    if lease is not None:
        execute_job(lease)
        waiting = _due(timezone.now()).filter(concurrency_key=key).values_list("pk", "kind").first()
        if waiting is not None:
            celery_dispatch.dispatch_job(*waiting)


def claim_job(
    now: datetime,
    *,
    overdue_by: timedelta = _AT_ONCE,
    job_id: int | None = None,
    with_concurrency_key: bool | None = None,
    concurrency_key: str = "",
) -> Lease | None:
    """Take the job that has been due longest, of `concurrency_key` where one is given, or `job_id` where that one is
    due; None where nothing is.

    `with_concurrency_key` selects jobs with such a key, or those without; a key with a job at work is passed over.
    Due is what is queued for now or earlier (`overdue_by` before that), and jobs whose worker's lease has ended.
    Two workers never get the same one: on SQLite the transaction is exclusive, on PostgreSQL a locked row is passed
    over.
    """
    due = _due(now - overdue_by)
    due = due.exclude(
        concurrency_key__in=Job.objects.filter(state="running")
        .exclude(_is_abandoned(now))
        .exclude(concurrency_key="")
        .values("concurrency_key")
    )
    if job_id is not None:
        due = due.filter(pk=job_id)
    if concurrency_key:
        due = due.filter(concurrency_key=concurrency_key)
    if with_concurrency_key is not None:
        due = due.exclude(concurrency_key="") if with_concurrency_key else due.filter(concurrency_key="")
    while (taken := _take(due, now)) is not None:
        lease, fault = _lease_of(taken)
        if fault is None:
            return lease
        # What cannot be read now cannot be read at another try either.
        _give_up(lease, f"The payload cannot be read: {_text_of(fault)}")
    return None


def _take(due: QuerySet[Job], now: datetime) -> int | None:
    """Begin a lease on the first of these jobs; its id. Reads nothing of the row that could not be read."""
    # Asked before the transaction begins, because on SQLite that keeps every writer waiting.
    if not due.exists():
        return None
    _park_exhausted(now)
    with transaction.atomic():
        ready = due.filter(attempts__lt=F("max_attempts")).select_for_update(skip_locked=True)
        job_id = ready.values_list("pk", flat=True).first()
        if job_id is not None:
            lease = {"state": Job.State.RUNNING, "lease_expires_at": now + _lease_length()}
            Job.objects.filter(pk=job_id).update(
                **lease, attempts=F("attempts") + 1, fencing_token=F("fencing_token") + 1
            )
    return job_id


def _lease_of(job_id: int) -> tuple[Lease, Exception | None]:
    """The lease in force, and why the job's payload cannot be read: then it has none."""
    kind, attempts, fencing_token, max_attempts = Job.objects.values_list(
        "kind", "attempts", "fencing_token", "max_attempts"
    ).get(pk=job_id)
    payload: Any = {}
    fault = None
    try:
        payload = Job.objects.values_list("payload", flat=True).get(pk=job_id)
    except (DatabaseError, InterfaceError):
        raise
    except Exception as error:  # noqa: BLE001 (whatever Python says of JSON that the database takes)
        fault = error
    carrier = payload.pop(_CARRIER, None) if isinstance(payload, dict) else None
    carrier = tracing.read_carrier(carrier) if isinstance(carrier, dict) else {}
    return Lease(job_id, kind, payload, attempts, fencing_token, max_attempts, carrier), fault


def _due(at: datetime) -> QuerySet[Job]:
    due = Q(state="queued", run_after__lte=at) | _is_abandoned(at) | _is_from_the_future(at)
    return Job.objects.filter(due).order_by("run_after", "id")


def _is_abandoned(at: datetime) -> Q:
    """The lease is over, or ends later than any lease that is given now: then the clock was set back, and it would not
    end for as long as that. Two lengths, since the clocks of two machines may differ by a little."""
    is_over = Q(lease_expires_at__lte=at) | Q(lease_expires_at__gt=at + 2 * _lease_length() + _SETBACK_MIN)
    return Q(state="running") & is_over


def _is_from_the_future(at: datetime) -> Q:
    """Stored by a clock that was ahead, to be done at once or shortly after; a time that a person has chosen stays."""
    return Q(state="queued", created_at__gt=at + _SETBACK_MIN, run_after__lte=F("created_at") + _SOON)


def _lease_length() -> timedelta:
    return timedelta(seconds=settings.JOB_LEASE_SECONDS)


def _park_exhausted(now: datetime) -> None:
    """Park what took its worker down at each try: such a job never fails, it only never ends."""
    spent = Job.objects.filter(_is_abandoned(now), attempts__gte=F("max_attempts"))
    for job_id, last_error in list(spent.values_list("pk", "last_error")):
        why = last_error or "The worker ended, or sent no heartbeat for a whole lease, at each try."
        _give_up(_lease_of(job_id)[0], why)


def _give_up(lease: Lease, why: str) -> None:
    """Park a job without another try; nothing where another worker was first."""
    try:
        with write_transaction():
            _park(lease, why)
    except LeaseLost:
        return
    last_line = why.strip().rpartition("\n")[2]
    logger.error("job %s %s parked after %s tries: %s", lease.job_id, lease.kind, lease.attempts, last_line)


def renew_lease(lease: Lease, *, payload: dict[str, Any] | None = None) -> None:
    """Extend the job's lease by another one, for handlers that take long; `payload` replaces the job's own, so that
    people see how far it is, and the next try goes on from there. Raises `LeaseLost`."""
    kept = {} if payload is None else {"payload": {**payload, _CARRIER: lease.carrier} if lease.carrier else payload}
    _move(lease, lease_expires_at=timezone.now() + _lease_length(), **kept)


def _move(lease: Lease, **columns: Any) -> None:
    """Change the job while it is ours."""
    if not Job.objects.filter(pk=lease.job_id, state="running", fencing_token=lease.fencing_token).update(**columns):
        raise LeaseLost(f"job {lease.job_id} was taken over")


def execute_job(lease: Lease) -> JobResult:
    """Do the job: `done`, `queued` for another try, `parked` after the last, `lost` where the lease was taken over.

    Raises django.db.Error where the database fails, and nothing else: then the lease runs out, and the job is done
    later. So it is where even the job's failure could not be noted.
    """
    attributes: tracing.Attributes = {
        "studio.job.id": lease.job_id,
        "studio.job.kind": lease.kind,
        "studio.job.attempt": lease.attempts,
    }
    span = tracing.span(f"job {lease.kind}", attributes, kind="consumer", parent=lease.carrier)
    with log_context.bind_context(job_id=str(lease.job_id)), span as traced:
        if traced.trace_id:
            log_context.add_context(trace_id=traced.trace_id)
        try:
            ending = _execute(lease)
        except (DatabaseError, InterfaceError):
            raise
        except Exception:
            logger.exception("job %s %s is left until its lease ends", lease.job_id, lease.kind)
            ending = "lost"
        traced.set("studio.job.result", ending)
        return ending


def _execute(lease: Lease) -> JobResult:
    began = time.monotonic()
    words = ""
    try:
        write = _handler(lease.kind)(lease)
        _finish(lease, write)
        ending: JobResult = "done"
    except LeaseLost:
        ending = "lost"
    except Exception as error:  # noqa: BLE001 (whatever a handler raises is kept with the job, for a person to read)
        ending = _fail(lease, error)
        words = _storable(f": {type(error).__name__}: {error}")
    level = logging.INFO if ending == "done" else logging.WARNING
    seconds = time.monotonic() - began
    RUN_COUNTS.add(lease.kind, ending, seconds)
    logger.log(
        level, "job %s %s %s, try %s, %.2f s%s", lease.job_id, lease.kind, ending, lease.attempts, seconds, words
    )
    return ending


def _finish(lease: Lease, write: CommitAction | None) -> None:
    """The end of the job and what it writes, together or not at all."""
    with write_transaction():
        _move(lease, state=Job.State.DONE, lease_expires_at=None, finished_at=timezone.now(), last_error="")
        if write is not None:
            write()


def put_back(lease: Lease) -> None:
    """Have a job of a concurrency key done again, behind what is due by now, as if it had never been tried.

    For the write that its handler returned: a long work takes one job, and others have their turn between its steps.
    """
    Job.objects.filter(pk=lease.job_id, fencing_token=lease.fencing_token).update(
        state=Job.State.QUEUED, finished_at=None, attempts=0, run_after=timezone.now()
    )


def lane_of(what: str, by: str) -> str:
    """The concurrency key of a member's work of one kind, whatever the length of a name is."""
    return f"{what}:{hashlib.sha256(by.encode()).hexdigest()[:16]}"


def _fail(lease: Lease, error: Exception) -> JobResult:
    text = _text_of(error)
    try:
        with write_transaction():
            if lease.attempts >= lease.max_attempts:
                _park(lease, text)
                return "parked"
            pause = timedelta(seconds=settings.JOB_BACKOFF_SECONDS * 2 ** (lease.attempts - 1))
            again = timezone.now() + pause
            _move(lease, state=Job.State.QUEUED, lease_expires_at=None, run_after=again, last_error=text)
            return "queued"
    except LeaseLost:
        return "lost"


def _text_of(error: Exception) -> str:
    """Its traceback, as a database can keep it."""
    return _storable("".join(traceback.format_exception(error)))[-_ERROR_LENGTH_MAX:]


def _storable(text: str) -> str:
    """Without NUL and halves of surrogate pairs, which databases and logs refuse."""
    return text.replace("\x00", "\ufffd").encode("utf-8", errors="replace").decode("utf-8")


def _park(lease: Lease, error: str) -> None:
    """Park the job for an operator to review; nothing else waits for it. The caller holds the registry's lock."""
    _move(lease, state=Job.State.PARKED, lease_expires_at=None, finished_at=timezone.now(), last_error=error)
    notify_observers(lease.job_id, lease.kind, lease.payload, "parked")
    last_line = error.strip().rpartition("\n")[2]
    detail = {
        "kind": lease.kind,
        "payload": _hashable(lease.payload),
        "tries": lease.attempts,
        "error": last_line[:500],
    }
    audit.record(by=WORKER, verb="job.park", subject=f"job {lease.job_id}", detail=detail)


def _hashable(payload: Any) -> Any:
    """The payload as the audit log can hash it: its text where it has numbers or characters that RFC 8785 refuses."""
    try:
        rfc8785.dumps(payload)
    except (ValueError, RecursionError):
        return json.dumps(payload)[:_ERROR_LENGTH_MAX]
    return payload


def notify_observers(job_id: int, kind: str, payload: dict[str, Any], state: JobState) -> None:
    """Those who keep rows about such jobs follow them, in the same transaction. One that fails is logged, and the job
    is what it is all the same: kept as it was, it would fail again at every look."""
    observer = OBSERVERS.find(kind)
    if observer is None:
        return
    try:
        # A savepoint: what the follower began is undone, and the job's end is not.
        with transaction.atomic():
            observer(payload, state)
    except Exception:
        logger.exception("job %s %s is %s, which could not be noted where it was asked for", job_id, kind, state)
