"""Which ids are nearest, cheap enough for ten thousand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from registry.common.string_similarity import close_matches, closest_matches, closest_matches_batch
from tests import costs

NAMES = ["billing_refund", "meals", "sleep_tracking", "sleeping", "weights", "workouts"]
TEN_THOUSAND = [f"{name}_{number}" for number in range(1667) for name in NAMES]


def test_the_nearest_come_first() -> None:
    assert closest_matches("sleep_trackin", NAMES, most=2) == ["sleep_tracking", "sleeping"]
    assert closest_matches("workuot", NAMES, most=1) == ["workouts"]
    assert closest_matches("WEIGHTS", NAMES, most=9)[-1] in NAMES


def test_equally_far_ones_are_in_order_and_all_are_there() -> None:
    assert closest_matches("zzz", NAMES, most=9) == NAMES
    assert closest_matches("zzz", NAMES, most=2) == NAMES[:2]
    assert closest_matches("anything", [], most=9) == []


def test_only_what_may_have_been_meant_is_suggested() -> None:
    assert close_matches("workout", closest_matches("workout", NAMES, most=6), most=5) == ["workouts"]
    assert close_matches("zzz", closest_matches("zzz", NAMES, most=6), most=5) == []


def test_the_best_of_ten_thousand_is_found() -> None:
    assert closest_matches("mealz_1655", TEN_THOUSAND, most=100)[0] == "meals_1655"


def test_ten_thousand_take_milliseconds() -> None:
    closest_matches("warm", TEN_THOUSAND, most=100)
    with costs.at_most(10):
        closest_matches("sleep_traking_77", TEN_THOUSAND, most=100)
        # 7 ms where it was measured; a comparison letter by letter of all of them took 300.


@given(st.text(max_size=300), st.integers(0, 8))
def test_any_text_is_answered(wanted: str, most: int) -> None:
    found = closest_matches(wanted, NAMES, most=most)
    assert len(found) == min(most, len(NAMES))
    assert set(found) <= set(NAMES)


@given(st.lists(st.text(max_size=70), max_size=4), st.lists(st.text("abcdefg_1", max_size=9), max_size=30, unique=True))
def test_several_at_once_are_found_as_each_by_itself(wanted: list[str], names: list[str]) -> None:
    each = [closest_matches(one, sorted(names), most=3) for one in wanted]
    assert closest_matches_batch(wanted, names, most=3, compared=100) == each


def test_a_page_of_wishes_takes_milliseconds() -> None:
    wanted = [f"sleep_traking_{number}" for number in range(25)]
    with costs.at_most(150):
        found = closest_matches_batch(wanted, TEN_THOUSAND, most=3, compared=12)
        # 60 ms where it was measured, most of it the letters of the names, which are kept; one by one 25 times as long.
    assert found[7][0].startswith("sleep_tracking_")
