"""A comment stays at its sentence: by what it quotes, near to where it was."""

from __future__ import annotations

import random

import pytest

from registry.publishing.comment_anchors import find_line, quote_line
from tests import costs

TEXT = "# Title\n\nAsk for the day.\n\n- yes\n- no\n\n- yes\n"


@pytest.mark.parametrize(
    ("quote", "line", "expected"),
    [
        ("Ask for the day.", 3, 3),
        ("Ask for the day.", 40, 3),
        # The same words twice: the nearer ones.
        ("- yes", 5, 5),
        ("- yes", 7, 8),
        # Edited, and indented otherwise.
        ("Ask for the date.", 2, 3),
        ("    - no", 6, 6),
        # Gone.
        ("Book the tuner at once.", 3, None),
        # An empty line has its place alone.
        ("", 2, 2),
        ("", 3, None),
        ("", 90, None),
    ],
)
def test_a_line_is_found_again(quote: str, line: int, expected: int | None) -> None:
    assert find_line(quote, line, TEXT) == expected


def test_what_is_far_away_and_only_alike_is_another_line() -> None:
    assert find_line("Ask for the day!", 3, "\n" * 100 + "Ask for the day.") is None


def test_long_lines_that_are_all_alike_cost_no_more_than_short_ones() -> None:
    """A page asks for each open comment."""
    dice = random.Random(7)
    words = [f"word{dice.randrange(300)}" for _ in range(100)]
    lines = [[word if dice.random() < 0.8 else f"word{dice.randrange(300)}" for word in words] for _ in range(121)]
    text = "\n".join(map(" ".join, lines))
    quote = " ".join(words)
    with costs.at_most(20):
        assert find_line(quote, 60, text) is not None


def test_a_quote_is_the_line() -> None:
    assert [quote_line(TEXT, line) for line in (1, 3, 99, None)] == ["# Title", "Ask for the day.", "", ""]
