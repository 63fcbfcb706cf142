"""What a session reports of itself, turn by turn."""

from __future__ import annotations

import logging
from collections.abc import Callable

from capability_client.session.options import EVENTS_MAX, Event, EventKind
from capability_kit.text.sanitize import strip_surrogates
from capability_kit.tool_gate import ToolCall

logger: logging.Logger = logging.getLogger("capability_client.session")


class EventLog:
    """The latest events, and the number of the turn that they belong to: 0 before the first message."""

    def __init__(self, on_event: Callable[[Event], None] | None = None) -> None:
        self.turn: int = 0
        self.events: list[Event] = []
        self._on_event = on_event

    @property
    def last_id(self) -> int:
        """The `event_id` of the latest event; 0 where there is none."""
        return self.events[-1].event_id if self.events else 0

    def note(self, kind: EventKind, capability_id: str, words: str, *, call_id: str = "") -> None:
        """Add an event, and tell the host and the logger."""
        event = Event(self.turn, kind, capability_id, strip_surrogates(words), self.last_id + 1, call_id)
        self.events.append(event)
        del self.events[:-EVENTS_MAX]
        logger.info("%s %s%s", kind, f"{capability_id}: " if capability_id else "", event.words)
        if self._on_event is not None:
            self._on_event(event)

    def note_call(self, call: ToolCall, words: str) -> None:
        """Add what became of a call."""
        self.note("call", call.capability_id, f"{call.tool}: {words}", call_id=call.call_id)
