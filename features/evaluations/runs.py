"""Runs: one job for each case and repetition, so that a worker that dies loses none that was finished."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.utils import timezone

from capability_client.evaluation.cases import EvaluationCase, case_document, parse_case
from capability_client.evaluation.model_port import ModelFailed, VendorModel
from capability_client.evaluation.rubric import judge_play
from capability_client.evaluation.running import Observation
from capability_rules.errors import InvalidRequest
from features.evaluations import case_store
from features.evaluations.chat_store import forget_old_chats
from features.evaluations.clean_json import clean_json
from features.evaluations.model_settings import BUDGET_SPENT, get_model, require_models, tokens_left
from features.evaluations.models import EvaluationResult, EvaluationRun
from registry.access.teams import require_edit_permission
from registry.common.actors import Actor
from registry.common.errors import NotFound
from registry.core import audit
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, JobState, Lease
from registry.core.rows import get_row
from registry.core.transactions import write_transaction
from registry.models import Capability, Draft

if TYPE_CHECKING:
    from features.evaluations.sides import PlayedSide

KIND: Final = "evaluation.case"
PRUNE_KIND: Final = "evaluation.prune"
REPETITIONS_MAX: Final = 100
SIDES_MAX: Final = 5
MODELS_MAX: Final = 5
PLAYS_MAX: Final = 2000
TRANSCRIPT_RETENTION: Final = timedelta(days=30)
# So many of a run at a time: lanes of the worker are for every kind of job.
_LANES: Final = 2


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be played, each side by each model: `sides` are `live`, `draft`, `without` and `revision-N`."""

    sides: Sequence[str]
    models: Sequence[str]
    repetitions: int = 1


def start_runs(*, capability: Capability, wanted: RunRequest, by: Actor) -> list[EvaluationRun]:
    """A run for each side and model, with its jobs. Raises `InvalidRequest`."""
    cases = [case_store.read_row(row) for row in case_store.list_cases(capability)]
    _check(capability, wanted, len(cases), by)
    with write_transaction():
        require_edit_permission(capability.capability_id, by)
        runs = [
            _start(capability, side, model, wanted.repetitions, cases, by)
            for model in dict.fromkeys(wanted.models)
            for side in dict.fromkeys(wanted.sides)
        ]
        detail = {"runs": [run.pk for run in runs], "sides": list(wanted.sides), "models": list(wanted.models)}
        audit.record(by=by, verb="evaluation.start", subject=capability.capability_id, detail=detail)
    return runs


def _check(capability: Capability, wanted: RunRequest, cases: int, by: Actor) -> None:
    require_models(wanted.models)
    if not 1 <= len(wanted.sides) <= SIDES_MAX or len(wanted.models) > MODELS_MAX:
        raise InvalidRequest(f"Choose what is played: 1 to {SIDES_MAX} sides, and at most {MODELS_MAX} models")
    if not 1 <= wanted.repetitions <= REPETITIONS_MAX:
        raise InvalidRequest(f"Each case is played 1 to {REPETITIONS_MAX} times")
    if not cases:
        raise InvalidRequest("There are no cases: write one first")
    if cases * wanted.repetitions > PLAYS_MAX:
        raise InvalidRequest(f"{cases * wanted.repetitions:,} plays; a run has at most {PLAYS_MAX:,}")
    if tokens_left(str(by)) == 0:
        raise InvalidRequest(BUDGET_SPENT)
    for side in wanted.sides:
        _side_digest(capability, side)


def _side_digest(capability: Capability, side: str) -> tuple[str, int | None]:
    """What is played. Raises `InvalidRequest` where there is no such side."""
    from features.evaluations.sides import parse_side

    revision = capability.published_revision
    side, number = parse_side(side)
    if number is not None:
        chosen = capability.revisions.filter(number=number).first()
        if chosen is None:
            raise InvalidRequest(f"There is no revision {number}")
        return chosen.digest, number
    if side == EvaluationRun.Side.DRAFT:
        draft = Draft.objects.filter(capability=capability, discarded_at__isnull=True).first()
        if draft is None or not draft.digest:
            raise InvalidRequest("No draft passes the checks: fix its errors first")
        return draft.digest, None
    if side == EvaluationRun.Side.LIVE:
        if revision is None or capability.status not in ("published", "deprecated"):
            raise InvalidRequest("Nothing is live: play the draft")
        return revision.digest, revision.number
    return "", None


def _start(
    capability: Capability, side: str, model: str, repetitions: int, cases: Sequence[EvaluationCase], by: Actor
) -> EvaluationRun:
    digest, revision = _side_digest(capability, side)
    run = EvaluationRun.objects.create(
        capability=capability,
        side=side.partition("-")[0],
        digest=digest,
        revision=revision,
        model=model,
        settings={"kind": settings.MODEL_KIND},
        repetitions=repetitions,
        total=len(cases) * repetitions,
        created_by=str(by),
    )
    plays = [(case, number) for number in range(1, repetitions + 1) for case in cases]
    for place, (case, number) in enumerate(plays):
        payload = {"run": run.pk, "case": case_document(case), "repetition": number}
        queue.enqueue(KIND, payload, concurrency_key=f"evaluation:{place % _LANES}", max_attempts=3)
    return run


def get_run(number: int) -> EvaluationRun:
    """Raises `NotFound`."""
    found = EvaluationRun.objects.select_related("capability")
    return get_row(found.filter(pk=number), NotFound(f"There is no evaluation run {number}"))


def cancel_run(*, number: int, by: Actor) -> EvaluationRun:
    """Play no more of its cases; those that were played stay. Raises `NotFound`."""
    with write_transaction():
        run = get_run(number)
        require_edit_permission(run.capability.capability_id, by)
        ended = EvaluationRun.objects.filter(pk=number, state=EvaluationRun.State.RUNNING).update(
            state=EvaluationRun.State.CANCELED, finished_at=timezone.now()
        )
        if ended:
            detail = {"run": number}
            audit.record(by=by, verb="evaluation.cancel", subject=run.capability.capability_id, detail=detail)
    return run


def run_case_job(lease: Lease) -> CommitAction | None:
    """The handler: plays one case outside of any transaction, and stores its result with the end of the job."""
    run = EvaluationRun.objects.select_related("capability").filter(pk=lease.payload["run"]).first()
    if run is None or run.state != EvaluationRun.State.RUNNING:
        return None
    case = parse_case(lease.payload["case"], "case")
    found, failures = _play(run, case, lease)
    return lambda: _store(run.pk, case, lease.payload["repetition"], found, failures)


def _play(run: EvaluationRun, case: EvaluationCase, lease: Lease) -> tuple[Observation, list[str]]:
    if tokens_left(run.created_by) == 0:
        return Observation(error=BUDGET_SPENT), [BUDGET_SPENT]
    from features.evaluations.sides import play_side, read_side

    wanted = f"revision-{run.revision}" if run.side == EvaluationRun.Side.REVISION else run.side
    side = read_side(run.capability.capability_id, wanted)
    if side.digest != run.digest:
        changed = "The texts have changed since the run began"
        return Observation(error=changed), [changed]
    model = VendorModel(
        get_model(run.model),
        before_request=lambda: _go_on(run.pk, lease),
        while_answering=lambda _partial: _go_on(run.pk, lease),
    )
    try:
        found = play_side(case, side, model)
        return found, judge_play(case, found, model)
    finally:
        model.wire.close()


def _go_on(number: int, lease: Lease) -> None:
    """Before each request, and while its reply comes. Raises `ModelFailed` where the run was canceled, `LeaseLost`."""
    queue.renew_lease(lease)
    if not EvaluationRun.objects.filter(pk=number, state=EvaluationRun.State.RUNNING).exists():
        raise ModelFailed("The run was canceled")


def _store(number: int, case: EvaluationCase, repetition: int, found: Observation, failures: list[str]) -> None:
    EvaluationResult.objects.update_or_create(
        run_id=number,
        case=case.name[:200],
        repetition=repetition,
        defaults={
            "case_digest": case.digest,
            "must": case.must,
            "failures": clean_json(failures),
            "prompt_tokens": found.usage.prompt_tokens,
            "reply_tokens": found.usage.reply_tokens,
            "seconds": found.usage.seconds,
            "transcript": clean_json(found.transcript()),
            "finished_at": timezone.now(),
        },
    )
    _finish_if_complete(number)


def _finish_if_complete(number: int) -> None:
    run = EvaluationRun.objects.get(pk=number)
    if run.state == EvaluationRun.State.RUNNING and run.results.count() >= run.total:
        EvaluationRun.objects.filter(pk=number).update(state=EvaluationRun.State.DONE, finished_at=timezone.now())


def on_job_state_change(payload: dict[str, Any], state: JobState) -> None:
    """A case whose job ended without its handler has failed; one that is put back is played again."""
    if state == "queued":
        EvaluationRun.objects.filter(pk=payload["run"], state=EvaluationRun.State.DONE).update(
            state=EvaluationRun.State.RUNNING, finished_at=None
        )
        return
    case = parse_case(payload["case"], "case")
    words = "The worker could not play it; see its jobs" if state == "parked" else "The job was canceled"
    if EvaluationRun.objects.filter(pk=payload["run"]).exists():
        _store(payload["run"], case, payload["repetition"], Observation(error=words), [words])


def prune_transcripts(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets what was said more than 30 days ago, chats too; the results stay."""
    old = EvaluationResult.objects.filter(finished_at__lt=timezone.now() - TRANSCRIPT_RETENTION)

    def forget() -> None:
        old.exclude(transcript=[]).update(transcript=[])
        forget_old_chats()

    return forget


def play_now(
    capability: Capability, side: str, model: str, cases: Iterable[EvaluationCase]
) -> Iterable[tuple[EvaluationCase, Observation, list[str]]]:
    """Each case with what the agent did and what does not hold, played in this process; nothing is stored."""
    from features.evaluations.sides import play_side, read_side

    played: PlayedSide = read_side(capability.capability_id, side)
    for case in cases:
        vendor = VendorModel(get_model(model))
        try:
            found = play_side(case, played, vendor)
            yield case, found, judge_play(case, found, vendor)
        finally:
            vendor.wire.close()
