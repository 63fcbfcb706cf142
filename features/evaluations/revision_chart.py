"""The share that passed by revision, with its interval: what each change of the texts did to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from features.evaluations.models import EvaluationRun
from features.evaluations.results import RunSummary, summarize
from registry.models import Capability

WIDTH: Final = 600
HEIGHT: Final = 160
REVISIONS_MAX: Final = 20
_RUNS_MAX: Final = 200
# Of the room of a revision, so much is its bar.
_BAR_SHARE: Final = 0.6
_BAR_WIDTH_MAX: Final = 60.0


@dataclass(frozen=True, slots=True)
class RevisionBar:
    """One revision in the units of the drawing; `low` and `high` are the ends of its interval there."""

    number: int
    summary: RunSummary
    x: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def y(self) -> float:
        """The upper edge of the bar."""
        return HEIGHT * (1 - self.summary.rate.share)

    @property
    def height(self) -> float:
        return HEIGHT - self.y

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return HEIGHT * (1 - self.summary.rate.low)

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return HEIGHT * (1 - self.summary.rate.high)


@dataclass(frozen=True, slots=True)
class RevisionChart:
    """The newest revisions that were played with one model, in their order."""

    model: str
    bars: tuple[RevisionBar, ...]
    width: int = WIDTH
    height: int = HEIGHT


def build_revision_chart(capability: Capability) -> RevisionChart | None:
    """Of the model of the last run: the last run of each revision, also one that was played as a draft before it was
    published. None where no revision was played to its end."""
    numbers = dict(capability.revisions.order_by("number").values_list("digest", "number"))
    played = EvaluationRun.objects.filter(capability=capability, state=EvaluationRun.State.DONE, digest__in=numbers)
    newest = played.first()
    if newest is None:
        return None
    found: dict[int, RunSummary] = {}
    for summary in summarize(played.filter(model=newest.model), _RUNS_MAX):
        found.setdefault(numbers[summary.run.digest], summary)
    rows = sorted(found.items())[-REVISIONS_MAX:]
    room = WIDTH / len(rows)
    width = min(_BAR_WIDTH_MAX, room * _BAR_SHARE)
    bars = (
        RevisionBar(number, one, room * place + (room - width) / 2, width) for place, (number, one) in enumerate(rows)
    )
    return RevisionChart(newest.model, tuple(bars))
