"""The messages of a conversation in no vendor's form, and what a model returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class ModelCall:
    """What a model wants to call, under the name that the session exported. `call_id` is the vendor's."""

    call_id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class ModelReply:
    """What a model says: words for the user, or calls."""

    text: str = ""
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class Message:
    """One message; of a tool, the text is its result as JSON and `call_id` that of the call."""

    role: Literal["user", "agent", "tool"]
    text: str
    calls: tuple[ModelCall, ...] = ()
    call_id: str = ""


# `(session, messages) -> ModelReply`; it reads `session.prompt()` and has `session.tools()`.
Model = Callable[[Any, Sequence[Message]], Any]
