"""Confidence over its events as SVG that the server draws; without a script, as studio/pages/charts.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from registry.usage.revision_health import TrendPoint

WIDTH: Final = 600
HEIGHT: Final = 100


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
    height: int = HEIGHT


def build_confidence_line(points: Sequence[TrendPoint]) -> ConfidenceLine:
    """Of at least one event, in order; each has the same width, however long it was until the next."""
    width = WIDTH / len(points)
    steps = [
        ConfidenceStep(point, round(at * width, 2), HEIGHT - point.percent, round(width, 2))
        for at, point in enumerate(points)
    ]
    corners = [corner for one in steps for corner in ((one.x, one.y), (one.x + one.width, one.y))]
    turns = [
        ConfidenceTurn(one.point.revision, one.x)
        for before, one in pairwise(steps)
        if before.point.revision != one.point.revision
    ]
    return ConfidenceLine(steps, " ".join(f"{x:.2f},{y}" for x, y in corners), turns)
