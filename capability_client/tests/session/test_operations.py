"""`trace=`: a context manager around each call out of a session, with ids and the exception, and no text."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from capability_client import AsyncSession, ModelCall, ModelReply, Operation, Session
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.event_loop import run_async
from tests.servers import ROOT

PUT: dict[str, Any] = {**tool("alpha_put", "write"), "args_schema": {"type": "object"}}
ASKED = {"questions": [{"name": "a", "prompt": "Which?", "widget": "text_input"}]}


def _source() -> FakeRegistry:
    return FakeRegistry([build_bundle("alpha", tools=[tool("alpha_list"), PUT], intent_triggers=["alpha"])])


class Traced:
    """Keeps `(kind, capability_id, tool, exception, seconds)` of each operation."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, str, float]] = []
        self.operations: list[Operation] = []

    @contextmanager
    def __call__(self, operation: Operation) -> Iterator[None]:
        begun, raised = time.perf_counter(), ""
        self.operations.append(operation)
        try:
            yield
        except Exception as error:
            raised = type(error).__name__
            raise
        finally:
            seconds = time.perf_counter() - begun
            self.rows.append((operation.kind, operation.capability_id, operation.tool, raised, seconds))


def _model() -> Scripted:
    return Scripted(
        ModelReply("", (ModelCall("1", "capability_skill_load", {"capability_id": "alpha"}),)),
        ModelReply("", (ModelCall("2", "alpha__alpha_put", {"a": "secret"}), ModelCall("3", "ask_user", ASKED))),
        ModelReply("Done."),
    )


EXPECTED = [
    ("list", "", ""), ("model", "", ""), ("load", "alpha", ""), ("model", "", ""), ("approve", "alpha", "alpha_put"),
    ("execute_tool", "alpha", "alpha_put"), ("ask", "", ""), ("model", "", ""),
]  # fmt: skip


def test_each_call_out_of_a_session_is_traced() -> None:
    traced = Traced()
    session = Session(_source(), environment=ALL, trace=traced)
    session.say("alpha", _model(), run=lambda call: time.sleep(0.02), approve=lambda call: True, ask=lambda form: "x")
    assert [row[:3] for row in traced.rows] == EXPECTED
    assert traced.rows[5][4] >= 0.02
    ids = {event.call_id for event in session.events if event.kind == "call" and event.capability_id == "alpha"}
    assert {each.call_id for each in traced.operations if each.tool} == ids
    assert "secret" not in repr(traced.operations)


def test_an_async_session_traces_the_same() -> None:
    traced = Traced()

    async def run(call: Any) -> None:
        return None

    session = AsyncSession(_source(), environment=ALL, trace=traced)
    run_async(session.say("alpha", _model(), run=run, approve=lambda call: True, ask=lambda form: "x"))
    assert [row[:3] for row in traced.rows] == EXPECTED


def test_a_failure_reaches_the_tracer_and_the_session_as_well() -> None:
    def fails(call: Any) -> None:
        raise TimeoutError("late")

    for kind in ("sync", "async"):
        traced, source = Traced(), _source()
        settings: dict[str, Any] = {"environment": ALL, "trace": traced}
        session = Session(source, **settings) if kind == "sync" else AsyncSession(source, **settings)
        said = session.say("x", _model(), run=fails, approve=lambda call: True, ask=lambda form: "x")
        if not isinstance(said, str):
            run_async(said)
        assert ("execute_tool", "TimeoutError") in {(row[0], row[3]) for row in traced.rows}
        assert any("TOOL_FAILED" in message.text for message in session.messages)


def test_the_example_of_the_page_makes_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "agents.md").read_text("utf-8").partition("## Spans and durations")[2]
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    spans: list[tuple[str, str, dict[str, str]]] = []
    within: list[str] = []

    @contextmanager
    def start_as_current_span(name: str, attributes: dict[str, str] | None = None) -> Iterator[None]:
        spans.append((within[-1] if within else "", name, attributes or {}))
        within.append(name)
        yield
        within.pop()

    api: Any = ModuleType("opentelemetry")
    api.trace = SimpleNamespace(get_tracer=lambda name: SimpleNamespace(start_as_current_span=start_as_current_span))
    monkeypatch.setitem(sys.modules, "opentelemetry", api)
    names: dict[str, Any] = {
        "Session": lambda source, **more: Session(source, environment=ALL, **more),
        "registry": _source(),
        "model": Scripted(
            ModelReply("", (ModelCall("1", "capability_skill_load", {"capability_id": "alpha"}),)),
            ModelReply("", (ModelCall("2", "alpha__alpha_put", {}),)),
        ),
        "execute": lambda call: {},
        "ask_person": lambda call: True,
    }
    exec(compile(found[1], "agents.md", "exec"), names)
    assert spans[0] == ("", "turn", {})
    assert {parent for parent, _, _ in spans[1:]} == {"turn"}
    (of_tool,) = [attributes for _, name, attributes in spans if name == "execute_tool alpha_put"]
    assert of_tool.pop("gen_ai.tool.call.id").startswith("call_")
    assert of_tool == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "alpha_put", "capability.id": "alpha",
    }  # fmt: skip
