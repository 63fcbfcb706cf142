"""The score of a playbook: exact steps, held within its bounds at each of them."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.usage.confidence import KEY_DAY_MAX, NEUTRAL, OUTCOMES, ConfidenceScore, ReportedOutcome, recount


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("confirmed_success", ConfidenceScore(60, 1, 1)),
        ("likely_success", ConfidenceScore(53, 1, 0)),
        ("likely_failure", ConfidenceScore(45, 1, 0)),
        ("confirmed_failure", ConfidenceScore(40, 1, 0)),
        ("used", ConfidenceScore(51, 1, 0)),
    ],
)
def test_each_outcome_has_its_step(outcome: str, expected: ConfidenceScore) -> None:
    assert NEUTRAL.after(outcome) == expected


def _replayed(outcomes: list[str]) -> ConfidenceScore:
    return reduce(ConfidenceScore.after, outcomes, NEUTRAL)


def test_it_is_held_within_its_bounds_at_each_step() -> None:
    """A clamp at the end alone would answer 0.5 here."""
    assert _replayed(["confirmed_success"] * 7 + ["confirmed_failure"] * 7) == ConfidenceScore(30, 14, 7)
    assert _replayed(["confirmed_failure"] * 7 + ["confirmed_success"]) == ConfidenceScore(10, 8, 1)


@given(st.lists(st.sampled_from(OUTCOMES), max_size=200))
def test_it_never_drifts_from_the_exact_sum(outcomes: list[str]) -> None:
    steps = {"confirmed_success": 10, "likely_success": 3, "likely_failure": -5, "confirmed_failure": -10, "used": 1}
    exact = Fraction(1, 2)
    for outcome in outcomes:
        exact = min(Fraction(1), max(Fraction(0), exact + Fraction(steps[outcome], 100)))
    score = _replayed(outcomes).as_dict()
    assert score == {"score": float(exact), "uses": len(outcomes), "confirmed": outcomes.count("confirmed_success")}


DAY = date(2026, 11, 26)


@given(st.lists(st.sampled_from(OUTCOMES), max_size=60))
def test_counting_again_changes_nothing_within_the_share_of_a_day(outcomes: list[str]) -> None:
    reports = [ReportedOutcome(1, outcome, f"key {number}", DAY) for number, outcome in enumerate(outcomes)]
    assert recount(reports).get(0, NEUTRAL) == _replayed(outcomes)


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(OUTCOMES), st.sampled_from("ab"), st.integers(1, 2))))
def test_counting_again_loses_no_use_and_no_key_has_more_than_its_share(
    given_: list[tuple[int, str, str, int]],
) -> None:
    scores = recount(
        ReportedOutcome(number, outcome, key, DAY.replace(day=day)) for number, outcome, key, day in given_
    )
    numbers = {number for number, *_ in given_}
    assert scores.keys() == ({0} | numbers if given_ else set())
    assert sum(scores[number].uses for number in numbers) == len(given_)
    key_days = {(key, day) for _, _, key, day in given_}
    assert all(abs(score.percent - 50) <= KEY_DAY_MAX * len(key_days) for score in scores.values())
