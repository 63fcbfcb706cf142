"""Text from elsewhere on one line of ours: it cannot begin a new line, and it has an end."""

from __future__ import annotations

import re
from typing import Final

_HALVES: Final = re.compile(r"[\ud800-\udfff]")
# Line ends of every kind, control characters, and what turns the direction of the text around it.
_BREAKS: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+")


def strip_surrogates(text: str) -> str:
    """`text` with U+FFFD for each half character (a lone surrogate), which no encoding can write. Places stay true."""
    return _HALVES.sub("\ufffd", text)


def one_line(text: str, *, most: int = 200) -> str:
    """`text` without line ends and control characters, and with `…` where it was longer than `most` characters."""
    line = _BREAKS.sub(" ", strip_surrogates(text[: most * 4])).strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
