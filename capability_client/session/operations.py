"""What a session waits for: the source, a tool, the model, a person. Each is one operation, which a host can trace."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal

OperationKind = Literal[
    "list",
    "load",
    "reload",
    "match",
    "search",
    "file",
    "feedback",
    "model",
    "execute_tool",
    "approve",
    "ask",
    "show",
    "compact",
]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call out of a session. `capability_id`, `tool` and `call_id` are empty where the operation has none.

    `run` is the call itself, with what was said and all arguments: it is not for a trace.
    """

    kind: OperationKind
    run: Callable[[], object] = field(repr=False)
    capability_id: str = ""
    tool: str = ""
    call_id: str = ""


# Entered before an operation and left after it, with its exception if it raised one.
Tracer = Callable[[Operation], AbstractContextManager[object]]


def no_trace(operation: Operation) -> AbstractContextManager[object]:  # noqa: ARG001 (a Tracer)
    """Trace nothing."""
    return nullcontext()
