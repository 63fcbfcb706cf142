"""The prose of a skill doc: what it is about, without code, tables' lines and marks of Markdown."""

from __future__ import annotations

import re
from typing import Final

# What a skill is about stands at its beginning; more of it makes the vectors of all skills alike.
PROSE_MAX: Final = 2000
# So much of a skill doc has the prose, marks and code included.
READ_MAX: Final = 10_000
_FENCE: Final = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_FRONT_MATTER: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_MARKS: Final = re.compile(r"[#*`_|>~-]+")


def extract_prose(skill_doc: str) -> str:
    """The first 2,000 characters of a skill doc's prose, on one line; empty where there is none."""
    text = _FRONT_MATTER.sub("", skill_doc[:READ_MAX].replace("\r\n", "\n"))
    return " ".join(_MARKS.sub(" ", _FENCE.sub(" ", text)).split())[:PROSE_MAX]
