"""Whether a value contains another one, as mocks and expected calls name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def contains(value: Any, wanted: Any) -> bool:
    """Objects have the wanted keys, lists have each wanted element somewhere, texts are equal but for `*`, which stands
    for anything, and numbers are equal by their value."""
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and all(
            name in value and contains(value[name], each) for name, each in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return isinstance(value, list | tuple) and all(any(contains(one, each) for one in value) for each in wanted)
    if isinstance(wanted, str):
        return isinstance(value, str) and fits_text(value, wanted)
    if isinstance(wanted, bool) or isinstance(value, bool) or wanted is None:
        return value is wanted
    return isinstance(value, int | float) and value == wanted


def fits_text(text: str, pattern: str) -> bool:
    """Whether the whole text is the pattern, in which `*` stands for anything; in linear time."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    if not text.startswith(first) or len(text) < len(first) + len(rest[-1]) or not text.endswith(rest[-1]):
        return False
    at, end = len(first), len(text) - len(rest[-1])
    for part in rest[:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
