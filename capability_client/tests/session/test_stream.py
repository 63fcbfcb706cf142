"""Replies as they are written, a turn that is cancelled, and reads that do not wait for each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import pytest

from capability_client import (
    AsyncSession,
    Delta,
    Message,
    ModelCall,
    ModelReply,
    Session,
    Toolbox,
    ToolCall,
    TurnCancelled,
    User,
    export_messages,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.event_loop import run_async
from tests.json_values import parsed

FREE: dict[str, object] = {"type": "object"}
READ = ModelReply(calls=(ModelCall("1", "alpha__list", {}), ModelCall("2", "alpha__list", {"n": 2})))
Parts = Iterator[str | ModelReply]


def _registry() -> FakeRegistry:
    tools = [tool("list", args_schema=FREE), {**tool("put", "write"), "args_schema": FREE}]
    return FakeRegistry([build_bundle("alpha", tools=tools)])


def _session() -> Session:
    session = Session(_registry(), user=User(name="Ada"), environment=ALL)
    session.load("alpha")
    return session


def _model(*replies: Sequence[str | ModelReply]) -> Callable[[object, Sequence[Message]], Parts]:
    """A model that streams these, one reply after the other."""
    left = list(replies)

    def model(session: object, messages: Sequence[Message]) -> Parts:
        yield from left.pop(0)

    return model


def test_a_reply_comes_in_parts_and_then_as_a_message() -> None:
    session = _session()
    model = _model(["Let ", "me see.", ModelReply(calls=READ.calls[:1])], ["There ", "is ", "one."])
    found = list(session.stream("list", model, run=lambda call: [1], approve=bool))
    assert [each.text for each in found if isinstance(each, Delta)] == ["Let ", "me see.", "There ", "is ", "one."]
    said = [each.text for each in found if isinstance(each, Message) and each.role == "agent"]
    assert said == ["Let me see.", "There is one."]
    assert found[1:4] == [Delta("Let "), Delta("me see."), session.messages[1]]


def test_steps_and_say_take_a_model_that_streams() -> None:
    session = _session()
    messages = list(session.steps("hello", _model(["He", "llo."]), run=bool, approve=bool))
    assert [each.text for each in messages] == ["hello", "Hello."]
    assert session.say("hello", _model(["Again", "."]), run=bool, approve=bool) == "Again."
    with pytest.raises(TypeError, match="streams texts"):
        session.say("hello", parsed(_model([parsed(3)])), run=bool, approve=bool)


def test_what_was_said_before_a_turn_ends_early_is_kept() -> None:
    session = _session()
    for part in session.stream("hello", _model(["One, ", "two, ", "three"]), run=bool, approve=bool):
        if part == Delta("two, "):
            break
    assert [each.text for each in session.messages] == ["hello", "One, two, "]
    assert session.say("go on", _model(["three"]), run=bool, approve=bool) == "three"


def test_a_session_is_cancelled_before_its_next_call() -> None:
    session = _session()
    assert not session.cancel(), "no turn is running"

    def run(call: ToolCall) -> str:
        assert session.cancel()
        return "x"

    with pytest.raises(TurnCancelled):
        session.say("list", _model([READ], ["never"]), run=run, approve=bool)
    assert [each.role for each in session.messages] == ["user", "agent", "tool", "tool"]
    assert "INTERRUPTED" in session.messages[-1].text
    assert export_messages(session.messages, "anthropic")
    assert session.say("again", _model(["Fine."]), run=bool, approve=bool) == "Fine."


async def _async_session() -> AsyncSession:
    session = AsyncSession(parsed(_registry()), user=User(name="Ada"), environment=ALL)
    await session.load("alpha")
    return session


async def _never() -> None:
    await asyncio.Event().wait()


def test_an_async_session_streams_from_an_async_generator_and_is_cancelled_at_once() -> None:
    async def model(session: AsyncSession, messages: Sequence[Message]) -> AsyncIterator[str | ModelReply]:
        yield "One, "
        await _never()

    async def converse() -> None:
        session = await _async_session()
        parts: list[Message | Delta] = []

        async def listen() -> None:
            async for part in session.stream("hello", model, run=bool, approve=bool):
                parts.append(part)
                if isinstance(part, Delta):
                    asyncio.get_running_loop().call_soon(session.cancel)

        with pytest.raises(TurnCancelled):
            await listen()
        assert parts[1:] == [Delta("One, ")]
        assert session.messages[-1].text == "One, "
        assert not session.cancel()

    run_async(converse())


def test_a_tool_that_is_awaited_ends_with_its_turn() -> None:
    ended: list[str] = []

    async def run(call: ToolCall) -> None:
        try:
            await _never()
        finally:
            ended.append(call.tool)

    async def converse() -> None:
        session = await _async_session()
        turn = asyncio.ensure_future(session.say("list", parsed(_model([READ])), run=run, approve=bool))
        while not session.gate.kept():
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert session.cancel()
        with pytest.raises(TurnCancelled):
            await turn
        assert ended == ["list", "list"]
        assert {each.role for each in session.messages[-2:]} == {"tool"}

    run_async(converse())


def test_a_cancelled_task_is_cancelled_and_not_its_turn_alone() -> None:
    async def model(session: AsyncSession, messages: Sequence[Message]) -> ModelReply:
        await _never()
        return ModelReply()

    async def converse() -> None:
        session = await _async_session()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.say("hello", model, run=bool, approve=bool), 0.01)

    run_async(converse())


@pytest.mark.parametrize("names", [("list", "list"), ("list", "put")])
def test_reads_that_coroutine_functions_run_do_not_wait_for_each_other(names: tuple[str, str]) -> None:
    running = 0
    most = 0

    async def run(call: ToolCall) -> object:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return call.arguments

    async def converse() -> None:
        session = await _async_session()
        calls = tuple(ModelCall(str(number), f"alpha__{name}", {"n": number}) for number, name in enumerate(names))
        model = _model([ModelReply(calls=calls)], ["Done."])
        assert await session.say("both", parsed(model), run=run, approve=bool) == "Done."
        results = [each for each in session.messages if each.role == "tool"]
        assert [(each.call_id, each.text) for each in results] == [("0", '{"n": 0}'), ("1", '{"n": 1}')]
        assert most == (2 if names == ("list", "list") else 1), "a write waits for what stands before it"

    run_async(converse())


def test_plain_functions_of_a_toolbox_run_one_after_the_other() -> None:
    tools = Toolbox()
    seen: list[object] = []

    @tools.implements("list")
    def list_all(arguments: object, call: ToolCall) -> object:
        seen.append(arguments)
        return []

    @tools.implements("put")
    async def put(arguments: object, call: ToolCall) -> object:
        return []

    async def converse() -> None:
        session = await _async_session()
        assert await session.say("list", parsed(_model([READ], ["Done."])), run=tools, approve=bool) == "Done."
        assert seen == [{}, {"n": 2}]

    run_async(converse())


@pytest.mark.parametrize("vendor", ["openai", "openai_responses", "anthropic", "gemini"])
def test_messages_for_a_vendor_end_with_what_is_of_this_request(vendor: str) -> None:
    registry = FakeRegistry([build_bundle("alpha", intent_triggers=["weigh-in"])])
    session = Session(registry, user=User(name="Ada"), environment=ALL)
    asked: list[object] = []

    def model(session: Session, messages: Sequence[Message]) -> ModelReply:
        asked.append(session.messages_for(parsed(vendor)))
        assert asked[-1] == export_messages(messages, parsed(vendor), turn=session.prompt_parts().turn)
        return ModelReply("Hello.")

    session.say("a weigh-in", model, run=bool, approve=bool)
    assert "alpha" in str(parsed(asked[0])[-1])
