"""One difference between two releases, and reading values that may be of any type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from capability_rules.bundles.problem import Path

Effect = Literal["loosens", "breaks", "widens", "changes"]
# By weight, the heaviest first.
EFFECTS: Final[tuple[Effect, ...]] = ("loosens", "breaks", "widens", "changes")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two releases of a capability.

    `loosens`: a tool may do more, or with less approval, than before. `breaks`: a call that was right may be refused,
    or a user who could use it no longer can. `widens`: it reaches more than before. `changes`: everything else.
    `tool` and `host` are empty where it is about none. `path` leads to the place in the new text of `file`; None where
    that is gone.
    """

    effect: Effect
    tool: str
    words: str
    path: Path | None = None
    file: str = "tools.json"
    host: str = ""
