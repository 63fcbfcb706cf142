"""The name under which a model sees a tool: `{capability_id}__{tool_name}`, so that no two capabilities collide.

A capability_id contains no `__`, so that the name can be parsed; vendors accept at most 64 characters.
"""

from __future__ import annotations

import hashlib
from typing import Final

SEPARATOR: Final = "__"
LENGTH_MAX: Final = 64
_KEPT: Final = 55


def wire_name(capability_id: str, tool_name: str) -> str:
    """`{capability_id}__{tool_name}`; over 64 characters the first 55, `_` and 8 hex digits of its SHA-256."""
    name = f"{capability_id}{SEPARATOR}{tool_name}"
    if len(name) <= LENGTH_MAX:
        return name
    return f"{name[:_KEPT]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
