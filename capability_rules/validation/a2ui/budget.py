"""What one check has left to spend, and the small words that every message needs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from capability_rules.bundles.problem import FileName, Path, RawFinding, Severity
from capability_rules.validation.a2ui.limits import HINTS_MAX, STEPS_MAX
from capability_rules.validation.a2ui.walk import depth_of

FILE: FileName = "ui_schemas.json"

_WORD_CHARACTERS_MAX = 64
_CANDIDATES_MAX = 100
_SHOWN_CHARACTERS_MAX = 60


@dataclass(slots=True)
class Budget:
    """The budget of one call: how many steps and how many spelling hints are left."""

    steps_left: int = STEPS_MAX
    hints_left: int = HINTS_MAX
    _known: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def spend(self, steps: int) -> bool:
        """Take `steps` from the budget; False when they are not there."""
        self.steps_left -= steps
        return self.steps_left >= 0

    def nearest(self, word: object, candidates: Iterable[str]) -> str:
        """Give the candidate that `word` was probably meant to be, or "".

        Comparing spellings is slow, so only so many hints are worked out for one file; a file that needs more has
        shown its trouble by then.
        """
        if not isinstance(word, str) or not 0 < len(word) <= _WORD_CHARACTERS_MAX:
            return ""
        options = tuple(islice((c for c in candidates if len(c) <= _WORD_CHARACTERS_MAX), _CANDIDATES_MAX))
        if (word, options) not in self._known:
            if self.hints_left <= 0:
                return ""
            self.hints_left -= 1
            self._known[word, options] = _closest(word, options)
        return self._known[word, options]

    def did_you_mean(self, word: object, candidates: Iterable[str], otherwise: str) -> str:
        """Make a hint: the nearest candidate, or `otherwise` where none is near."""
        found = self.nearest(word, candidates)
        return f"Did you mean '{found}'?" if found else otherwise


def _closest(word: str, options: tuple[str, ...]) -> str:
    lower = {option.lower(): option for option in options}
    found = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return lower[found[0]] if found else ""


def build_finding(
    code: str,
    path: Path,
    message: str,
    hint: str = "",
    *,
    at_key: bool = False,
    offset: int | None = None,
    severity: Severity | None = None,
) -> RawFinding:
    """Build a finding in ui_schemas.json; the message gets a capital letter."""
    message = message[:1].upper() + message[1:]
    return RawFinding(code, FILE, path, message, hint, at_key=at_key, offset=offset, severity=severity)


def quote_value(value: object) -> str:
    """Write a value as JSON for a message, cut to a readable length."""
    if isinstance(value, dict | list) and (len(value) > _SHOWN_CHARACTERS_MAX or depth_of(value, 3) > 3):
        return json_type(value)
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _SHOWN_CHARACTERS_MAX:
        return text
    return json_type(value) if isinstance(value, dict | list) else text[:_SHOWN_CHARACTERS_MAX] + "..."


def json_type(value: object) -> str:
    """Name the JSON type in plain words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names: dict[type, str] = {str: "a string", int: "a number", float: "a number", list: "an array", dict: "an object"}
    return names.get(type(value), type(value).__name__)


def join_words(words: Iterable[str], most: int = 12) -> str:
    """Join words for a message: `a, b, c`, the rest as dots."""
    shown = list(islice(words, most + 1))
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")


def component_name(component: dict[str, Any]) -> str:
    """Call a component by its id and type, as an author would look for it: `component 'save' (Button)`."""
    identity, kind = component.get("id"), component.get("component")
    name = f"component {_quoted(identity)}" if isinstance(identity, str) and identity else "a component without an id"
    return f"{name} ({kind[:40]})" if isinstance(kind, str) and kind else name


def _quoted(text: str) -> str:
    return f"'{text[:_SHOWN_CHARACTERS_MAX]}'"
