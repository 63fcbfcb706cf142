"""Documents of sets for tests."""

from __future__ import annotations

from typing import Any

from registry.common.actors import Actor

COMMAND = Actor("command_line", "root")


def document(*members: str | tuple[str, int], set_id: str = "desk", **more: Any) -> dict[str, Any]:
    """The document of a set of these members; a pair is pinned."""
    rows = [
        {"capability_id": each} if isinstance(each, str) else {"capability_id": each[0], "revision": each[1]}
        for each in members
    ]
    return {"set_id": set_id, "name": "Desk", "description": "What the desk needs.", "members": rows} | more
