"""References (`$ref`) within one document. Nothing is ever fetched."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from capability_kit.json_pointer import decode_step
from capability_rules.errors import SourceUnreadable
from features.tool_sources.readers.limits import LEVELS_MAX


class ReferenceLost(Exception):
    """It leads out of the document, to nothing, or in a circle; the message says which, for a person."""


class ReferenceTable:
    """Finds what a reference means."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def find(self, reference: str) -> Any:
        """What stands at `#/components/...`. Raises `ReferenceLost`."""
        address, _, fragment = reference.partition("#")
        if address:
            raise ReferenceLost(f"the reference {reference[:100]!r} leads out of the document")
        value = self._root
        for step in unquote(fragment).split("/")[1:]:
            key = decode_step(step)
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isdecimal() and int(key[:9]) < len(value):
                value = value[int(key)]
            else:
                raise ReferenceLost(f"the reference {reference[:100]!r} leads to nothing")
        return value

    def follow(self, value: Any) -> Any:
        """The value itself, or what its reference means in the end.

        Raises `ReferenceLost`, and `SourceUnreadable` where more than `LEVELS_MAX` references follow each other.
        """
        seen: set[str] = set()
        while isinstance(value, dict) and isinstance(value.get("$ref"), str):
            reference = value["$ref"]
            if reference in seen:
                raise ReferenceLost(f"the reference {reference[:100]!r} leads back to itself")
            if len(seen) == LEVELS_MAX:
                raise SourceUnreadable(f"More than {LEVELS_MAX} references lead to each other, at {reference[:100]!r}")
            seen.add(reference)
            value = self.find(reference)
        return value
