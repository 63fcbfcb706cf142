"""Whatever interrupts a turn, the next one goes on: each open call has a result, and the session is free again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from capability_client import (
    ApprovalRequired,
    AsyncSession,
    CallNotOpen,
    Message,
    ModelCall,
    ModelReply,
    Session,
    ToolCall,
    TurnRunning,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.session.test_conversation import accepted
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.event_loop import run_async

PUT: dict[str, Any] = {**tool("alpha_put", "write"), "args_schema": {"type": "object"}}
TWO = ModelReply(
    "", (ModelCall("1", "alpha__alpha_list", {}), ModelCall("2", "alpha__alpha_put", {"a": 1}))
)  # The first one runs at once, the second one waits for a person.


def _source() -> FakeRegistry:
    return FakeRegistry([build_bundle("alpha", tools=[tool("alpha_list"), PUT])])


def _session() -> Session:
    session = Session(_source(), environment=ALL)
    session.load("alpha")
    return session


def _raises(error: BaseException) -> Callable[..., Any]:
    def fails(*given: Any) -> Any:
        raise error

    return fails


def _run(call: ToolCall) -> Any:
    return {"entries": []}


def _results(session: Any) -> list[str]:
    found = [json.loads(message.text) for message in session.messages if message.role == "tool"]
    return [each["error"]["code"] if "error" in each else "ok" for each in found]


def _goes_on(session: Session) -> None:
    accepted(session.messages)
    assert session.say("still there?", Scripted(), run=_run, approve=bool) == "It says still there?"
    accepted(session.messages)
    resumed = Session.from_json(session.to_json(), _source(), environment=ALL)
    assert resumed.messages == session.messages


@pytest.mark.parametrize(
    ("run", "approve", "results"),
    [
        (_raises(KeyboardInterrupt()), bool, ["INTERRUPTED", "INTERRUPTED"]),
        (_raises(SystemExit()), bool, ["INTERRUPTED", "INTERRUPTED"]),
        (_run, _raises(KeyboardInterrupt()), ["ok", "WAITING_FOR_APPROVAL"]),
        (_run, _raises(OSError("no terminal")), ["ok", "WAITING_FOR_APPROVAL"]),
    ],
)
def test_a_turn_that_was_interrupted_leaves_a_result_for_each_call(run: Any, approve: Any, results: list[str]) -> None:
    session = _session()
    with pytest.raises((KeyboardInterrupt, SystemExit, OSError)):
        session.say("save", Scripted(TWO), run=run, approve=approve)
    assert _results(session) == results
    _goes_on(session)


def test_a_model_that_fails_leaves_the_conversation_as_it_was() -> None:
    session = _session()
    with pytest.raises(OSError, match="no network"):
        session.say("save", _raises(OSError("no network")), run=_run, approve=bool)
    assert session.messages == [Message("user", "save")]
    _goes_on(session)


def test_a_call_that_was_running_is_told_from_one_that_had_not_begun() -> None:
    session = _session()
    with pytest.raises(KeyboardInterrupt):
        session.say("save", Scripted(TWO), run=_raises(KeyboardInterrupt()), approve=bool)
    words = [json.loads(each.text)["error"]["message"] for each in session.messages if each.role == "tool"]
    assert "while this call ran" in words[0]
    assert "before this call ran; nothing has happened" in words[1]
    with pytest.raises(KeyboardInterrupt):
        session.say("save", Scripted(TWO), run=_run, approve=_raises(KeyboardInterrupt()))
    assert "nothing has happened" in session.messages[-1].text, "a person was asked, and nothing ran"
    (waiting,) = session.gate.waiting()
    assert json.loads(session.messages[-1].text)["error"]["call_id"] == waiting.call_id
    session.approve(waiting.call_id, by="Ada")
    session.run_call(waiting.call_id, _run)
    asked: list[ToolCall] = []
    again = ModelReply("", (ModelCall("3", "alpha__alpha_put", {"a": 1}),))

    def refuse(call: ToolCall) -> bool:
        asked.append(call)
        return False

    session.say("save", Scripted(again), run=_run, approve=refuse)
    assert len(asked) == 1, "a yes is for one call, not for the next one like it"


@pytest.mark.parametrize("after", [1, 2, 3, 4])
def test_who_stops_listening_ends_the_turn(after: int) -> None:
    session = _session()
    for number, _ in enumerate(session.steps("save", Scripted(TWO), run=_run, approve=bool), start=1):
        if number == after:
            break
    assert _results(session) == [[], ["INTERRUPTED"] * 2, ["ok", "INTERRUPTED"], ["ok", "ok"]][after - 1]
    _goes_on(session)


def test_a_reader_that_raises_ends_the_turn() -> None:
    session = _session()

    def read() -> None:
        for message in session.steps("save", Scripted(TWO), run=_run, approve=bool):
            if message.calls:
                raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        read()
    _goes_on(session)


def test_a_session_that_was_saved_in_the_middle_of_a_turn_goes_on_elsewhere() -> None:
    session = _session()
    texts = [session.to_json() for _ in session.steps("save", Scripted(TWO), run=_run, approve=bool)]
    for text in texts:
        _goes_on(Session.from_json(text, _source(), environment=ALL))


# asyncio


async def _async_session() -> AsyncSession:
    session = AsyncSession(_source(), environment=ALL)
    await session.load("alpha")
    return session


async def _goes_on_async(session: AsyncSession) -> None:
    accepted(session.messages)
    assert await session.say("still there?", Scripted(), run=_run, approve=bool) == "It says still there?"


@pytest.mark.parametrize("where", ["model", "run", "approve"])
def test_a_turn_that_was_cancelled_leaves_a_result_for_each_call(where: str) -> None:
    async def hangs(*given: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()

    async def talk() -> list[str]:
        session = await _async_session()
        given: dict[str, Any] = {"model": Scripted(TWO), "run": _run, "approve": bool, where: hangs}
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(session.say("save", given["model"], run=given["run"], approve=given["approve"]))
        found = _results(session)
        await _goes_on_async(session)
        return found

    expected = {"model": [], "run": ["INTERRUPTED"] * 2, "approve": ["ok", "WAITING_FOR_APPROVAL"]}
    assert run_async(talk()) == expected[where]


def test_a_turn_that_timed_out_leaves_a_result_for_each_call() -> None:
    async def forever(call: ToolCall) -> Any:
        await asyncio.Event().wait()

    async def talk() -> list[str]:
        session = await _async_session()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.say("save", Scripted(TWO), run=forever, approve=bool), 0.05)
        found = _results(session)
        await _goes_on_async(session)
        return found

    assert run_async(talk()) == ["INTERRUPTED"] * 2


def test_who_stops_listening_to_an_async_turn_ends_it_at_once() -> None:
    async def talk() -> list[str]:
        session = await _async_session()
        async for message in session.steps("save", Scripted(TWO), run=_run, approve=bool):
            if message.role == "agent":
                break
        found = _results(session)
        await _goes_on_async(session)
        return found

    assert run_async(talk()) == ["INTERRUPTED"] * 2


def test_a_plain_tool_that_was_cancelled_is_running_until_its_thread_ends() -> None:
    begun, go_on = threading.Event(), threading.Event()
    ran: list[str] = []

    def slowly(call: ToolCall) -> Any:
        begun.set()
        go_on.wait(30)
        ran.append(call.call_id)
        if call.arguments == {"a": "fails"}:
            raise OSError("disk full")
        return {"saved": 1}

    async def talk(arguments: Any) -> tuple[str, str, str]:
        begun.clear()
        go_on.clear()
        session = await _async_session()
        with pytest.raises(ApprovalRequired) as waiting:
            await session.call("alpha_put", arguments, run=slowly)
        call = session.approve(waiting.value.call_id, by="Ada")
        running = asyncio.create_task(session.run_call(call.call_id, slowly))
        await asyncio.to_thread(begun.wait, 30)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        meanwhile: str = call.state
        assert session.events[-1].words == "alpha_put: not waited for, and it is still running"
        with pytest.raises(CallNotOpen, match="still running; find out whether it took effect"):
            await session.call("alpha_put", arguments)
        go_on.set()
        while call.state == "running":
            await asyncio.sleep(0)
        found = meanwhile, call.state, session.events[-1].words
        if call.state == "failed":
            # It may run again, and is an ordinary call then.
            with pytest.raises(OSError, match="disk full"):
                await session.run_call(call.call_id, slowly)
            assert call.state == "failed"
        return found

    assert run_async(talk({"a": 1})) == ("running", "done", "alpha_put: done, after its turn was interrupted")
    assert run_async(talk({"a": "fails"}))[:2] == ("running", "failed")
    assert len(ran) == 3


# Two turns at once.


def test_a_second_turn_at_once_is_refused_until_the_first_one_is_over() -> None:
    session = _session()
    steps = session.steps("save", Scripted(TWO), run=_run, approve=bool)
    next(steps)
    for second in (
        lambda: session.say("and?", Scripted(), run=_run, approve=bool),
        lambda: session.turn("and?"),
        lambda: next(iter(session.steps("and?", Scripted(), run=_run, approve=bool))),
    ):
        with pytest.raises(TurnRunning, match="one at a time"):
            second()
    assert [each.text for each in session.messages] == ["save"], "nothing of the second one is recorded"
    steps.close()
    _goes_on(session)


def test_a_turn_that_died_before_it_could_say_so_does_not_lock_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _session()
    real = session.running.mutex

    class Interrupting:
        """Ctrl-C at the moment in which the turn has just begun."""

        def __enter__(self) -> None:
            real.acquire()

        def __exit__(self, *error: object) -> None:
            real.release()
            raise KeyboardInterrupt

    monkeypatch.setattr(session.running, "mutex", Interrupting())
    with pytest.raises(KeyboardInterrupt):
        session.turn("hello")
    monkeypatch.undo()
    assert session.say("still there?", Scripted(), run=_run, approve=bool) == "It says still there?"


def test_an_async_turn_can_be_closed_and_the_next_one_begins() -> None:
    async def talk() -> list[str]:
        session = await _async_session()
        steps = session.steps("save", Scripted(TWO), run=_run, approve=bool)
        await anext(steps)
        await anext(steps)
        with pytest.raises(TurnRunning):
            await session.say("and?", Scripted(), run=_run, approve=bool)
        await steps.aclose()
        found = _results(session)
        await _goes_on_async(session)
        return found

    assert run_async(talk()) == ["INTERRUPTED"] * 2


def test_two_tasks_that_speak_at_once_do_not_mix_their_messages() -> None:
    async def talk() -> list[Any]:
        session = await _async_session()
        heard = asyncio.Event()

        async def model(session: Any, messages: Any) -> ModelReply:
            heard.set()
            await asyncio.sleep(0)
            return ModelReply(f"You said {messages[-1].text}")

        async def later() -> str:
            await heard.wait()
            return await session.say("two", model, run=_run, approve=bool)

        first = session.say("one", model, run=_run, approve=bool)
        both = await asyncio.gather(first, later(), return_exceptions=True)
        assert [each.text for each in session.messages] == ["one", "You said one"]
        return list(both)

    first, second = run_async(talk())
    assert first == "You said one"
    assert isinstance(second, TurnRunning)


def test_a_model_may_load_a_skill_while_its_turn_runs() -> None:
    session = Session(_source(), environment=ALL)

    def model(session: Any, messages: Any) -> ModelReply:
        return ModelReply(f"{session.load('alpha').capability_id}, {len(session.system_prompt().prompt) > 0}")

    assert session.say("hello", model, run=_run, approve=bool) == "alpha, True"
