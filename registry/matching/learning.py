"""The job that makes what matching has learned: vectors of new sentences, and the head where it takes long to fit."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from registry.background import jobs
from registry.background.jobs import Lease, Write
from registry.writing import registry_revision

KIND: Final = "matching.learn"
_HEADS_KEPT: Final = 3


def queue() -> None:
    """After what readers see has moved. Inside `writing()`."""
    jobs.enqueue(
        KIND, {}, run_after=timezone.now() + timedelta(seconds=settings.MATCHING_LEARN_AFTER_SECONDS), dedupe_key=KIND
    )


def learn(lease: Lease) -> Write:
    """The handler. What was published meanwhile is left to the next one."""
    from registry.matching import head
    from registry.matching.index import HOLDER
    from registry.snapshot import HOLDER as SNAPSHOTS

    snapshot = SNAPSHOTS.refresh()
    index = HOLDER.build(snapshot, seconds=None, between=lambda: jobs.renew(lease))
    evidence = index.matcher.evidence
    model_id = index.embedder.model_id if index.embedder else ""
    weights = b""
    if evidence is not None and not evidence.is_fitted and not evidence.is_settled:
        jobs.renew(lease)
        weights = head.packed(evidence.fit())

    def write() -> None:
        if evidence is not None and weights:
            _keep(
                model_id, evidence.samples.fingerprint, weights, len(evidence.samples.texts), evidence.samples.classes
            )
        if registry_revision() != snapshot.registry_revision:
            queue()

    return write


def _keep(model_id: str, fingerprint: str, weights: bytes, samples: int, classes: int) -> None:
    from registry.models import MatchHead

    values = {"weights": weights, "samples": samples, "classes": classes, "created_at": timezone.now()}
    MatchHead.objects.update_or_create(model_id=model_id, fingerprint=fingerprint, defaults=values)
    kept = MatchHead.objects.order_by("-created_at", "-id").values_list("pk", flat=True)[:_HEADS_KEPT]
    MatchHead.objects.exclude(pk__in=list(kept)).delete()
