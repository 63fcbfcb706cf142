"""Turns: what a message of the user leads to, and the messages between user, model and tools."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from weakref import ref

from capability_client.session import own_tools
from capability_client.session.active_skills import ActiveSkill
from capability_client.session.calls import SessionCalls, operation_of_call
from capability_client.session.conversation import (
    clean_message,
    cut_history,
    repair,
    result_text,
    shorten,
    shorten_turn,
    summary_message,
)
from capability_client.session.follow_ups import is_follow_up
from capability_client.session.hints import Hint, find_near_misses, hints_from_match, local_hints
from capability_client.session.introduction import ConversationStart
from capability_client.session.invocations import read_mentions
from capability_client.session.messages import Delta, Message, ModelCall, ModelReply, TurnRunning
from capability_client.session.operations import Operation, is_async, read_part
from capability_client.session.options import Event
from capability_client.session.skill_forms import FormRequired, SkillForm
from capability_client.session.state import no_turn
from capability_client.session.steps import Host, Steps, Together
from capability_client.session.system_prompt import notes_of
from capability_client.session.toolbox import Toolbox
from capability_kit.approvals import Approval
from capability_kit.environment.readiness import check_readiness
from capability_kit.errors import RegistryError, Unavailable, describe_exception
from capability_kit.sentences import say
from capability_kit.text.sanitize import one_line, strip_surrogates
from capability_kit.tool_gate import AnswerRequired, ApprovalRequired, ToolCall, ToolUnknown, find_tool

logger: logging.Logger = logging.getLogger("capability_client.session")
TOO_MANY_STEPS: Final = "I could not finish that; please ask me in smaller steps."
# Hints and near misses of a message.
NAMED_MAX: Final = 5
# How often a form is shown in one call.
SHOWN_MAX: Final = 3


@dataclass(frozen=True)
class Turn:
    """What one message of the user led to. `message` is without the `$name`s that were removed from it; `near_misses`
    are what it could mean besides the hints, with which they are five at most."""

    number: int
    message: str
    hints: tuple[Hint, ...]
    active: tuple[ActiveSkill, ...]
    events: tuple[Event, ...]
    near_misses: tuple[Hint, ...] = ()


class _RunningTurn:
    """Is there while a turn runs."""


class SessionTurns(SessionCalls):
    """The conversation, turn by turn."""

    def _started(self, first_run: str | None, history: Iterable[str]) -> Steps[ConversationStart]:
        if first_run is None:
            yield from self._need_list()
        wanted = first_run or self.index.first_run
        refused = self.introduction.refusal(self.user, wanted, history)
        if refused is not None:
            return refused
        self.introduction.begin(wanted)
        try:
            yield from self._loaded(wanted, explicit=True)
        except RegistryError as error:
            self.introduction.state = "none"
            return ConversationStart("skipped", f"The introduction could not be loaded: {error.message}")
        self._note("introduced", wanted, "the user is new and the conversation empty")
        return ConversationStart("introduced", "The user is new.", capability_id=wanted)

    def _turned(self, message: str) -> Steps[Turn]:
        with self._one_turn():
            return (yield from self._heard(message))

    def _heard(self, message: str) -> Steps[Turn]:
        """The user says something: old skills go, named ones are loaded, and what fits is hinted."""
        if not isinstance(message, str):
            raise TypeError(f"The message is a text, not {type(message).__name__}")
        message = strip_surrogates(message)
        before = self._event_count()
        self._fix_layout()
        self._count_turn()
        self._count_message()
        if not self.options.carry:
            self._drop_all("skills do not stay from one turn to the next")
        yield from self._need_list()
        rest, about = yield from self._invoked(message)
        self._hints, self._near_misses = yield from self._found_hints(about)
        self._note_nearness()
        # After matching: what the message is about is in use, and does not expire at this very moment.
        self._expire()
        events = tuple(event for event in self.events if event.event_id > before)
        return Turn(self.number, rest, self._hints, tuple(self.active), events, self._near_misses)

    def record_reply(self) -> None:
        """Record that the agent has replied; messages of both sides count for the end of an introduction."""
        self._count_message()

    def _count_message(self) -> None:
        if self.introduction.count_message():
            words = f"{self.introduction.messages} messages were said: it never starts by itself again"
            self._note("introduced", self.introduction.capability_id, words)

    def _invoked(self, message: str) -> Steps[tuple[str, str]]:
        """Load what the user named; the message before the first name, and the message to be matched."""
        mentions = read_mentions(message, self._known_entries())
        for written, near in mentions.misspellings:
            self._note("not_loaded", near, f"there is no skill ${one_line(written, most=64)}; the nearest is ${near}")
        named = {each.capability_id: each.arguments for each in mentions.invocations}
        if self.options.takes_plain_mentions:
            found = [name for name in self.index.names.find(mentions.message) if name not in self.disabled]
            named |= {name: "" for name in found if name not in named}
        # The first one named is the most important; it is used last, and so stands first.
        for capability_id in reversed(list(named)):
            try:
                yield from self._loaded(capability_id, arguments=named[capability_id], explicit=True)
            except RegistryError as error:
                self._note("not_loaded", capability_id, error.message)
        return mentions.message, mentions.without_names

    def _found_hints(self, message: str) -> Steps[tuple[tuple[Hint, ...], tuple[Hint, ...]]]:
        """The hints, and the near misses that are named beside them."""
        matched, near = yield from self._matched(message)
        current = next(iter(self.active), None)
        if current is not None and is_follow_up(message):
            self._mark_used(current.bundle)
            return (), ()
        for hint in matched:
            active = self.active.get(hint.capability_id)
            if active is not None and hint.capability_id not in self.disabled:
                self._mark_used(active.bundle)
        found = self._usable_hints(matched)
        for hint in found[self.options.hints_max :]:
            words = f"at most {self.options.hints_max} are hinted, and others have a higher priority"
            self._note("left_out", hint.capability_id, words)
        kept = found[: self.options.hints_max]
        for hint in kept:
            led = f"because of {hint.triggers[0]!r}" if hint.triggers else "by its meaning"
            self._note("hinted", hint.capability_id, led)
        room = NAMED_MAX - len(kept) if self.options.hints_max else 0
        return tuple(kept), tuple(self._usable_hints(near)[: max(0, room)])

    def _usable_hints(self, hints: Iterable[Hint]) -> list[Hint]:
        """Those of skills that are neither active nor disabled and work here, with what speaks against them."""
        found = []
        for hint in hints:
            if hint.capability_id in self.disabled or self.active.get(hint.capability_id) is not None:
                continue
            entry = self.index.entries[hint.capability_id]
            judged = check_readiness(entry, self.environment)
            if judged.status == "UNAVAILABLE":
                self._note("left_out", hint.capability_id, judged.reason)
                continue
            found.append(replace(hint, notes=notes_of(entry, judged)))
        return found

    def _note_nearness(self) -> None:
        """Remember what the conversation came near to; the list of skills begins with it."""
        for hint in (*self._hints, *self._near_misses):
            self.layout_state.nearness[hint.capability_id] = max(
                hint.score, self.layout_state.nearness.get(hint.capability_id, 0.0)
            )

    def _rows_asked(self) -> dict[str, int]:
        """As many rows as are named, of a matcher that can be told."""
        try:
            takes = "top_k" in inspect.signature(self.matcher).parameters if self.matcher is not None else False
        except (TypeError, ValueError):
            takes = False
        return {"top_k": NAMED_MAX} if takes else {}

    def _matched(self, message: str) -> Steps[tuple[list[Hint], list[Hint]]]:
        if self.matcher is None or not message.strip():
            yield from self._check_list(None)
            return local_hints(message, self.index.triggers, self.index.entries), []
        try:
            answer = yield Operation("match", partial(self.matcher, message, **self._rows_asked()))
        except RegistryError as error:
            self._note("index", "", f"Matching by the registry failed, by triggers instead: {error.message}")
            if not isinstance(error, Unavailable):
                yield from self._check_list(None)
            return local_hints(message, self.index.triggers, self.index.entries), []
        if not isinstance(answer, Mapping) or "decision" not in answer:
            raise TypeError("A matcher returns the response of capability_match, such as registry.match does")
        groups = answer.get("exclusive_groups")
        if isinstance(groups, list):
            self.exclusive_groups.update(group for group in groups if isinstance(group, str))
        yield from self._check_list(answer.get("registry_revision"))
        return hints_from_match(answer, self.index.entries), find_near_misses(answer, self.index.entries)

    # One whole turn.

    @contextmanager
    def _one_turn(self) -> Iterator[None]:
        """Raises `TurnRunning` where a turn is running: two at once would mix their messages.

        Held weakly: an interrupt in the one moment between beginning and `try` must not end the session for good.
        """
        turn = _RunningTurn()
        with self._turn_mutex:
            if self._running_turn() is not None:
                raise TurnRunning(
                    "A turn of this session is running, and a session runs one at a time. Wait for its end, close the "
                    "iterator of its steps, or use a session for each conversation"
                )
            self._running_turn = ref(turn)
            self._is_cancelled = False
        try:
            yield
        finally:
            self._running_turn = no_turn

    def _messages_of_turn(self, text: str, host: Host) -> Steps[None]:
        """Yields each message of the turn, beside what is to be called.

        Whatever ends it early, each open call gets a result: what is recorded is what a vendor accepts.
        """
        with self._one_turn():
            yield from self._heard(text)
            try:
                yield self._record(Message("user", text))
                yield from self._replies(host)
            finally:
                self.messages[:] = repair(
                    self.messages, was_running=self._is_tool_running, waiting=self._undecided_call_id
                )
                self._is_tool_running, self._undecided_call_id = False, ""
                self._forget_lost()

    def _replies(self, host: Host) -> Steps[None]:
        for _ in range(self.options.steps_max):
            yield from self._fit_messages()
            for loaded in self._appended_loads():
                yield self._record(loaded)
            reply = yield Operation("model", partial(host.model, self, tuple(self.messages)))
            if isinstance(reply, Iterator | AsyncIterator):
                reply = yield from self._streamed(reply)
            if not isinstance(reply, ModelReply):
                raise TypeError(f"A model returns a ModelReply, not {type(reply).__name__}")
            yield self._record(Message("agent", reply.text or "", tuple(reply.calls)))
            if not reply.calls:
                return
            question = ""
            ahead = yield from self._read_together(reply.calls, host)
            for call in reply.calls:
                try:
                    if call.call_id in ahead:
                        result = ahead[call.call_id]
                    else:
                        result = yield from self._result_for_model(call, host)
                except AnswerRequired as waiting:
                    question = waiting.ask.plain()
                    result = {"asked": question, "note": "The user's next message is the answer."}
                    self.gate.find(waiting.call_id).state = "done"
                yield self._record(Message("tool", result_text(result), call_id=call.call_id))
            if question:
                yield self._record(Message("agent", question))
                return
        yield self._record(Message("agent", say(TOO_MANY_STEPS)))

    def _streamed(self, stream: Iterator[Any] | AsyncIterator[Any]) -> Steps[ModelReply]:
        """The reply whose parts come one after the other: texts, and a `ModelReply` at the end where it calls tools.

        What was said when the turn ends early, the user has read: it is a message of its own.
        """
        read: Any = partial(read_part, stream) if isinstance(stream, AsyncIterator) else partial(next, stream, None)
        said: list[str] = []
        try:
            while (part := (yield Operation("delta", read))) is not None:
                if isinstance(part, ModelReply):
                    return part if part.text else replace(part, text="".join(said))
                said.append(_text_of(part))
                yield Delta(part)
        except BaseException:
            if said:
                self._record(Message("agent", "".join(said)))
            raise
        return ModelReply("".join(said))

    def _read_together(self, calls: Sequence[ModelCall], host: Host) -> Steps[dict[str, Any]]:
        """What the calls return that only read and that coroutine functions run, by `call_id`, where all do.

        A call that writes may change what the next one reads: then each waits for the one before.
        """
        ids = {call.call_id for call in calls}
        if len(calls) < 2 or len(ids) < len(calls) or not all(self._reads_async(call, host) for call in calls):
            return {}
        found = yield Together(tuple(self._result_for_model(call, host) for call in calls))
        return {call.call_id: result for call, result in zip(calls, found, strict=True)}

    def _reads_async(self, call: ModelCall, host: Host) -> bool:
        try:
            bundle, contract = find_tool(self._tools(), call.name)
        except ToolUnknown:
            return False
        policy, run = contract["policy"], self._executor(host.run)
        if policy["kind"] != "read" or policy.get("requires_approval") is True:
            return False
        return run.is_async(bundle.capability_id, contract["name"]) if isinstance(run, Toolbox) else is_async(run)

    def _record(self, message: Message) -> Message:
        if message.role == "agent" and not message.calls:
            self.record_reply()
        message = shorten(clean_message(message), self.options.tokens_estimate_max)
        self.messages.append(message)
        # What ran has its result now.
        self._is_tool_running = False
        return message

    def _fit_messages(self) -> Steps[None]:
        """Bring the conversation within its limits; what is left out stands in the place that `compact` returns."""
        options = self.options
        left_out, kept = cut_history(
            repair(self.messages), messages_max=options.messages_max, tokens_max=options.tokens_estimate_max
        )
        if left_out:
            summary = yield from self._compacted(tuple(left_out))
            tokens = sum(each.tokens_estimate for each in left_out)
            words = f"{len(left_out)} messages (about {tokens:,} tokens) are left out of the conversation"
            self._note("messages", "", words + (", and a summary is in their place" if summary else ""))
            kept = [*summary, *kept]
        self.messages[:] = shorten_turn(kept, options.tokens_estimate_max)
        if left_out:
            self._forget_lost()

    def _compacted(self, left_out: tuple[Message, ...]) -> Steps[list[Message]]:
        """At most one message. Where `compact` raises, the messages are left out without one."""
        if self.compact is None:
            return []
        try:
            text = yield Operation("compact", partial(self.compact, left_out))
        except Exception as error:
            logger.warning("compact failed", exc_info=True)
            self._note("messages", "", f"compact failed: {describe_exception(error)}")
            return []
        if not isinstance(text, str):
            raise TypeError(f"compact returns a text, not {type(text).__name__}")
        return [summary_message(text, self.options.tokens_estimate_max)] if text.strip() else []

    def _result_for_model(self, call: ModelCall, host: Host) -> Steps[Any]:
        """What the model reads, with what waits for a person decided. Raises `AnswerRequired` without `ask`."""
        try:
            return (yield from self._result_of(call.name, call.arguments, host.run))
        except ApprovalRequired as waiting:
            return (yield from self._result_of_decision(waiting.call, host))
        except FormRequired as waiting:
            return (yield from self._result_of_shown(waiting.form, host))
        except AnswerRequired as waiting:
            if host.ask is None:
                raise
            return self.answer(
                waiting.call_id, (yield Operation("ask", partial(host.ask, waiting.ask), call_id=waiting.call_id))
            ).result

    def _result_of_decision(self, call: ToolCall, host: Host) -> Steps[Any]:
        # Where nobody can answer now, the turn ends here and the call goes on waiting.
        self._undecided_call_id = call.call_id
        said = yield operation_of_call("approve", host.approve, call)
        self._undecided_call_id = ""
        approval = said if isinstance(said, Approval) else None
        if said is not True and approval is None:
            return self.result_of_rejected(call.call_id)
        by = self.user.name or "the user"
        return (yield from self._result_of_approved(call.call_id, approval, host.run, by))

    def _result_of_shown(self, form: SkillForm, host: Host) -> Steps[Any]:
        """What the user made of a form. One that was not taken is shown again, with the reason, a few times."""
        for _ in range(SHOWN_MAX):
            if host.show is None:
                break
            event = yield Operation("show", partial(host.show, form), form.capability_id, own_tools.FORM, form.call_id)
            if event is not None and not isinstance(event, Mapping):
                raise TypeError(f"show returns the form's event, or None, not {type(event).__name__}")
            try:
                result = yield from self._result_of_form(form.call_id, event, host.run)
            except ApprovalRequired as waiting:
                return (yield from self._result_of_decision(waiting.call, host))
            if form.state != "open":
                return result
        return self.result_of_unshown(form)


def _text_of(part: object) -> str:
    if not isinstance(part, str):
        raise TypeError(f"A model streams texts, and a ModelReply at its end, not {type(part).__name__}")
    return part
