"""What the steps of a session yield, and what a host passes in: its tools, its model, its people."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from capability_client.session.messages import Message
from capability_client.session.operations import Operation
from capability_kit.tool_gate import ToolCall
from capability_kit.ui.ask import AskForm

T = TypeVar("T")
Json = dict[str, Any]
Matcher = Callable[[str], Any]
Executor = Callable[[ToolCall], Any]
Approver = Callable[[ToolCall], Any]
Asker = Callable[[AskForm], Any]
# Yields what to call, is sent what that returned (or thrown what it raised), and returns a T.
Steps = Generator[Operation | Message, Any, T]


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    """The steps are over, and this is what they returned."""

    value: T
