"""The job that makes what matching has learned: vectors of new sentences, and the head where it takes long to fit.

Vectors are made in steps of some seconds, each a job of its own: a worker that is killed loses one batch, and no limit
of Celery ends the work for a registry of thousands. The job's payload says how far it is (training_progress.py).

It begins when publishing has paused, and after what takes long it rests for five times as long: a registry that changes
all day keeps a sixth of a core busy at most.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.utils import timezone

from registry.common import caches
from registry.core.jobs import queue as jobs
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.transactions import get_registry_revision, write_transaction
from registry.models import MatchClassifier

if TYPE_CHECKING:
    from registry.matching.index import KeptWork, MatchIndex
    from registry.snapshot import Snapshot

KIND: Final = "matching.learn"
_HEADS_KEPT: Final = 3
_STEP_SECONDS: Final = 10.0
# While bundles are published in a row it waits for the end of them, for so long at most.
_PUBLISHING_SECONDS_MAX: Final = 60.0
# With more texts each step is followed by a rest, with fewer one that took longer to fit the head; of fewer the vectors
# are made without, since messages are matched by what was published the sooner.
_TEXTS_WITHOUT_REST: Final = 8_000
_WORK_WITHOUT_REST_SECONDS: Final = 1.0
# So many times as long as the CPU time of the step.
_REST_FACTOR: Final = 5.0
# Of the worker alone: a scheduled release is matched beside it by the index of the process, and never waits for this.
_kept: KeptWork | None = None
# By time.monotonic().
_rests_until = 0.0


def queue_training() -> None:
    """After what readers see has changed. Inside `write_transaction()`."""
    now, pause = timezone.now(), timedelta(seconds=settings.MATCHING_LEARN_AFTER_SECONDS)
    # With a key of its own it runs in a lane, and no release or mail waits behind it.
    job, is_new = jobs.enqueue(KIND, {}, run_after=now + pause, dedupe_key=KIND, concurrency_key=KIND)
    if not is_new and now < job.run_after < now + pause / 2:
        latest = job.created_at + timedelta(seconds=_PUBLISHING_SECONDS_MAX)
        jobs.reschedule(KIND, until=max(job.run_after, min(now + pause, latest)))


def train(lease: Lease) -> CommitAction:
    """The handler: one step. What was published meanwhile is left to the next one."""
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from registry.matching.embedding import EmbedderUnavailable
    from registry.snapshot import STORE as SNAPSHOTS

    if (rest := _rests_until - time.monotonic()) > 0:
        return lambda: _queue_step(dict(lease.payload), after_seconds=rest)
    began = time.thread_time()
    snapshot = SNAPSHOTS.refresh()
    payload = _start_payload(lease, snapshot)

    def note(made: int, total: int) -> None:
        payload.update(made=made, total=total)
        jobs.renew_lease(lease, payload=payload)

    try:
        is_whole = _get_kept().make_vectors(snapshot, seconds=_STEP_SECONDS, between=note)
    except EmbedderUnavailable:
        _fit_words(lease, snapshot)
        raise
    is_large = payload.get("total", 0) > _TEXTS_WITHOUT_REST
    if not is_whole:
        rest = _rest(began) if is_large else 0.0
        return lambda: _queue_step(payload, after_seconds=rest)
    write = _fit(lease, snapshot)
    if is_large or time.thread_time() - began > _WORK_WITHOUT_REST_SECONDS:
        _rest(began)
    return write


def _queue_step(payload: dict[str, Any], *, after_seconds: float) -> None:
    run_after = timezone.now() + timedelta(seconds=after_seconds) if after_seconds else None
    jobs.enqueue(KIND, payload, run_after=run_after, dedupe_key=KIND, concurrency_key=KIND)


def _rest(began: float) -> float:
    """Begin a rest after what this thread has worked since `began`; its seconds."""
    global _rests_until
    seconds = _REST_FACTOR * (time.thread_time() - began)
    _rests_until = time.monotonic() + seconds
    return seconds


def _start_payload(lease: Lease, snapshot: Snapshot) -> dict[str, Any]:
    """What the steps before have noted, or a new beginning where the model is another one."""
    from registry.matching.embedders import get_embedder
    from registry.matching.index import find_embedder_meanwhile
    from registry.matching.readability import describe_embedder

    model = describe_embedder(get_embedder())
    if lease.payload.get("model") == model and "since" in lease.payload:
        return dict(lease.payload)
    meanwhile = describe_embedder(find_embedder_meanwhile(snapshot))
    return {"model": model, "since": timezone.now().isoformat(timespec="seconds"), "meanwhile": meanwhile}


def _fit(lease: Lease, snapshot: Snapshot) -> CommitAction:
    from registry.matching.index import build

    index = build(None, snapshot, seconds=None, kept=_get_kept()) if _takes_a_job_to_fit(snapshot) else None
    weights = _fit_weights(lease, index) if index is not None else b""

    def write() -> None:
        if index is not None and weights:
            _keep(index, weights)
        if get_registry_revision() != snapshot.registry_revision:
            queue_training()

    return write


def _takes_a_job_to_fit(snapshot: Snapshot) -> bool:
    """False where a process that matches fits the head at once, and where there are too many sentences for one: an
    index of all of them would be made for nothing."""
    from registry.matching import kernel_classifier
    from registry.matching.index import list_profiles

    counts = [len(one.samples) for one in list_profiles(snapshot)]
    samples, classes = sum(counts), len(counts)
    return kernel_classifier.can_fit(samples, classes) and not kernel_classifier.is_cheap_to_fit(samples, classes)


def _fit_words(lease: Lease, snapshot: Snapshot) -> None:
    """Where the model cannot be reached and no other stands in for it."""
    from registry.matching.index import build

    if not _takes_a_job_to_fit(snapshot):
        return
    index = build(None, snapshot, seconds=-1, kept=_get_kept())
    if index.embedder is None and (weights := _fit_weights(lease, index)):
        with write_transaction():
            _keep(index, weights)


def _fit_weights(lease: Lease, index: MatchIndex) -> bytes:
    """Empty where there is nothing to fit."""
    from registry.matching import kernel_classifier

    jobs.renew_lease(lease)
    evidence = index.matcher.evidence
    if evidence is None or evidence.is_fitted or evidence.is_settled:
        return b""
    return kernel_classifier.to_bytes(evidence.fit())


def _get_kept() -> KeptWork:
    global _kept
    from registry.matching.index import KeptWork

    _kept = _kept or KeptWork()
    return _kept


@caches.register
def clear_cache() -> None:
    """Begin again, as in a new process."""
    global _kept, _rests_until
    _kept, _rests_until = None, 0.0


def _keep(index: MatchIndex, weights: bytes) -> None:
    if index.matcher.evidence is None:
        return
    samples, model_id = index.matcher.evidence.samples, index.embedder.model_id if index.embedder else ""
    values = {"weights": weights, "samples": len(samples.texts), "classes": samples.classes}
    values |= {"created_at": timezone.now()}
    MatchClassifier.objects.update_or_create(model_id=model_id, fingerprint=samples.fingerprint, defaults=values)
    kept = MatchClassifier.objects.order_by("-created_at", "-id").values_list("pk", flat=True)[:_HEADS_KEPT]
    MatchClassifier.objects.exclude(pk__in=list(kept)).delete()
