"""What this process keeps in memory of the database, its settings and its callers, and how all of it is cleared.

A module that keeps such state registers what clears it, beside the state. Caches of pure functions, which depend on
nothing but their arguments, need no clearing and are not registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

_Clear = TypeVar("_Clear", bound=Callable[[], object])
_CLEARS: Final[list[Callable[[], object]]] = []


def register(clear: _Clear) -> _Clear:
    """Have `reset_all` call `clear`; returns it, so that it can decorate a function."""
    _CLEARS.append(clear)
    return clear


def reset_all() -> None:
    """Clear every registered cache: what follows behaves as in a process that has just started."""
    for clear in _CLEARS:
        clear()
