"""JSON that may not be any: texts of drafts, and rows that were damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def parse_json(text: str | bytes | None) -> Any:
    """The value of a text; None where it is not JSON."""
    try:
        return json.loads(text or "")
    except (ValueError, RecursionError):
        return None


def map_texts(value: Any, change: Callable[[str], str], change_key: Callable[[str], str] = str) -> Any:
    """The value with each text in it as `change` returns it, and each name of a key as `change_key` does."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [map_texts(one, change, change_key) for one in value]
    if isinstance(value, dict):
        return {change_key(str(name)): map_texts(one, change, change_key) for name, one in value.items()}
    return value


def as_mapping(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one: a draft and an old revision may have any JSON there."""
    return value if isinstance(value, dict) else {}


def as_strings(value: Any) -> list[str]:
    """The strings of a list, each once, in its order."""
    return list(dict.fromkeys(item for item in value if isinstance(item, str))) if isinstance(value, list) else []


def as_string(value: Any) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""
