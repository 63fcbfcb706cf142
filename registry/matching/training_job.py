"""The job that makes what matching has learned: vectors of new sentences, and the head where it takes long to fit.

Vectors are made in steps of some seconds, each a job of its own: a worker that is killed loses one batch, and no limit
of Celery ends the work for a registry of thousands. The job's payload says how far it is (training_progress.py).
"""

from __future__ import annotations

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
    from registry.matching.index import MatchIndex, MatchIndexCache
    from registry.snapshot import Snapshot

KIND: Final = "matching.learn"
_HEADS_KEPT: Final = 3
_STEP_SECONDS: Final = 20.0
# Of the worker alone: a scheduled release is matched beside it by the index of the process, and never waits for this.
_index: MatchIndexCache | None = None


def queue_training() -> None:
    """After what readers see has changed. Inside `write_transaction()`."""
    run_after = timezone.now() + timedelta(seconds=settings.MATCHING_LEARN_AFTER_SECONDS)
    # With a key of its own it runs in a lane, and no release or mail waits behind it.
    jobs.enqueue(KIND, {}, run_after=run_after, dedupe_key=KIND, concurrency_key=KIND)


def train(lease: Lease) -> CommitAction:
    """The handler: one step. What was published meanwhile is left to the next one."""
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from registry.matching.embedding import EmbedderUnavailable
    from registry.snapshot import STORE as SNAPSHOTS

    snapshot = SNAPSHOTS.refresh()
    payload = _start_payload(lease, snapshot)

    def note(made: int, total: int) -> None:
        payload.update(made=made, total=total)
        jobs.renew_lease(lease, payload=payload)

    try:
        is_whole = _get_index().make_vectors(snapshot, seconds=_STEP_SECONDS, between=note)
    except EmbedderUnavailable:
        _fit_words(lease, snapshot)
        raise
    if not is_whole:
        return lambda: jobs.enqueue(KIND, payload, dedupe_key=KIND, concurrency_key=KIND)
    return _fit(lease, snapshot)


def _start_payload(lease: Lease, snapshot: Snapshot) -> dict[str, Any]:
    """What the steps before have noted, or a new beginning where the model is another one."""
    from registry.matching.embedders import get_embedder
    from registry.matching.readability import describe_embedder

    model = describe_embedder(get_embedder())
    if lease.payload.get("model") == model and "since" in lease.payload:
        return dict(lease.payload)
    meanwhile = describe_embedder(_get_index().find_embedder_meanwhile(snapshot))
    return {"model": model, "since": timezone.now().isoformat(timespec="seconds"), "meanwhile": meanwhile}


def _fit(lease: Lease, snapshot: Snapshot) -> CommitAction:
    index = _get_index().build(snapshot, seconds=None)
    weights = _fit_weights(lease, index)

    def write() -> None:
        if weights:
            _keep(index, weights)
        if get_registry_revision() != snapshot.registry_revision:
            queue_training()

    return write


def _fit_words(lease: Lease, snapshot: Snapshot) -> None:
    """Where the model cannot be reached and no other stands in for it."""
    index = _get_index().build(snapshot, seconds=-1)
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


def _get_index() -> MatchIndexCache:
    global _index
    from registry.matching.index import MatchIndexCache

    if _index is None:
        _index = MatchIndexCache()
    return _index


@caches.register
def clear_cache() -> None:
    """Begin again, as in a new process."""
    global _index
    _index = None


def _keep(index: MatchIndex, weights: bytes) -> None:
    if index.matcher.evidence is None:
        return
    samples, model_id = index.matcher.evidence.samples, index.embedder.model_id if index.embedder else ""
    values = {"weights": weights, "samples": len(samples.texts), "classes": samples.classes}
    values |= {"created_at": timezone.now()}
    MatchClassifier.objects.update_or_create(model_id=model_id, fingerprint=samples.fingerprint, defaults=values)
    kept = MatchClassifier.objects.order_by("-created_at", "-id").values_list("pk", flat=True)[:_HEADS_KEPT]
    MatchClassifier.objects.exclude(pk__in=list(kept)).delete()
