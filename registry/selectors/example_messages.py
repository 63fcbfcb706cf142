"""A message that an author says the capability is for."""

from __future__ import annotations

import json
from typing import Final

_LENGTH_MAX: Final = 200


def read_first_example(capability_json: str | None) -> str:
    """Return the first message that capability.json names as matching; "" without one."""
    try:
        found = json.loads(capability_json or "")["utterances"]["should_match"][0]
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
    return found[:_LENGTH_MAX] if isinstance(found, str) else ""
