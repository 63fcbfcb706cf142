"""What a session waits for: the source, a tool, the model, a person. Each is one operation, which a host can trace."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

OperationKind = Literal[
    "list",
    "load",
    "reload",
    "match",
    "search",
    "file",
    "feedback",
    "install",
    "model",
    "delta",
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


async def read_part(stream: AsyncIterator[object]) -> object:
    """The next part of a reply that is streamed; None at its end."""
    return await anext(stream, None)


def is_async(run: object) -> bool:
    """Whether a call of it gives something to be awaited, so that it does not block."""
    while isinstance(run, partial):
        run = run.func
    return inspect.iscoroutinefunction(run) or inspect.iscoroutinefunction(getattr(run, "__call__", None))  # noqa: B004


# Entered before an operation and left after it, with its exception if it raised one.
Tracer = Callable[[Operation], AbstractContextManager[object]]


def no_trace(operation: Operation) -> AbstractContextManager[object]:  # noqa: ARG001 (a Tracer)
    """The `Tracer` of a session that is not traced."""
    return nullcontext()
