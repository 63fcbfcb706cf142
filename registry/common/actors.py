"""Who does something: every verb that writes names its actor, and the audit row keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

ActorKind = Literal["operator", "agent_key", "command_line", "system"]
# At a terminal people have the name of their account.
PEOPLE: Final[tuple[ActorKind, ...]] = ("operator", "command_line")


@dataclass(frozen=True, slots=True)
class Actor:
    """`name` is an operator's username, a key's name, the login name at a terminal, or the job at work."""

    kind: ActorKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


SYSTEM = Actor("system", "registry")


def parse_actor(text: str) -> Actor:
    """The actor that a column keeps as a text; the system where it names nobody else."""
    kind, _, name = text.partition(":")
    kinds: dict[str, ActorKind] = {"operator": "operator", "agent_key": "agent_key", "command_line": "command_line"}
    return Actor(kinds.get(kind, "system"), name)
