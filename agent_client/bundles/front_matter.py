"""The front matter of a SKILL.md, as far as an agent needs it: scalars, one per line, and folded strings.

The registry reads YAML in full and says what is wrong with it; here a line that is not understood is left out.
"""

from __future__ import annotations

import re
from typing import Final

_BYTES_MAX: Final = 16 * 1024
_PAIR: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,63}):(?:[ \t]+(.*))?$")


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """`(scalars, body)`; without front matter the whole text is the body."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return {}, text
    end = text.find("\n---", 3)
    after = text[end + 4 : end + 5]
    if end < 0 or end > _BYTES_MAX or after not in ("", "\n"):
        return {}, text
    return _scalars(text[4:end].split("\n")), text[end + 5 :]


def _scalars(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    index = 0
    while index < len(lines):
        pair = _PAIR.match(lines[index])
        index += 1
        if pair is None:
            continue
        value = (pair[2] or "").strip()
        if value in ("|", ">", "|-", ">-"):
            block = []
            while index < len(lines) and (not lines[index].strip() or lines[index].startswith(" ")):
                block.append(lines[index].strip())
                index += 1
            value = (" " if value.startswith(">") else "\n").join(block).strip()
        found[pair[1]] = _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
