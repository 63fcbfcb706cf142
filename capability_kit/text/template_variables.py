"""Template variables of a skill: `$ARGUMENTS`, and those that the host program sets, such as `$FILE`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_VARIABLE: Final = re.compile(r"\$(?:\{([A-Z][A-Z0-9_]{0,63})\}|([A-Z][A-Z0-9_]{0,63})\b)")


def substitute(text: str, values: Mapping[str, str]) -> str:
    """`$NAME` and `${NAME}` replaced once; a name that was not given, or is empty, stays as it is written.

    Values are not looked through again, so that a value cannot bring a variable of its own.
    """

    def value(found: re.Match[str]) -> str:
        return values.get(found[1] or found[2]) or found[0]

    return _VARIABLE.sub(value, text)
