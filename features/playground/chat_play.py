"""A chat of the playground, played from its steps: a session as agents have it, stopped where a person comes next."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from capability_client.evaluation.model_port import VendorModel
from capability_client.evaluation.running import (
    answer_by,
    everything_there,
    example_result,
    find_mock,
    list_loads,
)
from capability_client.session.messages import Message, ModelCall, ModelReply
from capability_client.session.session import Session
from capability_client.session.skill_forms import SkillForm
from capability_kit.evaluation_cases import ToolMock
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import ToolCall
from capability_rules.errors import InvalidRequest
from features.evaluations.clean_json import clean_json
from features.playground.models import PlaygroundChat, PlaygroundStep
from features.playground.sessions import describe_event, open_session

if TYPE_CHECKING:
    from features.evaluations.sides import PlayedSide

REPLY_LENGTH_MAX: Final = 32_000
Kind = PlaygroundStep.Kind


class StepsDiverged(InvalidRequest):
    """What was said does not fit what is there now."""


@dataclass(frozen=True, slots=True)
class AwaitedStep:
    """What comes next: `model`, `approval`, `result` or `form`; `example` is what a tool would answer."""

    kind: str
    call: ToolCall | None = None
    form: SkillForm | None = None
    example: Any = None


class _Paused(BaseException):
    """Leaves the session: nothing in it takes this for an error of a tool."""

    def __init__(self, waiting: AwaitedStep) -> None:
        super().__init__()
        self.waiting = waiting


@dataclass(frozen=True, slots=True)
class ChatItem:
    """One line of a chat: `kind` is user, event, agent, tool, approval or form. `step` is that of a reply."""

    kind: str
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    step: PlaygroundStep | None = None
    name: str = ""


@dataclass(slots=True)
class ChatTurn:
    """A message of the user and what followed it."""

    items: list[ChatItem] = field(default_factory=list)
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """The tokens that were read and written in this turn."""
        return self.prompt_tokens + self.reply_tokens


@dataclass(slots=True)
class PlayedChat:
    """Where a chat is. `waiting` is None where the user comes next; the rest is what a case of it says."""

    turns: list[ChatTurn] = field(default_factory=list)
    waiting: AwaitedStep | None = None
    messages: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    calls: list[tuple[ToolCall, Any, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refused: bool = False
    events: dict[str, Any] = field(default_factory=dict)


# Stores a reply, and returns its step.
StoreReply = Callable[[ModelReply, VendorModel], PlaygroundStep]


def play_chat(
    chat: PlaygroundChat,
    steps: Sequence[PlaygroundStep],
    side: PlayedSide,
    *,
    model: VendorModel | None = None,
    store: StoreReply | None = None,
) -> PlayedChat:
    """Play the steps; then, with a model, its replies until a person comes next.

    Raises `StepsDiverged` where the texts have changed so that the steps do not fit, and what the model raises.
    """
    player = _Player(chat, list(steps), side, model, store)
    try:
        player.play()
    except _Paused as paused:
        player.found.waiting = paused.waiting
    player.found.loads = list_loads(player.session)
    return player.found


class _Player:
    """One pass through the steps; it is the model, the tools and the people of the session."""

    def __init__(
        self,
        chat: PlaygroundChat,
        steps: list[PlaygroundStep],
        side: PlayedSide,
        model: VendorModel | None,
        store: StoreReply | None,
    ) -> None:
        self.steps, self.at, self.vendor, self.store = steps, 0, model, store
        self.mocks = [ToolMock(**one) for one in chat.mocks]
        self.by_example = chat.answers_by_example
        self.found = PlayedChat()
        self.names: dict[str, str] = {}
        self.matcher = side.index.matcher
        self.events_seen = 0
        self.last_step: PlaygroundStep | None = None
        environment, session_id = everything_there(side.source), f"playground-{chat.pk}"
        self.session = open_session(side, environment, session_id=session_id, user_name="Alex", matcher=side.match)

    def play(self) -> None:
        while (step := self._next()) is not None:
            if step.kind != Kind.MESSAGE:
                raise StepsDiverged("The capabilities have changed since this was said: start a new chat")
            self.found.messages.append(step.content["text"])
            self.found.turns.append(ChatTurn())
            self._add(ChatItem("user", step.content["text"]))
            for message in self.session.steps(
                step.content["text"], self.reply, run=self.run, approve=self.approve, show=self.show
            ):
                self._show_message(message)
            self._show_events()

    def _next(self) -> PlaygroundStep | None:
        if self.at >= len(self.steps):
            return None
        self.at += 1
        return self.steps[self.at - 1]

    def _take(self, kind: str, waiting: Callable[[], AwaitedStep]) -> Mapping[str, Any]:
        """What the next step says. Raises `_Paused` where there is none yet."""
        step = self._next()
        if step is None:
            self._show_events()
            raise _Paused(waiting())
        if step.kind != kind:
            raise StepsDiverged("The capabilities have changed since this was said: start a new chat")
        content: Mapping[str, Any] = step.content
        return content

    def reply(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        if self.at >= len(self.steps) and self.vendor is not None and self.store is not None:
            found = _bounded(self.vendor(session, messages))
            self.steps.append(self.store(found, self.vendor))
        content = self._take(Kind.REPLY, lambda: AwaitedStep("model"))
        step = self.last_step = self.steps[self.at - 1]
        turn = self.found.turns[-1]
        turn.prompt_tokens += step.prompt_tokens
        turn.reply_tokens += step.reply_tokens
        turn.seconds += step.seconds
        return ModelReply(content["text"], tuple(ModelCall(*call) for call in content["calls"]))

    def run(self, call: ToolCall) -> Any:
        mock = find_mock(self.mocks, call)
        if mock is None and self.by_example:
            mock = ToolMock(call.tool, result=example_result(self.session, call))
        if mock is None:
            told = self._take(
                Kind.RESULT, lambda: AwaitedStep("result", call, example=example_result(self.session, call))
            )
            mock = ToolMock(call.tool, result=told.get("result"), error=told.get("error", ""))
        self.found.calls.append((call, mock.result, mock.error))
        return answer_by(mock)

    def approve(self, call: ToolCall) -> bool:
        is_approved = bool(self._take(Kind.APPROVAL, lambda: AwaitedStep("approval", call))["approved"])
        self.found.asked.append(call.tool)
        self.found.refused = self.found.refused or not is_approved
        self._add(ChatItem("approval", "approved" if is_approved else "refused", name=call.tool))
        return is_approved

    def show(self, form: SkillForm) -> Any:
        event = self._take(Kind.FORM, lambda: AwaitedStep("form", form=form))["event"]
        self.found.events[form.schema_id] = event
        words = json.dumps(event, ensure_ascii=False) if event else ""
        self._add(ChatItem("form", words, name=form.title))
        return event

    def _show_message(self, message: Message) -> None:
        self._show_events()
        if message.role == "tool":
            self._add(ChatItem("tool", message.text, name=self.names.get(message.call_id, "")))
        elif message.role == "agent":
            calls = tuple((one.name, one.arguments_text) for one in message.calls)
            self.names |= {one.call_id: one.name for one in message.calls}
            self._add(ChatItem("agent", message.text, calls, self.last_step))
            self.last_step = None

    def _show_events(self) -> None:
        for event in self.session.events:
            if event.event_id > self.events_seen and event.kind not in ("call", "messages"):
                self._add(ChatItem("event", one_line(describe_event(event, event.words, self.matcher), most=300)))
        self.events_seen = self.session.events[-1].event_id if self.session.events else 0

    def _add(self, item: ChatItem) -> None:
        self.found.turns[-1].items.append(item)


def _bounded(reply: ModelReply) -> ModelReply:
    """As it is stored: what is played now and what is played again from the row are the same."""
    calls = tuple(
        ModelCall(clean_json(one.call_id), clean_json(one.name), clean_json(one.arguments)) for one in reply.calls
    )
    return ModelReply(clean_json(reply.text[:REPLY_LENGTH_MAX]), calls)


def document_of(played: PlayedChat) -> dict[str, Any]:
    """The chat as a case: what was said, what tools answered, and what the agent did as what it has to do.

    Raises `InvalidRequest` where nothing was said.
    """
    if not played.messages:
        raise InvalidRequest("Nothing was said yet")
    mocks = [_mock(call, result, error) for call, result, error in played.calls]
    calls = [{"tool": call.tool, "arguments": dict(call.arguments)} for call, _result, _error in played.calls]
    opened = list(played.events)
    return {
        "name": one_line(played.messages[0], most=80),
        "messages": played.messages,
        "mocks": _each_once(mocks),
        "forms": {name: event for name, event in played.events.items() if event},
        "approve": not played.refused,
        "expect": {
            "loads": played.loads[-1] if played.loads else "none",
            "calls": _each_once(calls),
            "asks_before": list(dict.fromkeys(played.asked)),
            "opens_form": opened[-1] if opened else "",
        },
    }


def _mock(call: ToolCall, result: Any, error: str) -> dict[str, Any]:
    answer = {"error": error} if error else {"result": result}
    return {"tool": call.tool, "arguments": dict(call.arguments), **answer}


def _each_once(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for row in rows:
        if row not in found:
            found.append(row)
    return found[:50]
