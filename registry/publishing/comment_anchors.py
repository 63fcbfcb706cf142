"""Where a comment stands in a text that was edited since: by the line that it quotes and the place that it had."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final

# How alike a line must be to be the one that was commented on, as SequenceMatcher counts it.
_ALIKE_LEAST: Final = 0.6
# An edited line is looked for this near to its place; more would cost time, and find another one.
_NEAR_LINES: Final = 60
QUOTE_MAX: Final = 4000
# Two lines are compared by so many characters of their beginnings: the time grows with the square, a second at 800.
_COMPARED_MAX: Final = 200


def quote_line(text: str, line: int | None) -> str:
    """Return a line of a text, from 1; empty without one."""
    lines = text.split("\n")
    return lines[line - 1][:QUOTE_MAX] if line is not None and line <= len(lines) else ""


def find_line(quote: str, line: int, text: str) -> int | None:
    """Return the line of a text that a comment on `line` is about now; None where it is gone.

    That is the nearest one that reads the same, else the one near its place that is most like it.
    """
    wanted = quote.strip()
    lines = [one.strip()[:QUOTE_MAX] for one in text.split("\n")]
    if not wanted:
        return line if line <= len(lines) and not lines[line - 1] else None
    same = [number for number, one in enumerate(lines, 1) if one == wanted]
    if same:
        return min(same, key=lambda number: abs(number - line))
    matcher = SequenceMatcher(b=wanted[:_COMPARED_MAX], autojunk=False)
    found, best = None, _ALIKE_LEAST
    for number in range(max(1, line - _NEAR_LINES), min(len(lines), line + _NEAR_LINES) + 1):
        matcher.set_seq1(lines[number - 1][:_COMPARED_MAX])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            found, best = number, matcher.ratio()
    return found
