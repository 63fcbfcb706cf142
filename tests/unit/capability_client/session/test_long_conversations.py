"""Five hundred turns with everything that happens to an agent, against vendors that refuse what is broken.

Replies with no, one or two calls, tools that fail, are interrupted, cancelled or time out, people who say no, skills
that expire or are quarantined, results of any size: all drawn by a seed. Nothing waits for a clock.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import httpx2
import pytest

from capability_client.session import (
    AsyncSession,
    Event,
    Message,
    ModelCall,
    ModelReply,
    Session,
    SessionOptions,
    ToolCall,
    TurnRunning,
    User,
    export_messages,
)
from capability_client.testing import FakeRegistry, build_bundle
from docs.agents.anthropic_messages import AnthropicMessages
from docs.agents.openai_chat import OpenAiChat, call_of
from tests.event_loop import run_async
from tests.factories import tool
from tests.unit.capability_client.session.test_conversation import accepted
from tests.unit.capability_client.test_session import ALL
from tests.vendors import StrictVendor, Vendor, tool_names

TURNS = 500
QUARANTINED_AT = 250
OPTIONS = SessionOptions(ttl_turns=2, ttl_turns_by_hand=3, messages_max=60, tokens_estimate_max=6_000)
FREE: dict[str, Any] = {"type": "object"}
ASKED = {"questions": [{"name": "unit", "prompt": "Which unit?", "widget": "radio", "options": ["kg", "lb"]}]}
TEXTS = ("how heavy am I?", "alpha please", "$beta now", "x" * 30_000, "", " ", "half a \ud83d", "今日は" * 90)
RESULTS: tuple[Any, ...] = ({"entries": []}, {"text": "y" * 90_000}, "\ud83d", [1, {2}], None, "")
ARGUMENTS: tuple[Any, ...] = ({}, {"a": 1}, {"a": "z" * 40_000}, {"id": 2**60}, {"half": "\ud83d"})


Kept = TypeVar("Kept", Session, AsyncSession)


class Interrupted(Exception):
    """Whatever ends a turn of the host's own accord."""


def _registry() -> FakeRegistry:
    def skill(name: str) -> Any:
        put = {**tool(f"{name}_put", "write"), "args_schema": FREE}
        return build_bundle(name, tools=[tool(f"{name}_list", args_schema=FREE), put], intent_triggers=[name])

    return FakeRegistry([skill(name) for name in ("alpha", "beta", "gamma", "delta", "omega")])


class Life:
    """What happens, drawn by a seed, and how often it did."""

    def __init__(self, vendor: Vendor) -> None:
        self.random = random.Random(f"{vendor} 1")
        self.source = _registry()
        self.vendor = StrictVendor(vendor, self.reply, tokens_max=16_000)
        self.seen: Counter[str] = Counter()
        self.turn = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def settings(self) -> dict[str, Any]:
        return {"environment": ALL, "options": OPTIONS, "on_event": self.on_event}

    def on_event(self, event: Event) -> None:
        self.seen[event.kind] += 1

    def reply(self, body: Any) -> tuple[str, Sequence[tuple[str, Any]]]:
        """As a model: words, or one or two calls, of tools that it has, had or never had."""
        count = self.random.choices((0, 1, 2), (5, 3, 2))[0]
        text = self.random.choice(("", "Let me see.", "Done. " * 40))
        return text, [self._call(tool_names(body)) for _ in range(count)]

    def _call(self, names: list[str]) -> tuple[str, Any]:
        known = [name for name in names if "__" in name] * 3
        name = self.random.choice([*known, *names, "alpha__alpha_list", "beta__beta_put", "no_such_tool"])
        if name in ("capability_skill_load", "capability_skill_reload"):
            skill = self.random.choice(("alpha", "beta", "gamma", "delta", "omega", "nothing"))
            return "capability_skill_load", {"capability_id": skill}
        return name, ASKED if name == "ask_user" else self.random.choice(ARGUMENTS)

    def result(self, call: ToolCall) -> Any:
        """As a tool. Raises what tools raise."""
        assert call.capability_id != "alpha" or self.turn <= QUARANTINED_AT, "a quarantined skill ran"
        self.seen["ran"] += 1
        if self.chance(0.1):
            raise OSError("the disk is full")
        return self.random.choice(RESULTS)

    def decide(self, call: ToolCall) -> bool:
        if self.chance(0.05):
            raise Interrupted
        return self.chance(0.6)

    def answer(self) -> Callable[[Any], Any] | None:
        return (lambda form: "kg") if self.chance(0.5) else None

    def stop_after(self) -> int:
        """After which message the host stops listening; some never do."""
        return self.random.randrange(1, 6) if self.chance(0.1) else 0

    def next_turn(self) -> str:
        self.turn += 1
        if self.turn == QUARANTINED_AT:
            self.source.quarantine("alpha")
        if self.chance(0.02):
            self.source.publish(build_bundle("delta", skill_doc=f"# Delta\n\nRelease {self.turn}.\n"))
        return self.random.choice(TEXTS)

    def checked(self, session: Kept, kept: str) -> Kept:
        """The session, at times one that another process made of its text; `kept` is a text of the turn's middle."""
        self.check(session)
        if not kept and self.turn % 50:
            return session
        self.seen["saved in the middle" if kept else "saved"] += 1
        resumed = type(session).from_json(kept or session.to_json(), self.source, **self.settings())
        self.check(resumed)
        return resumed

    def check(self, session: Session | AsyncSession) -> None:
        """The conversation is whole and bounded."""
        for message in session.messages:
            if message.role == "tool":
                found = json.loads(message.text)
                if isinstance(found, dict) and isinstance(found.get("error"), dict):
                    self.seen[found["error"]["code"]] += 1
                    self.seen["expired call"] += "load it again" in found["error"]["message"]
                    self.seen["withdrawn call"] += "not to be used any more" in found["error"]["message"]
        assert session.messages[0].role == "user"
        assert len(session.messages) <= OPTIONS.messages_max + 2 * OPTIONS.steps_max * 3
        accepted(session.messages)
        assert not [call for call in session.gate.kept() if call.state == "running"]

    def check_all(self) -> None:
        """Everything has happened, and no request was refused or too large."""
        expected = (
            *("INTERRUPTED", "CALL_REJECTED", "TOOL_FAILED", "TOOL_UNKNOWN", "CAPABILITY_NOT_FOUND"),
            *("CAPABILITY_QUARANTINED", "expired call", "withdrawn call", "expired", "loaded", "dropped", "messages"),
            *("ran", "saved", "saved in the middle", "stopped", "second turn"),
        )
        assert not [kind for kind in expected if not self.seen[kind]], self.seen
        assert self.vendor.requests > TURNS
        assert self.vendor.largest < 16_000


class Talk:
    """A conversation with a `Session`, by the loops of docs/agents/."""

    def __init__(self, life: Life) -> None:
        self.life = life
        kind: Any = OpenAiChat if life.vendor.vendor == "openai" else AnthropicMessages
        self._model = kind("http://model.example", "k", "any")
        self.session = Session(life.source, user=User(name="Ada"), **life.settings())

    def model(self, session: Any, messages: Sequence[Message]) -> ModelReply:
        if self.life.chance(0.03):
            raise Interrupted
        reply: ModelReply = self._model(session, messages)
        return reply

    def run(self, call: ToolCall) -> Any:
        if self.life.chance(0.1):
            raise KeyboardInterrupt
        if self.life.chance(0.05):
            self.life.seen["second turn"] += 1
            with pytest.raises(TurnRunning):
                self.session.say("and me?", self.model, run=self.run, approve=bool)
        return self.life.result(call)

    def turn(self) -> str:
        """One turn; a text of its middle, of some."""
        life, kept = self.life, ""
        stop_after = life.stop_after()
        asked = life.answer()
        steps = self.session.steps(life.next_turn(), self.model, run=self.run, approve=life.decide, ask=asked)
        for number, _ in enumerate(steps, start=1):
            kept = self.session.to_json() if life.turn % 50 == 25 else ""
            if number == stop_after:
                life.seen["stopped"] += 1
                break
        return kept

    def go_on(self) -> None:
        while self.life.turn < TURNS:
            kept = ""
            try:
                kept = self.turn()
            except (Interrupted, KeyboardInterrupt):
                self.life.seen["stopped"] += 1
            self.session = self.life.checked(self.session, kept)
        self.life.check_all()


class AsyncTalk:
    """The same with an `AsyncSession`, which is cancelled or out of its time besides."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.session = AsyncSession(life.source, user=User(name="Ada"), **life.settings())
        self.deadline: asyncio.Timeout | None = None

    async def ended(self) -> None:
        """The turn is over in this very moment: cancelled from outside, or out of its time."""
        task = asyncio.current_task()
        assert task is not None
        assert self.deadline is not None
        if self.life.chance(0.5):
            task.cancel()
        else:
            self.deadline.reschedule(asyncio.get_running_loop().time() - 1)
        await asyncio.Event().wait()

    async def model(self, session: AsyncSession, messages: Sequence[Message]) -> ModelReply:
        if self.life.chance(0.03):
            await self.ended()
        vendor = self.life.vendor.vendor
        system = f"{(await session.system_prompt()).prompt}\n{session.prompt().prompt}"
        exported = export_messages(messages, vendor)
        body: dict[str, Any] = {"model": "any", "messages": exported, "tools": session.tools(vendor)}
        if vendor == "openai":
            exported.insert(0, {"role": "system", "content": system})
        else:
            body |= {"system": system, "max_tokens": 9}
        answer = self.life.vendor.post("http://model.example", json=body, headers={}, timeout=1)
        assert answer.status_code == 200, answer.text
        if vendor == "openai":
            message = answer.json()["choices"][0]["message"]
            return ModelReply(message["content"] or "", tuple(map(call_of, message.get("tool_calls", ()))))
        blocks = answer.json()["content"]
        calls = tuple(ModelCall(one["id"], one["name"], one["input"]) for one in blocks if one["type"] == "tool_use")
        return ModelReply("".join(one["text"] for one in blocks if one["type"] == "text"), calls)

    async def run(self, call: ToolCall) -> Any:
        if self.life.chance(0.1):
            await self.ended()
        if self.life.chance(0.05):
            self.life.seen["second turn"] += 1
            with pytest.raises(TurnRunning):
                await self.session.say("and me?", self.model, run=self.run, approve=bool)
        return self.life.result(call)

    async def approve(self, call: ToolCall) -> bool:
        return self.life.decide(call)

    async def turn(self) -> str:
        life, kept, number = self.life, "", 0
        stop_after = life.stop_after()
        asked = life.answer()
        async with asyncio.timeout(None) as self.deadline:
            steps = self.session.steps(life.next_turn(), self.model, run=self.run, approve=self.approve, ask=asked)
            async for _ in steps:
                number += 1
                kept = self.session.to_json() if life.turn % 50 == 25 else ""
                if number == stop_after:
                    life.seen["stopped"] += 1
                    break
        return kept

    async def go_on(self) -> None:
        while self.life.turn < TURNS:
            kept = ""
            try:
                kept = await asyncio.create_task(self.turn())
            except (Interrupted, asyncio.CancelledError, TimeoutError) as error:
                self.life.seen["stopped"] += 1
                self.life.seen[type(error).__name__] += 1
            self.session = self.life.checked(self.session, kept)
        self.life.check_all()
        assert self.life.seen["CancelledError"]
        assert self.life.seen["TimeoutError"]


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_conversation_of_five_hundred_turns_is_accepted_by_a_strict_vendor(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(vendor)
    monkeypatch.setattr(httpx2, "post", life.vendor.post)
    Talk(life).go_on()


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_an_async_conversation_of_five_hundred_turns_is_accepted_by_a_strict_vendor(vendor: Vendor) -> None:
    run_async(AsyncTalk(Life(vendor)).go_on())
