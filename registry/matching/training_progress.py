"""How far the job is that makes vectors (training_job.py), for those who see Settings, a terminal or the metrics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from django.utils.dateparse import parse_datetime

from registry.matching.training_job import KIND
from registry.models import Job

TrainingState = Literal["done", "queued", "running", "failing", "parked", "cancelled", "outdated", "never"]


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """`made` of `total` texts have their vectors of `model`; both are 0 until a worker has counted.

    `failing` will be tried again, `parked` waits for a person, `outdated` was done for another model: no worker has run
    with the present one. Until it is `done`, messages are compared by `meanwhile`: empty for triggers and words alone,
    the model itself where half of the vectors are there.
    """

    state: TrainingState
    model: str
    made: int = 0
    total: int = 0
    since: datetime | None = None
    meanwhile: str = ""
    error: str = ""
    job_id: int | None = None

    def as_dict(self) -> dict[str, Any]:
        since = self.since.isoformat(timespec="seconds") if self.since else None
        named = {"state": self.state, "model": self.model, "made": self.made, "total": self.total, "since": since}
        return {**named, "meanwhile": self.meanwhile, "error": self.error, "job": self.job_id}


def get_training_progress() -> TrainingProgress:
    """Of the newest job, for the model in use."""
    # numpy, and what describes the models: only what matches pays for it.
    from registry.matching.readability import describe_model

    model = describe_model()
    job = Job.objects.filter(kind=KIND).order_by("-id").first()
    if job is None:
        return TrainingProgress("never", model)
    payload = job.payload if isinstance(job.payload, dict) else {}
    # A job of a release that noted nothing was for another model, as far as anyone can tell.
    noted = payload.get("model", "" if job.state == Job.State.DONE else model)
    if noted != model:
        return TrainingProgress("outdated", model, job_id=job.pk)
    return TrainingProgress(
        _state_of(job),
        model,
        made=int(payload.get("made", 0)),
        total=int(payload.get("total", 0)),
        since=parse_datetime(payload.get("since", "")),
        meanwhile=payload.get("meanwhile", ""),
        error="" if job.state == "done" else job.last_error.strip().rpartition("\n")[2][:500],
        job_id=job.pk,
    )


def count_missing_vectors() -> int:
    """How many texts the newest job has not yet made a vector of; 0 where it has not counted."""
    payload = Job.objects.filter(kind=KIND).order_by("-id").values_list("payload", flat=True).first()
    if not isinstance(payload, dict):
        return 0
    return max(0, int(payload.get("total", 0)) - int(payload.get("made", 0)))


def _state_of(job: Job) -> TrainingState:
    if job.state == Job.State.QUEUED and job.last_error:
        return "failing"
    return cast(TrainingState, job.state)
