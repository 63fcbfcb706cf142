"""Who does something: every verb that writes names its actor, and the audit row keeps it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final, Literal

ActorKind = Literal["operator", "agent_key", "command_line", "system"]
# At a terminal people have the name of their account.
PEOPLE: Final[tuple[ActorKind, ...]] = ("operator", "command_line")

# Of the columns that count by it.
_REPORTER_LENGTH_MAX: Final = 80


@dataclass(frozen=True, slots=True)
class Actor:
    """`name` is an operator's username, a key's name, the login name at a terminal, or the job at work; `via` the host
    of the assistant that acts for an operator, empty where they act themselves."""

    kind: ActorKind
    name: str
    via: str = field(default="", compare=False)

    @property
    def reporter(self) -> str:
        """Under which name usage, feedback and proposals are counted, at most 80 characters: that of a key, or, for an
        operator by an assistant, both."""
        if not self.via:
            return self.name
        whole = f"{self.name} · {self.via}"
        if len(whole) <= _REPORTER_LENGTH_MAX:
            return whole
        mark = hashlib.sha256(whole.encode()).hexdigest()[:8]
        return f"{self.name[:30]}~{mark} · {self.via[-38:]}"

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


SYSTEM = Actor("system", "registry")


def parse_actor(text: str) -> Actor:
    """The actor that a column keeps as a text; the system where it names nobody else."""
    kind, _, name = text.partition(":")
    kinds: dict[str, ActorKind] = {"operator": "operator", "agent_key": "agent_key", "command_line": "command_line"}
    return Actor(kinds.get(kind, "system"), name)
