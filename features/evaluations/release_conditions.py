"""What a rule misses before texts are published: results of exactly these texts and cases, and enough that passed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Max, Q, QuerySet

from features.evaluations.models import EvaluationRule, EvaluationRun
from registry.models import Capability
from registry.publishing.release_rules import PublishQuestion, UnmetCondition
from registry.publishing.reviews import person_id

_NAMED_MAX: Final = 5
_WRITE_CASES: Final = (
    "Save these texts as a draft, write cases on the page Evaluations of the capability, and run them."
)
_RUN: Final = "Run the cases on the page Evaluations of the capability, or upload results: evaluation upload."
_FIX: Final = "See what happened on the page Evaluations of the capability, change the texts, and run the cases again."


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What all repetitions of a case in one run came to."""

    digest: str
    passed: int
    total: int

    @property
    def passes_always(self) -> bool:
        """Whether every repetition passed."""
        return self.passed == self.total

    @property
    def fails_always(self) -> bool:
        """Whether no repetition passed."""
        return self.passed == 0


Outcomes = Mapping[str, CaseOutcome]


@dataclass(frozen=True, slots=True)
class _Rule:
    """The strictest that is asked of the results of one model, or of any where `model` is empty."""

    model: str
    share: int

    @property
    def words(self) -> str:
        """For a sentence about results."""
        return f" with {self.model}" if self.model else ""


def find_unmet(question: PublishQuestion) -> Iterator[UnmetCondition]:
    """What the rules of these groups, and that of the registry, miss."""
    rows = EvaluationRule.objects.filter(group_id__in=["", *question.groups])
    shares: dict[str, int] = {}
    for row in rows:
        shares[row.model] = max(row.share, shares.get(row.model, 0))
    if not shares:
        return
    cases = _read_cases(question.capability)
    for model, share in sorted(shares.items()):
        rule = _Rule(model, share)
        for code, name, message, hint in _check(rule, question, cases):
            yield UnmetCondition(code, message, hint, f"{name} {model} {question.digest}")


_Unmet = tuple[str, str, str, str]


def _missing(name: str, message: str, hint: str = _RUN) -> _Unmet:
    return "EVALUATION_MISSING", name, message, hint


def _failed(name: str, message: str) -> _Unmet:
    return "EVALUATION_FAILED", name, message, _FIX


def _read_cases(capability: Capability | None) -> dict[str, tuple[str, bool]]:
    """`{name: (digest, whether it must pass)}`."""
    # Only a registry with a rule loads what reads cases.
    from features.evaluations import case_store

    rows = case_store.list_cases(capability) if capability is not None else []
    return {case.name: (case.digest, case.must) for case in map(case_store.read_row, rows)}


def _check(rule: _Rule, question: PublishQuestion, cases: Mapping[str, tuple[str, bool]]) -> Iterator[_Unmet]:
    capability = question.capability
    if capability is None or not cases:
        yield _missing("cases", "A rule requires evaluations, and there are no cases", _WRITE_CASES)
        return
    run = _find_run(capability, question.digest, rule.model, question.by)
    if run is None:
        words = f"There are no results of evaluations{rule.words} for exactly these texts"
        if _list_runs(capability, question.digest, rule.model).exists():
            words += " but those that who publishes has uploaded"
        yield _missing("results", words)
        return
    found = _outcomes(run)
    if words := _describe_stale(found, cases):
        yield _missing("results", f"The results of evaluations{rule.words} are of other cases: {words}")
        return
    yield from _check_share(rule, found)
    yield from _check_must(found, [name for name, (_digest, must) in cases.items() if must])
    yield from _check_live(question, capability, run, found)


def _list_runs(capability: Capability, digest: str, model: str) -> QuerySet[EvaluationRun]:
    """Those of these texts that were played to their end, the last one first."""
    runs = EvaluationRun.objects.filter(capability=capability, digest=digest, state=EvaluationRun.State.DONE)
    return (runs.filter(model=model) if model else runs).order_by("-id")


def _find_run(capability: Capability, digest: str, model: str, publisher: str) -> EvaluationRun | None:
    """The last one that counts: what was played elsewhere is the word of who uploaded it, and of no use to them."""
    own = person_id(publisher)
    runs = _list_runs(capability, digest, model)
    return next((run for run in runs if not run.tool or person_id(run.created_by) != own), None)


def _outcomes(run: EvaluationRun) -> dict[str, CaseOutcome]:
    rows = run.results.values("case").annotate(
        digest=Max("case_digest"), passed=Count("id", filter=Q(failures=[])), total=Count("id")
    )
    return {row["case"]: CaseOutcome(row["digest"], row["passed"], row["total"]) for row in rows.order_by()}


def _describe_stale(found: Outcomes, cases: Mapping[str, tuple[str, bool]]) -> str:
    """In what the results are of other cases; empty where they are of these."""
    changed = [name for name, (digest, _must) in cases.items() if name in found and found[name].digest != digest]
    new = [name for name in cases if name not in found]
    gone = [name for name in found if name not in cases]
    parts = ((changed, "changed since"), (new, "not played"), (gone, "deleted since"))
    return "; ".join(f"{_names(names)} {words}" for names, words in parts if names)


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return ", ".join(f"“{name[:80]}”" for name in sorted(names)[:_NAMED_MAX]) + more


def _check_share(rule: _Rule, found: Outcomes) -> Iterator[_Unmet]:
    passed, total = sum(one.passed for one in found.values()), sum(one.total for one in found.values())
    if passed * 100 < rule.share * total:
        # Rounded, but never to what would be enough.
        percent = min(round(passed * 100 / total), rule.share - 1)
        message = f"{passed} of {total} evaluations passed{rule.words} ({percent} %); a rule requires {rule.share} %"
        yield _failed("share", message)


def _check_must(found: Outcomes, must: Sequence[str]) -> Iterator[_Unmet]:
    failed = [name for name in must if not found[name].passes_always]
    if failed:
        yield _failed("must", f"Of the cases that must pass, these failed: {_names(failed)}")


def _check_live(
    question: PublishQuestion, capability: Capability, run: EvaluationRun, found: Outcomes
) -> Iterator[_Unmet]:
    """No case may fail always that what is live passes always, by the same model."""
    live = capability.published_revision
    if live is None or capability.status not in ("published", "deprecated") or live.digest == question.digest:
        return
    before = _find_run(capability, live.digest, run.model, question.by)
    known = _outcomes(before) if before is not None else {}
    unknown = [name for name, one in found.items() if name not in known or known[name].digest != one.digest]
    if unknown:
        words = f"What is live has no results of {_names(unknown)} with {run.model} to compare with"
        yield _missing("live", words)
    worse = [
        name for name, one in found.items() if name not in unknown and one.fails_always and known[name].passes_always
    ]
    if worse:
        yield _failed("worse", f"These cases pass with what is live, and fail now: {_names(worse)}")
