"""The *Undo* button beside the message on what was just done: the reverse action, as one POST."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest
from django.shortcuts import resolve_url


@dataclass(frozen=True)
class Undo:
    """Where the form of the button is sent, and its fields; a field may have several values."""

    address: str
    fields: Mapping[str, str | Sequence[str]] = field(default_factory=dict)

    @classmethod
    def by(cls, url_name: str, *args: object, **fields: str | Sequence[str]) -> Undo:
        """The view of this name, such as `demand_bring_back`, which runs for a POST without a question."""
        return cls(resolve_url(f"studio:{url_name}", *args), fields)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Name and value of each hidden field."""
        return [
            (name, value)
            for name, values in self.fields.items()
            for value in ([values] if isinstance(values, str) else values)
        ]


def report_done(request: HttpRequest, words: str, undo: Undo | None = None) -> None:
    """Show a message on the next page, with the button where there is a way back."""
    # A message is stored as texts; its tags are the only one that is free.
    messages.success(request, words, extra_tags=json.dumps([undo.address, undo.fields]) if undo else "")


def undo_of(message: Message) -> Undo | None:
    """The way back that a message was stored with."""
    return Undo(*json.loads(message.extra_tags)) if message.extra_tags else None
