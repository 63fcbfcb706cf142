"""The job that makes what matching has learned: vectors of new sentences, and the head where it takes long to fit."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from registry.core.jobs import queue as jobs
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.transactions import get_registry_revision
from registry.models import MatchClassifier

KIND: Final = "matching.learn"
_HEADS_KEPT: Final = 3


def queue_training() -> None:
    """After what readers see has changed. Inside `write_transaction()`."""
    run_after = timezone.now() + timedelta(seconds=settings.MATCHING_LEARN_AFTER_SECONDS)
    jobs.enqueue(KIND, {}, run_after=run_after, dedupe_key=KIND)


def train(lease: Lease) -> CommitAction:
    """The handler. What was published meanwhile is left to the next one."""
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from registry.matching import kernel_classifier
    from registry.matching.index import PUBLISHED
    from registry.snapshot import STORE as SNAPSHOTS

    snapshot = SNAPSHOTS.refresh()
    index = PUBLISHED.build(snapshot, seconds=None, between=lambda: jobs.renew_lease(lease))
    evidence = index.matcher.evidence
    model_id = index.embedder.model_id if index.embedder else ""
    weights = b""
    if evidence is not None and not evidence.is_fitted and not evidence.is_settled:
        jobs.renew_lease(lease)
        weights = kernel_classifier.to_bytes(evidence.fit())

    def write() -> None:
        if evidence is not None and weights:
            samples = evidence.samples
            _keep(model_id, samples.fingerprint, weights, len(samples.texts), samples.classes)
        if get_registry_revision() != snapshot.registry_revision:
            queue_training()

    return write


def _keep(model_id: str, fingerprint: str, weights: bytes, samples: int, classes: int) -> None:
    values = {"weights": weights, "samples": samples, "classes": classes, "created_at": timezone.now()}
    MatchClassifier.objects.update_or_create(model_id=model_id, fingerprint=fingerprint, defaults=values)
    kept = MatchClassifier.objects.order_by("-created_at", "-id").values_list("pk", flat=True)[:_HEADS_KEPT]
    MatchClassifier.objects.exclude(pk__in=list(kept)).delete()
