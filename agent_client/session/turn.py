"""What one message led to."""

from __future__ import annotations

from dataclasses import dataclass

from agent_client.session.active_skills import ActiveSkill
from agent_client.session.hints import Hint
from agent_client.session.options import Event


@dataclass(frozen=True)
class Turn:
    """One message of the user. `message` is without the `$name`s that were removed from it."""

    number: int
    message: str
    hints: tuple[Hint, ...]
    active: tuple[ActiveSkill, ...]
    events: tuple[Event, ...]
