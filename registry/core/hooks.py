"""Functions of higher layers that lower ones call, registered by dotted path in `registry/wiring.py`.

A path is imported when it is first called: a command pays for no package that it does not use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.utils.module_loading import import_string

Function = Callable[..., Any]


class Hook:
    """Called in the order of registration, in the caller's transaction. An error of a function is the caller's."""

    def __init__(self) -> None:
        self.paths: Final[list[str]] = []

    def register(self, *paths: str) -> None:
        """Add the functions at these dotted paths, each of them once."""
        for path in paths:
            if path not in self.paths:
                self.paths.append(path)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for path in self.paths:
            import_string(path)(*args, **kwargs)


class HookTable(dict[str, "str | Function"]):
    """A function for each key: a dotted path until it is used, or the function itself."""

    def find(self, key: str) -> Function | None:
        """The function for `key`; None where there is none."""
        found = self.get(key)
        return import_string(found) if isinstance(found, str) else found
