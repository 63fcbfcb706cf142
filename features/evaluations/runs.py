"""Runs: one job for each, which plays a case and stands behind the others again, so that a worker that dies loses no
case that was finished."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.utils import timezone

from capability_client.evaluation.model_port import ModelFailed
from capability_client.evaluation.rubric import judge_play
from capability_client.evaluation.running import Observation
from capability_kit.evaluation_cases import EvaluationCase
from capability_rules.errors import InvalidRequest, RegistryError
from features.evaluations import case_store
from features.evaluations.clean_json import clean_json
from features.evaluations.model_settings import BUDGET_SPENT, get_model_kind, open_model, require_models, tokens_left
from features.evaluations.models import EvaluationResult, EvaluationRun, SavedCase
from features.evaluations.silent_model import SilentModel
from registry.access.teams import require_edit_permission
from registry.common.actors import Actor
from registry.common.errors import NotFound
from registry.core import audit
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, JobState, Lease
from registry.core.rows import get_row
from registry.core.transactions import write_transaction
from registry.models import Capability, Draft, Job

if TYPE_CHECKING:
    from features.evaluations.sides import PlayedSide

KIND: Final = "evaluation.case"
PRUNE_KIND: Final = "evaluation.prune"
REPETITIONS_MAX: Final = 100
SIDES_MAX: Final = 5
MODELS_MAX: Final = 5
PLAYS_MAX: Final = 2000
TRANSCRIPT_RETENTION: Final = timedelta(days=30)
# So many runs of a member at a time: lanes of the worker are for every kind of job.
_LANES: Final = 2
_NOT_PLAYED: Final = "The worker could not play it; see its jobs"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be played, each side by each model: `sides` are `live`, `draft`, `without`, `revision-N` and
    `silent`: a model that does nothing, once whatever the models are."""

    sides: Sequence[str]
    models: Sequence[str]
    repetitions: int = 1


def start_runs(*, capability: Capability, wanted: RunRequest, by: Actor) -> list[EvaluationRun]:
    """A run for each side and model, with its job. Raises `InvalidRequest`."""
    cases = [case_store.read_row(row) for row in case_store.list_cases(capability)]
    _check(capability, wanted, len(cases), by)
    with write_transaction():
        require_edit_permission(capability.capability_id, by)
        # The same of all: by it they are known to belong together.
        now = timezone.now()
        runs = [
            _start(capability, side, model, wanted.repetitions, cases, by, now) for model, side in _list_played(wanted)
        ]
        detail = {"runs": [run.pk for run in runs], "sides": list(wanted.sides), "models": list(wanted.models)}
        audit.record(by=by, verb="evaluation.start", subject=capability.capability_id, detail=detail)
    return runs


def _list_played(wanted: RunRequest) -> list[tuple[str, str]]:
    """`(model, side)` of each run; that of no model last."""
    sides = [side for side in dict.fromkeys(wanted.sides) if side != EvaluationRun.Side.SILENT]
    played = [(model, side) for model in dict.fromkeys(wanted.models) for side in sides]
    return [*played, ("", "silent")] if EvaluationRun.Side.SILENT in wanted.sides else played


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
    capability: Capability,
    side: str,
    model: str,
    repetitions: int,
    cases: Sequence[EvaluationCase],
    by: Actor,
    now: datetime,
) -> EvaluationRun:
    digest, revision = _side_digest(capability, side)
    run = EvaluationRun.objects.create(
        capability=capability,
        side=side.partition("-")[0],
        digest=digest,
        revision=revision,
        model=model,
        settings={"kind": get_model_kind()} if model else {},
        repetitions=repetitions,
        total=len(cases) * repetitions,
        created_at=now,
        created_by=str(by),
    )
    _enqueue(run, [[case.name, case.digest] for case in cases])
    return run


def _enqueue(run: EvaluationRun, cases: list[list[str]]) -> None:
    lane = queue.lane_of(f"evaluation:{run.pk % _LANES}", run.created_by)
    payload = {"run": run.pk, "cases": cases}
    queue.enqueue(KIND, payload, dedupe_key=_key(run), concurrency_key=lane, max_attempts=3)


def _key(run: EvaluationRun) -> str:
    return f"{KIND}:{run.pk}"


def get_run(number: int) -> EvaluationRun:
    """The run of this number, with its capability. Raises `NotFound`."""
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
            # One that is at work finds that its run has ended.
            queued = Job.objects.filter(dedupe_key=_key(run), state="queued")
            queued.update(state=Job.State.CANCELLED, finished_at=timezone.now())
            detail = {"run": number}
            audit.record(by=by, verb="evaluation.cancel", subject=run.capability.capability_id, detail=detail)
    return run


def run_case_job(lease: Lease) -> CommitAction | None:
    """The handler: plays the next case outside of any transaction, stores its result, and puts the job back."""
    run = EvaluationRun.objects.select_related("capability").filter(pk=lease.payload["run"]).first()
    play = _find_next(run, lease.payload["cases"]) if run is not None else None
    if run is None or run.state != EvaluationRun.State.RUNNING or play is None:
        return None
    case = _find_case(run.capability, play)
    found, failures = _play(run, case, lease) if case is not None else _unplayed("The case has changed")

    def store() -> None:
        _store(run.pk, play, found, failures, must=case is not None and case.must)
        if EvaluationRun.objects.filter(pk=run.pk, state=EvaluationRun.State.RUNNING).exists():
            queue.put_back(lease)

    return store


@dataclass(frozen=True, slots=True)
class _NextPlay:
    """A case by its name and digest, and which repetition."""

    case: str
    digest: str
    repetition: int


def _find_next(run: EvaluationRun, cases: Iterable[Sequence[str]]) -> _NextPlay | None:
    """The first that has no result yet: all cases once before any is played again."""
    played = set(run.results.values_list("case", "repetition"))
    plays = (_NextPlay(name, digest, n) for n in range(1, run.repetitions + 1) for name, digest in cases)
    return next((one for one in plays if (one.case[:200], one.repetition) not in played), None)


def _find_case(capability: Capability, play: _NextPlay) -> EvaluationCase | None:
    row = SavedCase.objects.filter(capability=capability, name=play.case).first()
    case = case_store.read_row(row) if row is not None else None
    return case if case is not None and case.digest == play.digest else None


def _unplayed(words: str) -> tuple[Observation, list[str]]:
    return Observation(error=words), [words]


def _play(run: EvaluationRun, case: EvaluationCase, lease: Lease) -> tuple[Observation, list[str]]:
    if run.side != EvaluationRun.Side.SILENT and tokens_left(run.created_by) == 0:
        return _unplayed(BUDGET_SPENT)
    from features.evaluations.sides import play_side, read_side

    wanted = f"revision-{run.revision}" if run.side == EvaluationRun.Side.REVISION else run.side
    side = read_side(run.capability.capability_id, wanted)
    if run.side == EvaluationRun.Side.SILENT:
        nobody = SilentModel()
        found = play_side(case, side, nobody)
        return found, judge_play(case, found, nobody)
    if side.digest != run.digest:
        return _unplayed("The texts have changed since the run began")
    try:
        model = open_model(
            run.model,
            before_request=lambda: _go_on(run.pk, lease),
            while_answering=lambda _partial: _go_on(run.pk, lease),
        )
    except RegistryError as error:
        return _unplayed(str(error))
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


def _store(number: int, play: _NextPlay, found: Observation, failures: list[str], *, must: bool = False) -> None:
    EvaluationResult.objects.update_or_create(
        run_id=number,
        case=play.case[:200],
        repetition=play.repetition,
        defaults={
            "case_digest": play.digest,
            "must": must,
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
    """A job that was parked: the case that it was at has failed, and another job plays the next one. One that is put
    back plays again what failed so; one that a person gave up ends its run."""
    run = EvaluationRun.objects.select_related("capability").filter(pk=payload["run"]).first()
    if run is None:
        return
    running = EvaluationRun.objects.filter(pk=run.pk, state=EvaluationRun.State.RUNNING)
    if state == "queued":
        EvaluationResult.objects.filter(run=run, failures=[_NOT_PLAYED]).delete()
        done = EvaluationRun.objects.filter(pk=run.pk, state=EvaluationRun.State.DONE)
        done.update(state=EvaluationRun.State.RUNNING, finished_at=None)
    elif state == "cancelled":
        running.update(state=EvaluationRun.State.CANCELED, finished_at=timezone.now())
    elif (play := _find_next(run, payload["cases"])) is not None and running.exists():
        case = _find_case(run.capability, play)
        _store(run.pk, play, *_unplayed(_NOT_PLAYED), must=case is not None and case.must)
        if running.exists():
            _enqueue(run, payload["cases"])


def prune_transcripts(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets what was said more than 30 days ago; the results stay."""
    old = EvaluationResult.objects.filter(finished_at__lt=timezone.now() - TRANSCRIPT_RETENTION)

    return lambda: old.exclude(transcript=[]).update(transcript=[])


def play_now(
    capability: Capability, side: str, model: str, cases: Iterable[EvaluationCase]
) -> Iterable[tuple[EvaluationCase, Observation, list[str]]]:
    """Each case with what the agent did and what does not hold, played in this process; nothing is stored."""
    from features.evaluations.sides import play_side, read_side

    played: PlayedSide = read_side(capability.capability_id, side)
    for case in cases:
        vendor = SilentModel() if side == EvaluationRun.Side.SILENT else open_model(model)
        try:
            found = play_side(case, played, vendor)
            yield case, found, judge_play(case, found, vendor)
        finally:
            vendor.wire.close()
