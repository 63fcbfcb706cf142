"""What does the work of skills' tools: a function for each, by the tool's name.

    tools = Toolbox()

    @tools.implements("weight_entry_save_batch")
    def save(arguments: WeightEntrySaveBatch, call: ToolCall) -> WeightEntrySaveBatchResult: ...

    session = Session(registry, toolbox=tools)

`python -m capability_client stubs weights` writes the types of the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, TypeVar

from capability_client.session.operations import is_async
from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.tool_names import wire_name
from capability_kit.errors import RegistryError
from capability_kit.tool_gate import ToolCall

A = TypeVar("A")
R = TypeVar("R")
_NAMED_MAX: Final = 10


class ToolsNotImplemented(RegistryError):
    """A skill has tools for which this program has no function: it is not loaded."""

    code = "TOOLS_NOT_IMPLEMENTED"
    said = "This program cannot do what that skill needs, so I cannot use it for this request."
    advice = "Trying again does not help; go on without it, or tell the user."

    @classmethod
    def of(cls, capability_id: str, tools: Iterable[str]) -> ToolsNotImplemented:
        """With the names of the tools."""
        missing = list(tools)
        named = ", ".join(missing[:_NAMED_MAX])
        words = f"The toolbox of this program implements no {named} of {capability_id}"
        return cls(words, data={"capability_id": capability_id, "missing_tools": missing})


class Toolbox:
    """Give it to a session as `toolbox`, or to its methods as `run`.

    With `toolbox` a skill whose tools are not all implemented is refused when it is loaded, with
    `ToolsNotImplemented`: a program that loads it fails at once, and a model does without it.
    """

    def __init__(self) -> None:
        self._functions: dict[str, Callable[..., Any]] = {}

    def implements(self, tool: str) -> Callable[[Callable[[A, ToolCall], R]], Callable[[A, ToolCall], R]]:
        """Decorate the function of a tool: it is called with the checked arguments and the call.

        `tool` is its name; where two skills have tools of one name, `SKILL__TOOL`, as a model calls it. For an
        `AsyncSession` it may be a coroutine function. Raises `ValueError` where the tool has a function already.
        """
        if tool in self._functions:
            raise ValueError(f"{tool} has a function already: {self._functions[tool].__name__}")

        def keep(function: Callable[[A, ToolCall], R]) -> Callable[[A, ToolCall], R]:
            self._functions[tool] = function
            return function

        return keep

    def missing(self, bundle: Bundle) -> list[str]:
        """The tools of a skill that have no function here, such as for a test of the program."""
        names = (tool["name"] for tool in bundle.tools)
        return [name for name in names if self._find(bundle.capability_id, name) is None]

    def bound(self, call: ToolCall) -> partial[object]:
        """The function of this call with its arguments. Raises `ToolsNotImplemented`."""
        function = self._find(call.capability_id, call.tool)
        if function is None:
            raise ToolsNotImplemented.of(call.capability_id, [call.tool])
        return partial(function, call.arguments, call)

    def is_async(self, capability_id: str, tool: str) -> bool:
        """Whether the function of this tool is a coroutine function."""
        return is_async(self._find(capability_id, tool))

    def __call__(self, call: ToolCall) -> object:
        """What the tool's function returns. Raises `ToolsNotImplemented`."""
        return self.bound(call)()

    def _find(self, capability_id: str, tool: str) -> Callable[..., Any] | None:
        return self._functions.get(wire_name(capability_id, tool)) or self._functions.get(tool)
