"""Paths into the data model, read as A2UI's renderers read them.

A path that begins with `/` starts at the root of the data; any other starts at the list item that a template draws.
Differences from RFC 6901, both from a2ui-core: empty steps are passed over (`/` is the whole data), and a path without
`/` is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from capability_kit.json_pointer import decode_step

# docs/ui-schemas.md 2: the official pattern.
_SYNTAX = re.compile(r"(?:/(?:[^~/]|~[01])*)*|(?:[^~/]|~[01])+(?:/(?:[^~/]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")

MISSING: Any = object()


def is_well_formed(path: str) -> bool:
    """Whether `path` has A2UI's pointer syntax: `~` only as `~0` or `~1`."""
    return _SYNTAX.fullmatch(path) is not None


def is_relative(path: str) -> bool:
    """Whether `path` needs a list item to start from. The empty path does not: outside a list it is the root."""
    return bool(path) and not path.startswith("/")


def parse_path(path: str) -> tuple[str, ...]:
    """Split a path into its unescaped steps. `.` alone is the place itself."""
    if path in ("", "/", "."):
        return ()
    return tuple(decode_step(step) for step in path.split("/") if step)


def resolve(start: Any, steps: Sequence[str]) -> tuple[Any, int]:
    """Follow `steps` from `start`.

    Returns the value and the number of steps taken; the value is `MISSING` where a step led nowhere.
    """
    value = start
    for taken, step in enumerate(steps):
        found = step_into(value, step)
        if found is MISSING:
            return MISSING, taken
        value = found
    return value, len(steps)


def step_into(value: Any, step: str) -> Any:
    """Take one step into an object or a list; `MISSING` where there is nothing."""
    if isinstance(value, dict):
        return value.get(step, MISSING)
    if isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
        return value[int(step)]
    return MISSING


def join_paths(steps: Sequence[str], *, is_absolute: bool) -> str:
    """Write steps as a path."""
    text = "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)
    return "/" + text if is_absolute else text
