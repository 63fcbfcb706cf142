"""Where the instructions speak of what failed, so that an editor can begin there. Pure."""

from __future__ import annotations

import re
from typing import Final

from registry.usage.unmatched_messages import message_stems

# A line that shares fewer words with the sentence is about something else.
_SHARED_MIN: Final = 2


def find_line(skill_doc: str, *, tool: str = "", missing: str = "", reason: str = "") -> int | None:
    """The line, from 1, that names the argument and the tool, else the tool, else has most words of the reason."""
    lines = skill_doc.splitlines()
    for names in ([tool, missing], [missing], [tool]):
        if all(names):
            for number, line in enumerate(lines, start=1):
                if all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) for name in names):
                    return number
    stems = message_stems(reason) if reason else frozenset()
    shared = [(len(stems & message_stems(line)), -number) for number, line in enumerate(lines, start=1) if line.strip()]
    most, number = max(shared, default=(0, 0))
    return -number if most >= _SHARED_MIN else None
