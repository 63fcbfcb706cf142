"""Wrong uses of the library, each refused by strict mypy and pyright: where one is accepted, its comment is unused.

Nothing here runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import capability_client
from capability_client import AsyncSession, Message, ModelReply, Registry, Session, ToolCall


def model(session: Session, messages: Sequence[Message]) -> ModelReply:
    """As it should be."""
    return ModelReply(f"{session.number} {len(messages)}")


def run(call: ToolCall) -> object:
    """As it should be."""
    return call.arguments


def returns_text(session: Session, messages: Sequence[Message]) -> str:
    """A model returns a ModelReply."""
    return f"{session.number} {len(messages)}"


async def waits(session: Session, messages: Sequence[Message]) -> ModelReply:
    """A Session waits for nothing."""
    return model(session, messages)


def returns_number(call: ToolCall) -> int:
    """1 is not True, so that nothing would be approved."""
    return len(call.arguments)


def agrees(call: ToolCall) -> bool:
    """As it should be."""
    return not call.arguments


def use(registry: Registry, session: Session, text: str) -> None:
    """Each line with a comment is wrong."""
    AsyncSession(42)  # type: ignore[arg-type]
    Session(registry, rols=[])  # type: ignore[call-arg]
    Session.from_json(text, registry, rols=[])  # type: ignore[call-arg]
    Session.from_json(text, 42)  # type: ignore[arg-type]
    session.say(text, model, run=run, approve=agrees)
    session.say(text, returns_text, run=run, approve=agrees)  # type: ignore[arg-type]
    session.say(text, waits, run=run, approve=agrees)  # type: ignore[arg-type]
    session.say(text, model, run=run, approve=returns_number)  # type: ignore[arg-type]
    session.say(text, model, run=run, approve=agrees, show=returns_number)  # type: ignore[arg-type]
    name: int = session.load("weights").tools[0]["name"]  # type: ignore[assignment]
    listed: list[str] = session.tools()  # type: ignore[assignment]
    found: str = session.result_of("weights__list", {}, run=run)  # type: ignore[assignment]
    reported: str = session.feedback("used")  # type: ignore[assignment]
    state: str = session.state()  # type: ignore[assignment]
    print(name, listed, found, reported, state)
    capability_client.nonsense  # type: ignore[attr-defined]  # noqa: B018


async def wait(session: AsyncSession, text: str) -> None:
    """As `use`, where something has to be awaited."""
    session.load("weights").tools  # type: ignore[attr-defined]  # noqa: B018
    async for message in session.steps(text, model, run=run, approve=agrees):  # type: ignore[arg-type]
        print(message.text)
