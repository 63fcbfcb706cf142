"""A conversation of the playground: a session as agents have it, stopped where a person comes next.

It is played from its steps. What comes after them a model says or, without one, nobody: then what a message needs is
loaded, as an agent does after the hint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from capability_client.evaluation.model_port import VendorModel
from capability_client.evaluation.running import answer_by, everything_there, example_result, find_mock, list_loads
from capability_client.session.messages import Message, ModelCall, ModelReply
from capability_client.session.options import SessionOptions, User
from capability_client.session.own_tools import FORM, LOAD
from capability_client.session.session import Session
from capability_client.session.skill_forms import SkillForm
from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.tool_names import wire_name
from capability_kit.environment.probe import Environment
from capability_kit.errors import RegistryError as ClientError
from capability_kit.evaluation_cases import ToolMock
from capability_kit.json_text import as_mapping
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import ToolCall, ToolUnknown, find_tool
from capability_rules.errors import InvalidRequest, RegistryError
from features.evaluations.clean_json import clean_json
from features.playground.match_view import MatchView, describe_match, name_capability
from features.playground.models import PlaygroundChat, PlaygroundStep
from registry.authoring.call_words import describe_result, describe_values, name_called

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
    bundle: Bundle | None = None


class _Paused(BaseException):
    """Leaves the session: nothing in it takes this for an error of a tool."""

    def __init__(self, waiting: AwaitedStep) -> None:
        super().__init__()
        self.waiting = waiting


@dataclass(slots=True)
class CallCard:
    """A call in words. `kind` is `load`, `form`, `read`, `write`, or empty for another tool of the session; `rows` and
    `result` are names with values. `decision` is what a person said: `approved`, `declined`, `sent` or `closed`."""

    name: str
    kind: str
    owner: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    decision: str = ""
    sent: tuple[tuple[str, str], ...] = ()
    result: tuple[tuple[str, str], ...] = ()
    is_done: bool = False
    is_error: bool = False


@dataclass(slots=True)
class AgentReply:
    """What the agent said, and its calls; `step` is the stored reply, None for words of the session itself."""

    text: str
    cards: list[CallCard]
    step: PlaygroundStep | None


@dataclass(slots=True)
class PlayedTurn:
    """A message of the user and what followed it; `match` where that was asked for."""

    message: str
    replies: list[AgentReply] = field(default_factory=list)
    match: MatchView | None = None
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """The tokens that were read and written in this turn."""
        return self.prompt_tokens + self.reply_tokens


@dataclass(slots=True)
class PlayedChat:
    """Where a conversation is. `waiting` is None where the user comes next; the rest is what a case of it says."""

    session: Session
    turns: list[PlayedTurn] = field(default_factory=list)
    waiting: AwaitedStep | None = None
    loads: list[str] = field(default_factory=list)
    calls: list[tuple[ToolCall, Any, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refused: bool = False
    events: dict[str, Any] = field(default_factory=dict)


# Stores a reply, and returns its step.
StoreReply = Callable[[ModelReply, VendorModel], PlaygroundStep]


def play_messages(messages: Sequence[str], environment: Environment, side: PlayedSide) -> PlayedChat:
    """Say these one after another without a model. The same messages, the same answer."""
    player = _Player(side, environment, "playground", has_match=True)
    player.ask = player.follow_hint
    for text in messages:
        player.steps.append(PlaygroundStep(kind=Kind.MESSAGE, content={"text": text}))
        player.play()
    return player.found


def play_chat(
    chat: PlaygroundChat,
    steps: Sequence[PlaygroundStep],
    side: PlayedSide,
    *,
    model: VendorModel | None = None,
    store: StoreReply | None = None,
    has_match: bool = False,
) -> PlayedChat:
    """Play the steps; then, with a model, its replies until a person comes next.

    Raises `StepsDiverged` where the texts have changed so that the steps do not fit, and what the model raises.
    """
    player = _Player(side, everything_there(side.source), f"playground-{chat.pk}", has_match=has_match)
    player.steps, player.by_example = list(steps), chat.answers_by_example
    player.mocks = [ToolMock(**one) for one in chat.mocks]
    if model is not None and store is not None:
        player.ask = lambda session, messages: store(_bounded(model(session, messages)), model)
    try:
        player.play()
    except _Paused as paused:
        player.found.waiting = paused.waiting
    player.found.loads = list_loads(player.found.session)
    return player.found


class _Player:
    """One pass through the steps; it is the model, the tools and the people of the session."""

    def __init__(self, side: PlayedSide, environment: Environment, session_id: str, *, has_match: bool) -> None:
        self.side, self.has_match = side, has_match
        self.steps: list[PlaygroundStep] = []
        self.at = 0
        self.ask: Callable[[Session, Sequence[Message]], PlaygroundStep] | None = None
        self.mocks: list[ToolMock] = []
        self.by_example = True
        self.cards: dict[str, CallCard] = {}
        self.last_step: PlaygroundStep | None = None
        self.session = Session(
            side.source,
            matcher=side.match,
            environment=environment,
            options=SessionOptions(exclusive_groups=side.index.exclusive),
            user=User(name="Alex", is_introduced=True),
            session_id=session_id,
        )
        self.found = PlayedChat(self.session)

    def play(self) -> None:
        while (step := self._next()) is not None:
            _require(step, Kind.MESSAGE)
            turn = PlayedTurn(step.content["text"])
            self.found.turns.append(turn)
            before = self.session.events[-1].event_id if self.session.events else 0
            try:
                for message in self.session.steps(
                    turn.message, self.reply, run=self.run, approve=self.approve, show=self.show
                ):
                    self._show_message(turn, message)
            finally:
                if self.has_match:
                    events = [one for one in self.session.events if one.event_id > before]
                    turn.match = describe_match(self.session, turn.message, self.side, events)

    def _next(self) -> PlaygroundStep | None:
        if self.at >= len(self.steps):
            return None
        self.at += 1
        return self.steps[self.at - 1]

    def _take(self, kind: str, waiting: Callable[[], AwaitedStep]) -> Mapping[str, Any]:
        """What the next step says. Raises `_Paused` where there is none yet."""
        step = self._next()
        if step is None:
            raise _Paused(waiting())
        _require(step, kind)
        content: Mapping[str, Any] = step.content
        return content

    def follow_hint(self, session: Session, _messages: Sequence[Message]) -> PlaygroundStep:
        """Nobody answers, and what the message needs is loaded all the same; a session notes what cannot be."""
        for capability_id in self.side.match(self.found.turns[-1].message)["needed"]:
            try:
                session.load(capability_id)
            except (ClientError, RegistryError) as error:
                self.found.turns[-1].replies.append(AgentReply(str(error), [], None))
        return PlaygroundStep(kind=Kind.REPLY, content={"text": "", "calls": []})

    def reply(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        if self.at >= len(self.steps) and self.ask is not None:
            self.steps.append(self.ask(session, messages))
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
        bundle = next((one.bundle for one in self.session.active if one.capability_id == call.capability_id), None)
        step = self._take(Kind.APPROVAL, lambda: AwaitedStep("approval", call, bundle=bundle))
        is_approved = bool(step["approved"])
        self.found.asked.append(call.tool)
        self.found.refused = self.found.refused or not is_approved
        self._current.decision = "approved" if is_approved else "declined"
        return is_approved

    def show(self, form: SkillForm) -> Any:
        event = self._take(Kind.FORM, lambda: AwaitedStep("form", form=form))["event"]
        self.found.events[form.schema_id] = event
        self._current.decision = "sent" if event else "closed"
        self._current.sent = describe_values(as_mapping(event).get("context"))
        return event

    @property
    def _current(self) -> CallCard:
        """The call that is being made: one after the other, in the order of the reply."""
        return next(card for card in self.cards.values() if not card.is_done)

    def _show_message(self, turn: PlayedTurn, message: Message) -> None:
        if message.role == "tool":
            card = self.cards[message.call_id]
            card.is_done = True
            card.result, card.is_error = describe_result(message.text)
        elif message.role == "agent" and (message.text or message.calls):
            made = {one.call_id: self._card(one) for one in message.calls}
            self.cards |= made
            turn.replies.append(AgentReply(message.text, list(made.values()), self.last_step))
            self.last_step = None

    def _card(self, call: ModelCall) -> CallCard:
        given = as_mapping(call.arguments)
        if call.name == LOAD:
            return CallCard(name_capability(str(given.get("capability_id", "")), self.side.index.matcher), "load")
        bundles = [one.bundle for one in self.session.active]
        if call.name == FORM:
            wanted = str(given.get("schema_id", ""))
            entries = (entry for bundle in bundles for entry in bundle.ui_schemas if entry["schema_id"] == wanted)
            title = next((str(entry.get("title") or wanted) for entry in entries), wanted)
            return CallCard(title, "form", rows=describe_values(given.get("data")))
        tools = {wire_name(one.capability_id, tool["name"]): (one, tool) for one in bundles for tool in one.tools}
        try:
            bundle, tool = find_tool(tools, call.name)
        except ToolUnknown:
            return CallCard(name_called(call.name), "", rows=describe_values(call.arguments))
        kind = str(tool["policy"]["kind"])
        return CallCard(name_called(tool["name"]), kind, bundle.name, describe_values(call.arguments))


def _require(step: PlaygroundStep, kind: str) -> None:
    if step.kind != kind:
        raise StepsDiverged("The capabilities have changed since this was said: start a new chat")


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
    if not played.turns:
        raise InvalidRequest("Nothing was said yet")
    mocks = [_mock(call, result, error) for call, result, error in played.calls]
    calls = [{"tool": call.tool, "arguments": dict(call.arguments)} for call, _result, _error in played.calls]
    opened = list(played.events)
    return {
        "name": one_line(played.turns[0].message, most=80),
        "messages": [turn.message for turn in played.turns],
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
