"""`AsyncSession` and `Session`: one core, two drivers, and no mixing of the two."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from capability_client import (
    ApprovalRequired,
    AsyncRegistry,
    AsyncSession,
    CallNotOpen,
    CallResult,
    Registry,
    Session,
    ToolCall,
    User,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.registries import Given, entry, examples, fake_registry, load_answer
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool
from tests.event_loop import run_async
from tests.json_values import parsed

SAVE = "weights__weight_entry_save_batch"
ENTRIES = {"entries": [{"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb"}]}


def _list(*rows: dict[str, Any]) -> Given:
    return Given(document={"capabilities": list(rows), "registry_revision": 1, "next_cursor": None, "removed": []})


def test_every_public_method_of_a_session_is_there_for_asyncio_too() -> None:
    names = {name for name in vars(Session) if not name.startswith("_")}
    assert names == {name for name in vars(AsyncSession) if not name.startswith("_")}


def test_entries_are_of_one_kind_in_both_sessions() -> None:
    for kind in (Session, AsyncSession):
        assert isinstance(vars(kind)["entries"], property)

    async def both_forms() -> list[list[str]]:
        session = AsyncSession(FakeRegistry([build_bundle("alpha")]), environment=ALL)
        return [list(await session.entries), list(await session.entries)]

    assert (
        run_async(both_forms())
        == [["alpha"], ["alpha"]]
        == [list(Session(FakeRegistry([build_bundle("alpha")])).entries)] * 2
    )


def test_a_whole_conversation_over_an_async_registry() -> None:
    async def talk(url: str) -> tuple[Any, ...]:
        async with AsyncRegistry(url) as registry:
            session = AsyncSession(registry, environment=ALL, user=User(name="Ada"))
            turn = await session.turn("how heavy am I?")
            bundle = await session.load("weights")
            return turn, bundle, await session.system_prompt(), session.prompt()

    row = {"capability_id": "weights", "name": "Weights", "score": 0.9, "matched_triggers": []}
    answers = {
        "capability_registry_list": _list(entry("weights")),
        "capability_match": Given(document={"decision": "match", "matches": [row]}),
        "capability_skill_load": Given(document=load_answer("weights")),
    }
    with fake_registry(**answers) as fake:
        turn, bundle, system, prompt = run_async(talk(fake.url))
    assert [hint.capability_id for hint in turn.hints] == ["weights"], "the registry's match is the default"
    assert bundle.capability_id == "weights"
    assert "- weights:" in system.prompt
    assert "Answer in one sentence" in prompt.prompt


def test_an_executor_that_is_a_coroutine_function_is_awaited_and_a_plain_one_does_not_block() -> None:
    threads: list[threading.Thread] = []

    async def run(call: ToolCall) -> dict[str, int]:
        await asyncio.sleep(0)
        return {"saved": len(parsed(call.arguments["entries"]))}

    def list_rows(call: ToolCall) -> dict[str, Any]:
        threads.append(threading.current_thread())
        return {"entries": []}

    async def talk() -> tuple[CallResult, CallResult]:
        session = AsyncSession(FakeRegistry(examples()), environment=ALL)
        await session.load("weights")
        with pytest.raises(ApprovalRequired) as waiting:
            await session.call(SAVE, ENTRIES, run=run)
        session.approve(waiting.value.call_id, by="Ada")
        written = await session.run_call(waiting.value.call_id, run)
        return written, await session.call("weight_entry_list", {}, run=list_rows)

    written, read = run_async(talk())
    assert (written.result, written.call.state) == ({"saved": 1}, "done")
    assert read.result == {"entries": []}
    assert threads[0] is not threading.main_thread()


# Typed programs are refused by mypy already.
UNTYPED: Any = Session


@pytest.mark.parametrize(
    ("make", "fix"),
    [
        (lambda: UNTYPED(AsyncRegistry("http://127.0.0.1:9")), "AsyncSession"),
        (lambda: AsyncSession(Registry("http://127.0.0.1:9")), "AsyncRegistry"),
        (lambda: UNTYPED("http://127.0.0.1:9"), "Registry or LocalSkills, not str"),
        (lambda: AsyncSession(parsed("http://127.0.0.1:9")), "AsyncRegistry or LocalSkills, not str"),
        (lambda: UNTYPED(FakeRegistry(), user="Ada"), "user is a User, not str"),
        (lambda: UNTYPED(FakeRegistry(), roles="member"), "roles is a list"),
        (lambda: UNTYPED(FakeRegistry()).turn(None), "not NoneType"),
        (lambda: UNTYPED(FakeRegistry(), matcher=lambda message: {"results": []}).turn("hello"), "capability_match"),
    ],
)
def test_a_wrong_combination_is_a_type_error_that_names_the_fix(make: Any, fix: str) -> None:
    with pytest.raises(TypeError, match=fix):
        make()


def test_a_session_refuses_a_tool_that_has_to_be_awaited_and_the_call_can_run_again() -> None:
    async def run(call: ToolCall) -> Any:
        return {"entries": []}

    session = Session(FakeRegistry(examples()), environment=ALL)
    session.load("weights")
    call = session.open_call("weight_entry_list", {})
    with pytest.raises(TypeError, match="AsyncSession"):
        session.run_call(call.call_id, run)
    assert session.run_call(call.call_id, lambda call: {"entries": []}).result == {"entries": []}


def test_a_cancelled_tool_leaves_the_call_to_be_run_again() -> None:
    async def forever(call: ToolCall) -> Any:
        await asyncio.sleep(3600)

    async def talk() -> str:
        session = AsyncSession(FakeRegistry([build_bundle("alpha", tools=[tool("alpha_put", "write")])]))
        await session.load("alpha")
        with pytest.raises(ApprovalRequired) as waiting:
            await session.call("alpha_put", {}, run=forever)
        call = session.approve(waiting.value.call_id, by="Ada")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.run_call(call.call_id, forever), 0.05)
        return call.state

    assert run_async(talk()) == "failed"


def test_two_tasks_that_run_one_call_run_it_once() -> None:
    ran: list[str] = []

    async def slowly(call: ToolCall) -> Any:
        ran.append(call.call_id)
        await asyncio.sleep(0.05)
        return {"entries": []}

    async def talk() -> list[Any]:
        session = AsyncSession(FakeRegistry(examples()), environment=ALL)
        await session.load("weights")
        call = session.open_call("weight_entry_list", {})
        both = (session.run_call(call.call_id, slowly) for _ in range(2))
        return await asyncio.gather(*both, return_exceptions=True)

    first, second = run_async(talk())
    assert isinstance(first, CallResult)
    assert isinstance(second, CallNotOpen)
    assert "is running" in str(second)
    assert len(ran) == 1
