"""Small charts as SVG that the server draws: no script, and no style that a strict policy would refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil, floor, log10
from typing import Final

WIDTH: Final = 600
HEIGHT: Final = 96


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One day's bar, in the units of the drawing; `height` is 0 where there was nothing."""

    day: date
    count: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class BarChart:
    """A chart of counts a day; `top` is the number at its upper edge."""

    bars: Sequence[ChartBar]
    top: int
    total: int
    most: tuple[date, int]
    width: int = WIDTH
    height: int = HEIGHT


def build_bar_chart(counts: Sequence[tuple[date, int]]) -> BarChart:
    """Of at least one day, in order."""
    most = max(counts, key=lambda pair: pair[1])
    top = _rounded_up(most[1])
    step = WIDTH / len(counts)
    drawn = []
    for place, (day, count) in enumerate(counts):
        # What happened at all is seen, however small it is beside the rest.
        height = max(2.0, round(HEIGHT * count / top, 1)) if count else 0.0
        drawn.append(
            ChartBar(day, count, round(place * step, 2), round(HEIGHT - height, 1), round(step - 3, 2), height)
        )
    return BarChart(drawn, top, sum(count for _, count in counts), most)


def _rounded_up(number: int) -> int:
    """The next round number, so that the highest bar fills most of the height."""
    if number <= 1:
        return 1
    size = int(10 ** floor(log10(number)))
    return next(ceil(step * size) for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * size >= number)
