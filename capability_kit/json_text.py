"""JSON that may not be any: texts of drafts, and rows that were damaged."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes | None) -> Any:
    """The value of a text; None where it is not JSON."""
    try:
        return json.loads(text or "")
    except (ValueError, RecursionError):
        return None
