"""Runs beside each other: cases down, sides across, and the conversations of one case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from capability_client.evaluation.report import PassRate
from features.evaluations.case_store import read_texts
from features.evaluations.models import EvaluationResult, EvaluationRun
from features.evaluations.results import PlayedCase, RunSummary, find_case, get_summary, list_together
from registry.catalog.facets import find_display_names

# In their columns they are what the others are compared with, and no change of the texts.
_BASELINES = (EvaluationRun.Side.WITHOUT, EvaluationRun.Side.SILENT)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A case: `rates` has that of each column, None where it was not played there."""

    name: str
    must: bool
    rates: tuple[PassRate | None, ...]
    is_changed: bool

    @property
    def cells(self) -> list[tuple[str, PassRate | None]]:
        """`passed`, `sometimes`, `failed` or empty, and the rate."""
        return [(_state(rate), rate) for rate in self.rates]


def _state(rate: PassRate | None) -> str:
    if rate is None or not rate.total:
        return ""
    return "passed" if rate.passed == rate.total else "sometimes" if rate.passed else "failed"


def list_columns(run: EvaluationRun, against: EvaluationRun | None) -> list[RunSummary]:
    """The runs that were started together; of one alone also what it is compared with."""
    together = list_together(run)
    return together if len(together) > 1 or against is None else [get_summary(against), *together]


def build_table(columns: Sequence[RunSummary]) -> list[TableRow]:
    """Each case that was played: those first that differ between sides, then what fails, then by name; one query."""
    place = {column.run.pk: at for at, column in enumerate(columns)}
    compared = [at for at, column in enumerate(columns) if column.run.side not in _BASELINES]
    rates: dict[str, list[PassRate | None]] = {}
    must: set[str] = set()
    found = EvaluationResult.objects.filter(run__in=place).values("run", "case").order_by()
    passed, musts = Count("id", filter=Q(failures=[])), Count("id", filter=Q(must=True))
    for row in found.annotate(total=Count("id"), passed=passed, musts=musts):
        rates.setdefault(row["case"], [None] * len(columns))[place[row["run"]]] = PassRate(row["passed"], row["total"])
        must |= {row["case"]} if row["musts"] else set()
    table = [TableRow(name, name in must, tuple(one), _differ(one, compared)) for name, one in rates.items()]
    failed = {row.name for row in table if any(_state(row.rates[at]) == "failed" for at in compared)}
    return sorted(table, key=lambda row: (not row.is_changed, row.name not in failed, row.name))


def _differ(rates: Sequence[PassRate | None], compared: Sequence[int]) -> bool:
    return len({rate.share for at in compared if (rate := rates[at]) is not None}) > 1


def read_case(columns: Sequence[RunSummary], name: str) -> list[tuple[RunSummary, PlayedCase]]:
    """Each side that has played the case, with what was said there."""
    capability = columns[0].run.capability
    names = find_display_names([capability.capability_id]) | read_texts(capability).forms
    played = ((column, find_case(column.run, name, names)) for column in columns)
    return [(column, found) for column, found in played if found is not None]
