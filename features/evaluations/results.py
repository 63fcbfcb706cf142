"""Results as pages, tables and files show them: by case, and one run beside another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from capability_client.evaluation.report import CaseResult, PassRate
from features.evaluations.model_settings import price_of
from features.evaluations.models import EvaluationRun
from registry.authoring.call_words import ShownMessage, describe_message
from registry.models import Capability


@dataclass(frozen=True, slots=True)
class ShownResult:
    """One repetition with what was said."""

    repetition: int
    has_failed: bool
    messages: tuple[ShownMessage, ...]


@dataclass(frozen=True, slots=True)
class PlayedCase:
    """A case in a run: what did not hold, and what was said each time."""

    rate: PassRate
    failures: tuple[str, ...]
    results: tuple[ShownResult, ...]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run with its figures. `price` is None where the settings have none."""

    run: EvaluationRun
    rate: PassRate
    tokens: int
    seconds: float
    price: float | None

    @property
    def played(self) -> int:
        """So many of `run.total`."""
        return self.rate.total

    @property
    def percent(self) -> int:
        """Of those that were played, how many passed."""
        return round(100 * self.rate.share)

    @property
    def interval(self) -> tuple[int, int]:
        """The 95 % interval of that, in percent."""
        return round(100 * self.rate.low), round(100 * self.rate.high)


def summarize(runs: QuerySet[EvaluationRun], limit: int | None = None) -> list[RunSummary]:
    """The summaries of these runs, the newest first; one query."""
    # The order of the model does not hold for a query that groups.
    found = runs.order_by("-id").annotate(
        played=Count("results"),
        passed=Count("results", filter=Q(results__failures=[])),
        prompt=Sum("results__prompt_tokens"),
        reply=Sum("results__reply_tokens"),
        took=Sum("results__seconds"),
    )
    return [
        RunSummary(
            run,
            PassRate(run.passed, run.played),
            (run.prompt or 0) + (run.reply or 0),
            run.took or 0.0,
            price_of(run.prompt or 0, run.reply or 0),
        )
        for run in found[:limit]
    ]


def list_summaries(capability: Capability) -> list[RunSummary]:
    """The last runs of a capability, the newest first."""
    return summarize(EvaluationRun.objects.filter(capability=capability), 20)


def get_summary(run: EvaluationRun) -> RunSummary:
    """The summary of one run."""
    return summarize(EvaluationRun.objects.filter(pk=run.pk))[0]


def list_together(run: EvaluationRun) -> list[RunSummary]:
    """The runs that were started with this one, itself included, in the order in which they are played."""
    started = EvaluationRun.objects.filter(
        capability=run.capability_id, created_by=run.created_by, created_at=run.created_at
    )
    return summarize(started)[::-1]


def find_comparison(run: EvaluationRun) -> EvaluationRun | None:
    """What a run is compared with: of a draft or without the capability, the last run of what is live with the same
    model; of what is live, the one of an earlier revision."""
    others = EvaluationRun.objects.filter(
        capability=run.capability_id, model=run.model, side="live", results__isnull=False
    ).exclude(pk=run.pk)
    if run.side == EvaluationRun.Side.LIVE:
        others = others.filter(pk__lt=run.pk).exclude(digest=run.digest)
    return others.order_by("-id").distinct().first()


def find_case(run: EvaluationRun, name: str, names: Mapping[str, str]) -> PlayedCase | None:
    """The case of this name in a run, None where it was not played; `names` has capabilities and forms by ID."""
    results = list(run.results.filter(case=name).order_by("repetition", "id"))
    if not results:
        return None
    return PlayedCase(
        PassRate(sum(not one.failures for one in results), len(results)),
        tuple(dict.fromkeys(str(words) for one in results for words in one.failures)),
        tuple(
            ShownResult(one.repetition, bool(one.failures), tuple(_describe(row, names) for row in one.transcript))
            for one in results
        ),
    )


def _describe(message: Mapping[str, Any], names: Mapping[str, str]) -> ShownMessage:
    calls = [(str(one.get("name")), one.get("arguments")) for one in message.get("calls", ())]
    return describe_message(message.get("role", ""), message.get("text", ""), calls, names)


def as_case_results(run: EvaluationRun) -> Sequence[CaseResult]:
    """For files: the same as the command of the client writes."""
    return [
        CaseResult(
            one.case,
            one.repetition,
            tuple(map(str, one.failures)),
            one.prompt_tokens + one.reply_tokens,
            one.seconds,
            one.must,
            one.case_digest,
            one.transcript,
        )
        for one in run.results.all()
    ]
