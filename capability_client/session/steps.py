"""What the steps of a session yield, and what a host passes in: its tools, its model, its people."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Required, TypedDict, TypeVar

from capability_client.session.messages import Delta, Message
from capability_client.session.operations import Operation
from capability_client.session.skill_forms import SkillForm
from capability_kit.approvals import Approval
from capability_kit.tool_gate import ToolCall
from capability_kit.ui.ask import AskForm

T = TypeVar("T")
Json = dict[str, Any]
# The response of capability_match (client/answers.py) for a message; for an `AsyncSession` perhaps awaited, as below.
Matcher = Callable[[str], object]
# Does a tool's own work, and returns its result.
Executor = Callable[[ToolCall], object]
# Asks the person: True, or an `Approval`, runs the call.
Approver = Callable[[ToolCall], bool | Approval]
AsyncApprover = Callable[[ToolCall], bool | Approval | Awaitable[bool | Approval]]
# Asks the user, and returns the reply, as `AskForm.read` takes it.
Asker = Callable[[AskForm], object]
# Shows a form and returns its event, or None where the user closed it.
FormEvent = Mapping[str, object]
Presenter = Callable[[SkillForm], FormEvent | None]
AsyncPresenter = Callable[[SkillForm], FormEvent | Awaitable[FormEvent | None] | None]
# Yields what to call, is sent what that returned (or thrown what it raised), and returns a T.
Steps = Generator["Operation | Message | Delta | Together", Any, T]


class TurnHost(TypedDict, total=False):
    """What a host gives a turn besides its model.

    `approve(call)` asks the person: True or an `Approval` runs it, anything else refuses it. `run` does a tool's own
    work; without it the session's toolbox does. `ask(form)` returns the reply to a question of `ask_user`; without it
    the question, in words, is the agent's last message. `show(form)` shows a form that the model opens, and returns its
    event, or None where the user closed it; what does not fit is shown again, with `form.problem`. Without it the model
    asks in words.
    """

    approve: Required[Approver]
    run: Executor | None
    ask: Asker | None
    show: Presenter | None


class AsyncTurnHost(TypedDict, total=False):
    """As `TurnHost`; each may be a coroutine function."""

    approve: Required[AsyncApprover]
    run: Executor | None
    ask: Asker | None
    show: AsyncPresenter | None


@dataclass(frozen=True, slots=True)
class Host:
    """The model of a turn, and what is given with it."""

    model: Callable[[Sequence[Message]], object]
    approve: AsyncApprover
    run: Executor | None = None
    ask: Asker | None = None
    show: AsyncPresenter | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """Steps that do not wait for each other; what each returned is sent, in this order."""

    steps: tuple[Steps[Any], ...]


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    """The steps are over, and this is what they returned."""

    value: T
