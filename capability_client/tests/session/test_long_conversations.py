"""Five hundred turns with everything that happens to an agent, against vendors that refuse what is broken, in both
layouts of the prompt.

Replies with no, one or two calls, tools that fail, are interrupted, cancelled or time out, people who say no, forms
that are sent, closed, broken or never shown, skills that expire or are quarantined, results of any size: all drawn by a
seed. Nothing waits for a clock.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import httpx2
import pytest

from capability_client import (
    AsyncSession,
    Event,
    Message,
    ModelCall,
    ModelReply,
    Session,
    SessionOptions,
    SkillForm,
    ToolCall,
    TurnRunning,
    User,
    export_messages,
)
from capability_client.session.options import Layout
from capability_client.session.skill_forms import FORMS_MAX
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.session.test_conversation import accepted
from capability_client.tests.test_session import ALL
from capability_kit.ui.ask import CATALOG
from docs.agents.anthropic_messages import AnthropicMessages
from docs.agents.openai_chat import OpenAiChat, call_of
from tests.bundle_files import tool
from tests.event_loop import run_async
from tests.json_values import parsed
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
        listed = tool(f"{name}_list", args_schema=FREE)
        return build_bundle(name, tools=[listed, put], ui_schemas=[_form(name)], intent_triggers=[name])

    return FakeRegistry([skill(name) for name in ("alpha", "beta", "gamma", "delta", "omega")])


def _form(name: str) -> dict[str, Any]:
    put = {"name": "put", "context": {"note": {"path": "/note"}}}
    components = [
        {"id": "root", "component": "Column", "children": ["note", "put", "close"]},
        {"id": "note", "component": "TextField", "label": "Note", "value": {"path": "/note"}},
        {"id": "put", "component": "Button", "child": "a", "action": {"event": put}},
        {"id": "close", "component": "Button", "child": "b", "action": {"event": {"name": "close"}}},
        {"id": "a", "component": "Text", "text": "Put"},
        {"id": "b", "component": "Text", "text": "Close"},
    ]
    definition = {"catalogId": CATALOG, "components": components, "dataModel": {"note": "sample"}}
    actions = {"put": {"tool": f"{name}_put"}, "close": {"dismiss": True}}
    return {"schema_id": "Note.v1", "definition": definition, "actions": actions}


class Life:
    """What happens, drawn by a seed, and how often it did."""

    def __init__(self, vendor: Vendor, layout: Layout = "system") -> None:
        self.options = replace(OPTIONS, layout=layout)
        self.random = random.Random(f"{vendor} 1")
        self.source = _registry()
        self.vendor = StrictVendor(vendor, self.reply, tokens_max=16_000)
        self.seen: Counter[str] = Counter()
        # The active skills, of which a model knows most.
        self.active: list[str] = []
        self.turn = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def settings(self) -> dict[str, Any]:
        return {"environment": ALL, "options": self.options, "on_event": self.on_event}

    def on_event(self, event: Event) -> None:
        self.seen[event.kind] += 1

    def reply(self, body: Any) -> tuple[str, Sequence[tuple[str, Any]]]:
        """As a model: words, or one or two calls, of tools that it has, had or never had."""
        count = self.random.choices((0, 1, 2), (5, 3, 2))[0]
        text = self.random.choice(("", "Let me see.", "Done. " * 40))
        return text, [self._call(tool_names(body)) for _ in range(count)]

    def _call(self, names: list[str]) -> tuple[str, Any]:
        known = [f"{skill}__{skill}_{verb}" for skill in self.active for verb in ("list", "put")]
        if self.chance(0.2):
            return "form_open", self._form()
        name = self.random.choice([*known, *known, *names, "alpha__alpha_list", "beta__beta_put", "no_such_tool"])
        if name in ("capability_skill_load", "capability_skill_reload"):
            skill = self.random.choice(("alpha", "beta", "gamma", "delta", "omega", "nothing"))
            return "capability_skill_load", {"capability_id": skill}
        if "capability_tool_call" in names and ("__" in name or name == "capability_tool_call"):
            return "capability_tool_call", {"tool": name, "arguments": self.random.choice(ARGUMENTS)}
        return name, ASKED if name == "ask_user" else self.random.choice(ARGUMENTS)

    def _form(self) -> dict[str, Any]:
        skill = self.random.choice([*self.active, *self.active, *self.active, "alpha", "gamma", "nothing"])
        data: tuple[Any, ...] = ({}, {"note": 5}, {"note": None}, {"notes": "x"}, {"note": "z" * 40_000}, [])
        return {"schema_id": f"{skill}/Note.v1", "data": self.random.choice(data)}

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

    def show(self) -> Callable[[SkillForm], Any] | None:
        """As a user who sends forms, one who presses what is none of their buttons, or a program that shows none."""
        return self.random.choice((self.shown, self.shown, self.shown, lambda form: {"name": "nothing"}, None))

    def shown(self, form: SkillForm) -> Any:
        """As a user: sends it, closes it, sends what it has no action for, or goes away."""
        assert form.state == "open"
        self.seen["shown"] += 1
        if self.chance(0.3):
            raise Interrupted
        event = form.press(self.random.choice(("put", "put", "close")), {"note": self.random.choice(TEXTS)})
        return self.random.choice((event, event, event, None, {"name": "nothing"}, {}))

    def late(self, session: Session | AsyncSession) -> tuple[str, Any] | None:
        """A form that stayed open is sent between two turns."""
        left = session.open_forms()
        return (left[0].call_id, left[0].press("close")) if left and self.chance(0.7) else None

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
        assert len(session.opened.by_id) <= FORMS_MAX
        self.seen["open form"] += bool(session.open_forms())
        assert not [form for form in session.open_forms() if form.capability_id not in session.bundles]

    def check_all(self) -> None:
        """Everything has happened, and no request was refused or too large."""
        expected = (
            *("INTERRUPTED", "CALL_REJECTED", "TOOL_FAILED", "TOOL_UNKNOWN", "CAPABILITY_NOT_FOUND"),
            *("CAPABILITY_QUARANTINED", "expired call", "withdrawn call", "expired", "loaded", "dropped", "messages"),
            *("shown", "form", "open form", "late form", "FORM_UNKNOWN", "FORM_NOT_SHOWN", "FORM_EVENT_INVALID"),
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
        self.life.active = [each.capability_id for each in session.active]
        reply: ModelReply = self._model(session, messages)
        return reply

    def run(self, call: ToolCall) -> Any:
        if self.life.chance(0.1):
            raise KeyboardInterrupt
        if self.life.chance(0.15):
            self.life.seen["second turn"] += 1
            with pytest.raises(TurnRunning):
                self.session.say("and me?", self.model, run=self.run, approve=bool)
        return self.life.result(call)

    def turn(self) -> str:
        """One turn; a text of its middle, of some."""
        life, kept = self.life, ""
        stop_after = life.stop_after()
        asked = life.answer()
        steps = self.session.steps(
            life.next_turn(), self.model, run=self.run, approve=life.decide, ask=asked, show=life.show()
        )
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
            if (late := self.life.late(self.session)) is not None:
                self.life.seen["late form"] += 1
                assert parsed(self.session.submit(*late, run=self.run).result)["form"] == "closed"
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
        self.life.active = [each.capability_id for each in session.active]
        vendor = self.life.vendor.vendor
        parts = await session.prompt_parts()
        system = parts.before
        exported = export_messages(messages, vendor, turn=parts.turn)
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
        if self.life.chance(0.15):
            self.life.seen["second turn"] += 1
            with pytest.raises(TurnRunning):
                await self.session.say("and me?", self.model, run=self.run, approve=bool)
        return self.life.result(call)

    async def approve(self, call: ToolCall) -> bool:
        return self.life.decide(call)

    def show(self) -> Any:
        shown = self.life.show()

        async def later(form: SkillForm) -> Any:
            if self.life.chance(0.1):
                await self.ended()
            return shown(form) if shown is not None else None

        return later if shown is not None and self.life.chance(0.5) else shown

    async def turn(self) -> str:
        life, kept, number = self.life, "", 0
        stop_after = life.stop_after()
        asked = life.answer()
        async with asyncio.timeout(None) as self.deadline:
            steps = self.session.steps(
                life.next_turn(), self.model, run=self.run, approve=self.approve, ask=asked, show=self.show()
            )
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
            if (late := self.life.late(self.session)) is not None:
                self.life.seen["late form"] += 1
                assert parsed((await self.session.submit(*late, run=self.run)).result)["form"] == "closed"
        self.life.check_all()
        assert self.life.seen["CancelledError"]
        assert self.life.seen["TimeoutError"]


def _pairs(vendor: Vendor, layout: Layout) -> list[Any]:
    """Every pair; those that are not given are slow."""
    pairs = itertools.product(("openai", "anthropic"), ("append", "system"))
    return [pytest.param(*pair, marks=() if pair == (vendor, layout) else pytest.mark.slow) for pair in pairs]


# Each vendor and each layout is in one of the two.
@pytest.mark.parametrize(("vendor", "layout"), _pairs("openai", "append"))
def test_a_conversation_of_five_hundred_turns_is_accepted_by_a_strict_vendor(
    vendor: Vendor, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(vendor, layout)
    monkeypatch.setattr(httpx2, "post", life.vendor.post)
    Talk(life).go_on()


@pytest.mark.parametrize(("vendor", "layout"), _pairs("anthropic", "system"))
def test_an_async_conversation_of_five_hundred_turns_is_accepted_by_a_strict_vendor(
    vendor: Vendor, layout: Layout
) -> None:
    run_async(AsyncTalk(Life(vendor, layout)).go_on())
