# ruff: noqa: RUF001 -- punctuation of other scripts is what is looked for here.
"""Where the sentences of a text are, for the classifier, the powers and the quotations in messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_END: Final = re.compile(r"[.!?]+(?=[\s\"')\]*_`<]|\Z)|[;。！？；।؟\n\0]")
_LONGEST: Final = 600
Span = tuple[int, int]


def split_sentences(text: str) -> list[Span]:
    """The places of the sentences, in order and without a gap, each cut at 600 characters. Line breaks and the ends of
    an author's strings end a sentence, so `unwrap_lines` comes first."""
    found: list[Span] = []
    start = 0
    ends = [match.end() for match in _END.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    for end in ends:
        while start < end:
            found.append((start, min(end, start + _LONGEST)))
            start = found[-1][1]
    return found


def paragraph_around(text: str, start: int, end: int, reach: int, ends: Sequence[str] = ("\n\n",)) -> str:
    """A place of a text with so much of its paragraph before and behind it; `ends` are what ends a paragraph."""
    before, after = text[max(start - reach, 0) : start], text[end : end + reach]
    for cut in ends:
        before, after = before.rpartition(cut)[2], after.partition(cut)[0]
    return before + text[start:end] + after
