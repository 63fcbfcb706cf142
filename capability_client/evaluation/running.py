"""A case played: the session as an agent would have it, with tools that answer and do nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from capability_client.client.sources import Source
from capability_client.evaluation.example_values import example_of
from capability_client.evaluation.matching_values import contains
from capability_client.evaluation.model_port import ModelFailed, Usage, VendorModel
from capability_client.session.messages import Message
from capability_client.session.options import SessionOptions, User
from capability_client.session.session import Session
from capability_client.session.skill_forms import SkillForm
from capability_client.session.steps import Matcher
from capability_kit.bundles.bundle import Bundle, ListingEntry
from capability_kit.environment.probe import KINDS, Environment
from capability_kit.evaluation_cases import EvaluationCase, ToolMock
from capability_kit.tool_gate import ToolCall

# A message and what follows it; the session has a bound of its own for one turn.
MESSAGE_LENGTH_SHOWN_MAX: Final = 8000


class ToolAnsweredError(Exception):
    """What a mock says that the tool fails with."""


@dataclass(slots=True)
class Observation:
    """What an agent did in a case. `error` says why the case ended early; empty where it did not."""

    loads: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    error: str = ""

    @property
    def words(self) -> str:
        """What the agent said to the user."""
        return "\n".join(one.text for one in self.messages if one.role == "agent" and one.text)

    def transcript(self) -> list[dict[str, Any]]:
        """The messages as JSON, each cut to 8,000 characters."""
        return [_as_json(message) for message in self.messages]


def run_case(
    case: EvaluationCase,
    source: Source,
    model: VendorModel,
    *,
    matcher: Matcher | None = None,
    environment: Environment | None = None,
    options: SessionOptions | None = None,
) -> Observation:
    """Play it. Never raises for what the model does: `Observation.error` has it."""
    session = Session(
        source,
        matcher=matcher,
        environment=environment or everything_there(source),
        options=options or SessionOptions(),
        user=User(name="Alex", is_introduced=True),
    )
    found = Observation(usage=model.usage)
    host = _CaseHost(case, session, found)
    try:
        for message in case.messages:
            session.say(message, model, run=host.run, approve=host.approve, show=host.show)
    except ModelFailed as error:
        found.error = str(error)
    found.messages = list(session.messages)
    found.loads = list_loads(session)
    return found


def list_loads(session: Session) -> list[str]:
    """The ids of what was loaded in a session, each once, in their order."""
    loaded = (event.capability_id for event in session.events if event.kind in ("loaded", "refreshed"))
    return list(dict.fromkeys(loaded))


def everything_there(source: Source) -> Environment:
    """An environment in which all that the capabilities need is there: what is tried is the agent."""
    entries = source.list().entries
    return Environment.from_dict(
        {kind: sorted({name for one in entries for name in _needed(one, kind)}) for kind in KINDS}
    )


def _needed(entry: ListingEntry, kind: str) -> list[str]:
    names = entry.dependencies.get(kind)
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


@dataclass(slots=True)
class _CaseHost:
    """Tools, people and forms of one case."""

    case: EvaluationCase
    session: Session
    found: Observation

    def run(self, call: ToolCall) -> Any:
        self.found.calls.append(call)
        mock = find_mock(self.case.mocks, call)
        return example_result(self.session, call) if mock is None else answer_by(mock)

    def approve(self, call: ToolCall) -> bool:
        self.found.asked.append(call.tool)
        return self.case.approve

    def show(self, form: SkillForm) -> Any:
        self.found.forms.append(form.schema_id)
        return self.case.forms.get(form.schema_id) if not form.problem else None


def find_mock(mocks: Iterable[ToolMock], call: ToolCall) -> ToolMock | None:
    """The first one of the tool whose arguments the call contains."""
    return next((one for one in mocks if one.tool == call.tool and contains(call.arguments, one.arguments)), None)


def answer_by(mock: ToolMock) -> Any:
    """Its result. Raises `ToolAnsweredError` for one that says that the tool fails."""
    if mock.error:
        raise ToolAnsweredError(mock.error)
    return mock.result


def example_result(session: Session, call: ToolCall) -> Any:
    """By the `result_schema` of the tool: an example of it, else the least that it allows."""
    bundle: Bundle | None = next(
        (one.bundle for one in session.active if one.capability_id == call.capability_id), None
    )
    tools = bundle.tools if bundle is not None else ()
    schema: Any = next((tool.get("result_schema") for tool in tools if tool["name"] == call.tool), {})
    return example_of(schema) if schema else {"ok": True}


def _as_json(message: Message) -> dict[str, Any]:
    row: dict[str, Any] = {"role": message.role, "text": message.text[:MESSAGE_LENGTH_SHOWN_MAX]}
    if message.calls:
        row["calls"] = [{"name": one.name, "arguments": _bounded(one.arguments)} for one in message.calls]
    return row


def _bounded(arguments: Any) -> Any:
    text = json.dumps(arguments, ensure_ascii=False, default=str)
    return arguments if len(text) <= MESSAGE_LENGTH_SHOWN_MAX else text[:MESSAGE_LENGTH_SHOWN_MAX]
