"""How much a playbook can be trusted: a score that moves with each outcome (docs/requirements.md D).

Whole hundredths, so that it can be recomputed exactly from the outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, NamedTuple

# What each outcome moves the score by, in hundredths.
STEPS: Final[dict[str, int]] = {
    "confirmed_success": 10,
    "likely_success": 3,
    "likely_failure": -5,
    "confirmed_failure": -10,
    "used": 1,
}
OUTCOMES: Final = tuple(STEPS)
# By how many hundredths one key among several moves the score of a capability in a day, in each direction.
KEY_DAY_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class ConfidenceScore:
    """0 to 100 hundredths; each outcome is one use, and `confirmed` of them ended in a confirmed success."""

    percent: int = 50
    uses: int = 0
    confirmed: int = 0
    # All of it is the word of one key.
    is_single_key: bool = False

    @property
    def decimal(self) -> str:
        """0 to 1 with two digits, for people."""
        return f"{self.percent / 100:.2f}"

    def after(self, outcome: str, step: int | None = None) -> ConfidenceScore:
        """The score after one more outcome, clamped to its bounds at each step; `step` is what it moves the score by,
        the outcome's own where it is None."""
        moved = min(100, max(0, self.percent + (STEPS[outcome] if step is None else step)))
        confirmed = self.confirmed + (outcome == "confirmed_success")
        return replace(self, percent=moved, uses=self.uses + 1, confirmed=confirmed)

    def as_dict(self) -> dict[str, Any]:
        """`{"score": 0 to 1, "uses", "confirmed", "single_key"?}`, as responses have it."""
        found = {"score": self.percent / 100, "uses": self.uses, "confirmed": self.confirmed}
        return found | ({"single_key": True} if self.is_single_key else {})


NEUTRAL: Final = ConfidenceScore()


def remaining_step(outcome: str, *, moved_up: int, moved_down: int) -> int:
    """The step of an outcome by a key that has moved the score by so many hundredths today, as far as its share of the
    day goes."""
    step = STEPS[outcome]
    if step > 0:
        return min(step, max(0, KEY_DAY_MAX - moved_up))
    return -min(-step, max(0, KEY_DAY_MAX - moved_down))


class ReportedOutcome(NamedTuple):
    """One outcome: of a revision, by a key, on a day (UTC)."""

    revision: int
    outcome: str
    key_name: str
    day: date


def recount(reports: Iterable[ReportedOutcome]) -> dict[int, ConfidenceScore]:
    """`{revision: score}`, and under 0 that of the capability, from all its outcomes in order, where none of the keys
    moves it by more than its share of a day."""
    scores: dict[int, ConfidenceScore] = {}
    shares: dict[tuple[str, date], tuple[int, int]] = {}
    for revision, outcome, key_name, day in reports:
        up, down = shares.get((key_name, day), (0, 0))
        step = remaining_step(outcome, moved_up=up, moved_down=down)
        shares[key_name, day] = up + max(0, step), down - min(0, step)
        for number in (0, revision):
            scores[number] = scores.get(number, NEUTRAL).after(outcome, step)
    return scores
