"""The first meeting (docs/requirements.md B): once, one at a time, and over for good after four messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from capability_client.session.options import INTRODUCTION_MESSAGES, User
from capability_kit.sentences import say
from capability_kit.text.sanitize import one_line

State = Literal["none", "running", "over"]
Kind = Literal["introduced", "greeted", "skipped"]
# What a runtime writes into a conversation by itself; a user did not say it.
SYSTEM_PREFIXES: Final = ("You are running a scheduled", "[New user just opened", "[User ")


@dataclass(frozen=True, slots=True)
class ConversationStart:
    """How the session began. `greeting` is what the agent says to a known user; `words` say why."""

    kind: Kind
    words: str
    greeting: str = ""
    capability_id: str = ""


@dataclass
class Introduction:
    """The state of the introduction. `messages` counts both sides."""

    state: State = "none"
    messages: int = 0
    capability_id: str = ""

    def refusal(self, user: User, first_run: str, history: Iterable[str]) -> ConversationStart | None:
        """Why there is no introduction now; None where there is one."""
        if self.state == "running":
            return ConversationStart("skipped", "An introduction is running already in this session.")
        if self.state == "over":
            return ConversationStart("skipped", "The introduction has taken place in this session.")
        if self.messages or any(is_said_by_user(text) for text in history):
            return ConversationStart("skipped", "The conversation has begun already.")
        if user.is_known:
            return ConversationStart("greeted", "The user is known.", greeting=greeting(user))
        return (
            None if first_run else ConversationStart("skipped", "The registry names no capability for the first run.")
        )

    def begin(self, capability_id: str) -> None:
        """Note that the introduction by this capability is under way."""
        self.state, self.capability_id = "running", capability_id

    def count_message(self) -> bool:
        """One more message, of either side. True where it ends the introduction."""
        self.messages += 1
        if self.state == "running" and self.messages >= INTRODUCTION_MESSAGES:
            self.state = "over"
            return True
        return False


def is_said_by_user(text: str) -> bool:
    """Whether a message of the history is a real one."""
    return bool(text.strip()) and not text.startswith(SYSTEM_PREFIXES)


def greeting(user: User) -> str:
    """For a known user."""
    name = one_line(user.name, most=60)
    if not name:
        return say("Good to see you again. What can I help with?")
    return say("Hey {name}, good to see you. What can I help with?", name=name)
