"""What every log line of a piece of work carries: the request or the job that it belongs to, and on whose behalf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_context: ContextVar[dict[str, str] | None] = ContextVar("log_context", default=None)


@contextmanager
def bind_context(**words: str) -> Iterator[None]:
    """While inside, each log line of this thread carries these words, and those that are noted."""
    token = _context.set({**(_context.get() or {}), **words})
    try:
        yield
    finally:
        _context.reset(token)


def add_context(**words: str) -> None:
    """Add what was found out meanwhile, such as whose key it is. Outside of any work it does nothing."""
    held = _context.get()
    if held is not None:
        held.update(words)


def current_context() -> Mapping[str, str]:
    """The words of the work at hand, such as `request_id`."""
    return _context.get() or {}


def current_caller() -> str:
    """On whose behalf the work at hand is done: a key or an operator; empty where it is on nobody's."""
    held = current_context()
    return next((f"{kind}:{held[kind]}" for kind in ("key", "operator") if kind in held), "")
