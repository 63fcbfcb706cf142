"""Names that claim a rank which nobody but the registry could give: "official", "verified"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from capability_rules.bundles.problem import Path, RawFinding

_CLAIMS: Final = frozenset({"official", "verified", "certified", "genuine", "trusted"})
_KINDS: Final = frozenset({"verified", "certified", "trusted"})
_PART: Final = re.compile(r"[^\W_]+")
_HINT: Final = "Say what it does, and leave out who vouches for it: the registry shows who published it."


def check_claimed_status(capability: object, tools: list[Any]) -> list[RawFinding]:
    """Ids and names of capabilities with such a word in them; names of tools that begin or end with one, since a tool
    may list what was verified."""
    found: list[RawFinding] = []
    for key in ("capability_id", "name"):
        value = capability.get(key) if isinstance(capability, dict) else None
        if isinstance(value, str):
            found += _claims(value, _parts(value), "capability.json", (key,))
    for index, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if isinstance(name, str):
            parts = _parts(name)
            found += _claims(name, [*parts[:1], *parts[1:][-1:]], "tools.json", (index, "name"))
    return found


def _parts(name: str) -> list[str]:
    return [part.casefold() for part in _PART.findall(name[:200])]


def _claims(name: str, parts: list[str], file: str, path: Path) -> Iterator[RawFinding]:
    # "certified variables" are a kind of things that it is about: many, and nobody's rank.
    of_many = len(parts) > 1 and parts[-1].endswith("s") and not parts[-1].endswith("ss")
    claimed = next((part for part in parts if part in _CLAIMS), "")
    claimed = "" if of_many and parts[0] == claimed in _KINDS else claimed
    if claimed:
        message = f"The name {name[:80]!r} claims to be {claimed}, which no text can vouch for."
        yield RawFinding("SEC_CLAIMED_STATUS", file, path, message, _HINT)
