"""What a model has read of skills and tools so far, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class LayoutState:
    """What a vendor may have kept of the requests so far.

    `skills` are those of the skills part, each with what its text follows from; `tools` the names of all tools that
    were listed, each with its capability_id, which is empty for the session's own. With the layout "append": `fixed`
    are the skills that were active before the first message, each with its arguments (None: it has not come yet),
    `appended` the digests of those whose text stands in the conversation. `expired` are skills that
    expired, or made room for others, and were not loaded again, each with the turn in which it went.
    `nearness` has what the conversation came near to, with the best score; `listed` the order of the list of skills,
    once it was written in a conversation that has begun.
    """

    skills: dict[str, tuple[str, str]] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    expired: dict[str, int] = field(default_factory=dict)
    fixed: dict[str, str] | None = None
    appended: dict[str, str] = field(default_factory=dict)
    nearness: dict[str, float] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)

    def replace(self, other: LayoutState) -> None:
        """Become what another one is: those who read this one go on with it."""
        vars(self).update(vars(other))

    def forget(self, capability_id: str) -> None:
        """A skill that is not to be used any more leaves with its tools."""
        self.skills.pop(capability_id, None)
        self.expired.pop(capability_id, None)
        self.appended.pop(capability_id, None)
        if self.fixed is not None:
            self.fixed.pop(capability_id, None)
        for name in [name for name, owner in self.tools.items() if owner == capability_id]:
            del self.tools[name]

    def as_row(self) -> dict[str, Any]:
        """For the text of a session. Lists, since canonical JSON has no order of keys."""
        return {
            "skills": [[name, *key] for name, key in self.skills.items()],
            "tools": [list(each) for each in self.tools.items()],
            "expired": [list(each) for each in self.expired.items()],
            "fixed": None if self.fixed is None else [list(each) for each in self.fixed.items()],
            "appended": self.appended,
            "nearness": self.nearness,
            "listed": self.listed,
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> LayoutState:
        """From `as_row`. Raises `ValueError`, `KeyError` or `TypeError` for what is none."""
        return cls(
            skills={str(name): (str(digest), str(arguments)) for name, digest, arguments in row["skills"]},
            tools={str(name): str(owner) for name, owner in row["tools"]},
            expired={str(name): int(turn) for name, turn in row["expired"]},
            fixed=None if row["fixed"] is None else {str(name): str(given) for name, given in row["fixed"]},
            appended={str(name): str(digest) for name, digest in row["appended"].items()},
            # A session that an earlier version saved has neither.
            nearness={str(name): float(score) for name, score in row.get("nearness", {}).items()},
            listed=[str(name) for name in row.get("listed", [])],
        )
