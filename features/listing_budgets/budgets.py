"""How much of a list of skills each client shows to its model: the rows of `budgets.toml`, and our own session."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from django.utils.translation import gettext_lazy

from capability_client.session.options import LISTED_CHARACTERS_MAX, LISTED_TOKENS_MAX

_FILE: Final = Path(__file__).parent / "budgets.toml"
_CHARACTERS_A_TOKEN: Final = 4
# `capability_client/session/system_prompt.py` counts the sign of what is cut off as three.
_LINE_MAX: Final = _CHARACTERS_A_TOKEN * LISTED_TOKENS_MAX - 3


@dataclass(frozen=True, slots=True)
class ListingBudget:
    """What one client lists, in characters; the keys are those of `budgets.toml`; 0: unlimited.

    `line_max` is the length of a whole line, and `is_ranked` says that the order is that of a session: by priority and
    use.
    """

    id: str
    name: Any
    line: str
    bare: str
    overflow: str
    source: Any
    date: date
    each: int = 0
    all: int = 0
    names: int = 0
    line_max: int = 0
    is_escaped: bool = False
    is_ranked: bool = False


_SESSION: Final = ListingBudget(
    "session",
    gettext_lazy("Session of capability_client"),
    "- {capability_id}: {description}",
    "",
    overflow="stop",
    source=gettext_lazy("capability_client; every other skill is hinted when a message fits it"),
    date=date(2026, 11, 29),
    all=LISTED_CHARACTERS_MAX,
    line_max=_LINE_MAX,
    is_ranked=True,
)


@cache
def list_budgets() -> tuple[ListingBudget, ...]:
    """All of them, in the order in which pages have them."""
    rows = tomllib.loads(_FILE.read_text("utf-8"))["budget"]
    return (*(ListingBudget(**row) for row in rows), _SESSION)
