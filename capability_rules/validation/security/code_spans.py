"""Code spans of Markdown (CommonMark 6.1): what is between two runs of as many backticks."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

PARAGRAPH_END: Final = re.compile(r"\n[ \t]*(?=\n)|\0")
LINE_END: Final = re.compile(r"\n")
_BACKTICKS: Final = re.compile(r"`+")


def find_code_spans(text: str, block_end: re.Pattern[str]) -> list[int]:
    """Where code spans begin (even places) and end (odd places), if blocks end where `block_end` matches: between two
    runs of as many backticks (CommonMark 6.1). Linear in the length of the text."""
    ends = [match.start() for match in block_end.finditer(text)]
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    alike: dict[tuple[int, int], list[int]] = {}
    for number, (start, end) in enumerate(runs):
        alike.setdefault((bisect_right(ends, start), end - start), []).append(number)
    edges: list[int] = []
    number = 0
    while number < len(runs):
        start, end = runs[number]
        # A backslash before the first backtick takes it out of the run that opens, not out of one that closes.
        is_escaped = (start - len(text[max(start - 50, 0) : start].rstrip("\\")) - max(start - 50, 0)) % 2
        of_length = alike.get((bisect_right(ends, start), end - start - is_escaped), [])
        closing = bisect_right(of_length, number)
        if closing < len(of_length):
            edges += [start, runs[of_length[closing]][1]]
            number = of_length[closing]
        number += 1
    return edges
