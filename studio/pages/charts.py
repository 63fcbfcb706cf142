"""Small charts as SVG that the server draws: no script, and no style that a strict policy would refuse."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import ceil, floor, log10
from typing import Final

from registry.usage.revision_health import TrendPoint

WIDTH: Final = 600
HEIGHT: Final = 160
# Of the line of a confidence.
LINE_HEIGHT: Final = 100
_TICKS: Final = 4
SPARK_WIDTH: Final = 100
SPARK_HEIGHT: Final = 28
# Room for half of the line above its highest point and below its lowest.
_SPARK_EDGE: Final = 2.7


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One day's bar, in the units of the drawing; `height` is 0 where there was nothing.

    `before` is the count of the same day of the period before, where there is one.
    """

    day: date
    count: int
    x: float
    y: float
    width: float
    height: float
    before: int | None = None

    @property
    def difference(self) -> int | None:
        """Against the period before."""
        return None if self.before is None else self.count - self.before


@dataclass(frozen=True, slots=True)
class BarChart:
    """A chart of counts a day; `top` is the number at its upper edge.

    `before` are the points of the line of the period before, `releases` the places of release marks, `ticks` the days
    below the chart.
    """

    bars: Sequence[ChartBar]
    top: int
    total: int
    most: tuple[date, int]
    before: str = ""
    releases: Sequence[float] = ()
    ticks: Sequence[date] = ()
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def half(self) -> int | None:
        """The number at the middle line; None where that is not a whole number."""
        return None if self.top % 2 else self.top // 2

    @property
    def middle(self) -> float:
        """Where the middle line is."""
        return self.height / 2


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A line without an axis, as paths of the drawing."""

    line: str
    area: str
    width: int = SPARK_WIDTH
    height: int = SPARK_HEIGHT


def build_sparkline(values: Sequence[float]) -> Sparkline | None:
    """From the lowest value to the highest; None where there are too few for a line."""
    if len(values) < 2:
        return None
    low, high = min(values), max(values)
    span = SPARK_HEIGHT - 2 * _SPARK_EDGE
    step = SPARK_WIDTH / (len(values) - 1)
    points = [
        (place * step, SPARK_HEIGHT - _SPARK_EDGE - (span * (value - low) / (high - low) if high > low else 0))
        for place, value in enumerate(values)
    ]
    line = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return Sparkline(line, f"{line} L{SPARK_WIDTH} {SPARK_HEIGHT} L0 {SPARK_HEIGHT} Z")


def build_bar_chart(
    counts: Sequence[tuple[date, int]], *, before: Sequence[int] = (), releases: Collection[date] = ()
) -> BarChart:
    """`counts` covers at least one day, in order; `before` has the same number of counts for the period before."""
    most = max(counts, key=lambda pair: pair[1])
    top = _rounded_up(max(most[1], *before) if before else most[1])
    step = WIDTH / len(counts)
    earlier = list(before) if len(before) == len(counts) else [None] * len(counts)
    drawn = []
    for place, (day, count) in enumerate(counts):
        # A count that is not zero stays visible, however small.
        height = max(2.0, round(HEIGHT * count / top, 1)) if count else 0.0
        drawn.append(
            ChartBar(
                day,
                count,
                round(place * step, 2),
                round(HEIGHT - height, 1),
                round(step - 3, 2),
                height,
                earlier[place],
            )
        )
    line = [
        f"{(place + 0.5) * step:.1f},{HEIGHT - HEIGHT * count / top:.1f}"
        for place, count in enumerate(earlier)
        if count is not None
    ]
    marks = [round(bar.x, 1) for bar in drawn if bar.day in releases]
    last = len(counts) - 1
    ticks = [counts[place][0] for place in sorted({round(last * number / (_TICKS - 1)) for number in range(_TICKS)})]
    return BarChart(drawn, top, sum(count for _, count in counts), most, " ".join(line), marks, ticks)


def _rounded_up(number: int) -> int:
    """The next round number, so that the highest bar fills most of the height."""
    if number <= 1:
        return 1
    size = int(10 ** floor(log10(number)))
    return next(ceil(step * size) for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * size >= number)


@dataclass(frozen=True, slots=True)
class ConfidenceStep:
    """One event: its position in the chart, with a tick for its outcome."""

    point: TrendPoint
    x: float
    y: float
    width: float

    @property
    def score(self) -> str:
        """The confidence, 0 to 1, as in API responses."""
        return f"{self.point.percent / 100:.2f}"

    @property
    def kind(self) -> str:
        return "good" if self.point.is_good else "bad" if self.point.is_bad else "used"


@dataclass(frozen=True, slots=True)
class ConfidenceTurn:
    """Where the events of another revision begin."""

    number: int
    x: float


@dataclass(frozen=True, slots=True)
class ConfidenceLine:
    """`path` are the points of a polyline; the top edge is a confidence of 1."""

    steps: Sequence[ConfidenceStep]
    path: str
    turns: Sequence[ConfidenceTurn]
    width: int = WIDTH
    height: int = LINE_HEIGHT


def build_confidence_line(points: Sequence[TrendPoint]) -> ConfidenceLine:
    """Of at least one event, in order; each has the same width, however long it was until the next."""
    width = WIDTH / len(points)
    steps = [
        ConfidenceStep(point, round(at * width, 2), LINE_HEIGHT - point.percent, round(width, 2))
        for at, point in enumerate(points)
    ]
    corners = [corner for one in steps for corner in ((one.x, one.y), (one.x + one.width, one.y))]
    turns = [
        ConfidenceTurn(one.point.revision, one.x)
        for before, one in pairwise(steps)
        if before.point.revision != one.point.revision
    ]
    return ConfidenceLine(steps, " ".join(f"{x:.2f},{y}" for x, y in corners), turns)
