"""The messages of a conversation in no vendor's form, and what a model returns."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from capability_kit.prompt import estimate_tokens

# What a vendor adds to each message and each call: role, ids, brackets.
_FRAME_TOKENS: Final = 8


@dataclass(frozen=True)
class ModelCall:
    """What a model wants to call, under the name that the session exported. `call_id` is the vendor's."""

    call_id: str
    name: str
    arguments: object

    @cached_property
    def arguments_text(self) -> str:
        """The arguments as JSON; a text stays as it is."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class ModelReply:
    """What a model says: words for the user, or calls."""

    text: str = ""
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """A part of what the agent says, while the model is still writing."""

    text: str


@dataclass(frozen=True)
class Message:
    """One message; of a tool, the text is its result as JSON and `call_id` that of the call."""

    role: Literal["user", "agent", "tool"]
    text: str
    calls: tuple[ModelCall, ...] = ()
    call_id: str = ""

    @cached_property
    def tokens_estimate(self) -> int:
        """About how many tokens it takes: an estimate, as `Prompt.tokens_estimate`."""
        given = "".join(each.name + json.dumps(each.arguments, ensure_ascii=False, default=str) for each in self.calls)
        return estimate_tokens(self.text + given) + _FRAME_TOKENS * (1 + len(self.calls))


# The messages that no longer fit -> a text in their place, such as a summary; an empty one for nothing.
Compactor = Callable[[Sequence[Message]], str | Awaitable[str]]


class TurnCancelled(RuntimeError):
    """`cancel()` has ended this turn; what was said so far is in `messages`."""


class TurnRunning(RuntimeError):
    """A turn of this session is running already, and a session runs one at a time."""
