"""The messages of a conversation, within its limits, and the introduction that they end."""

from __future__ import annotations

import logging
from functools import partial

from capability_client.session.context import SessionContext
from capability_client.session.conversation import (
    clean_message,
    cut_history,
    repair,
    shorten,
    shorten_turn,
    summary_message,
)
from capability_client.session.introduction import Introduction
from capability_client.session.log import EventLog
from capability_client.session.messages import Message
from capability_client.session.operations import Operation
from capability_client.session.steps import Steps
from capability_kit.errors import describe_exception

logger: logging.Logger = logging.getLogger("capability_client.session")


class MessageHistory:
    """What was said, the oldest first: as every vendor accepts it once a turn is over."""

    def __init__(self, context: SessionContext, log: EventLog) -> None:
        self._context = context
        self._log = log
        self.messages: list[Message] = []
        self.introduction: Introduction = Introduction()

    def record(self, message: Message) -> Message:
        """Add a message as JSON can hold it, shortened where it is too long alone; the one that is kept."""
        if message.role == "agent" and not message.calls:
            self.count()
        message = shorten(clean_message(message), self._context.options.tokens_estimate_max)
        self.messages.append(message)
        return message

    def count(self) -> None:
        """One more message of either side; they count for the end of an introduction."""
        if self.introduction.count_message():
            words = f"{self.introduction.messages} messages were said: it never starts by itself again"
            self._log.note("introduced", self.introduction.capability_id, words)

    def repair(self, *, was_running: bool, waiting: str) -> None:
        """Give each open call a result, as `conversation.repair` does."""
        self.messages[:] = repair(self.messages, was_running=was_running, waiting=waiting)

    def fit(self) -> Steps[bool]:
        """Bring the conversation within its limits; what is left out stands in the place that `compact` returns.

        Whether anything was left out.
        """
        options = self._context.options
        left_out, kept = cut_history(
            repair(self.messages), messages_max=options.messages_max, tokens_max=options.tokens_estimate_max
        )
        if left_out:
            summary = yield from self._compacted(tuple(left_out))
            tokens = sum(each.tokens_estimate for each in left_out)
            words = f"{len(left_out)} messages (about {tokens:,} tokens) are left out of the conversation"
            self._log.note("messages", "", words + (", and a summary is in their place" if summary else ""))
            kept = [*summary, *kept]
        self.messages[:] = shorten_turn(kept, options.tokens_estimate_max)
        return bool(left_out)

    def _compacted(self, left_out: tuple[Message, ...]) -> Steps[list[Message]]:
        """At most one message. Where `compact` raises, the messages are left out without one."""
        if self._context.compact is None:
            return []
        try:
            text = yield Operation("compact", partial(self._context.compact, left_out))
        except Exception as error:
            logger.warning("compact failed", exc_info=True)
            self._log.note("messages", "", f"compact failed: {describe_exception(error)}")
            return []
        if not isinstance(text, str):
            raise TypeError(f"compact returns a text, not {type(text).__name__}")
        return [summary_message(text, self._context.options.tokens_estimate_max)] if text.strip() else []
