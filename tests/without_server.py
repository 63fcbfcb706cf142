"""A plugin of pytest for the tests of the packages that stand by themselves: nothing of the server can be imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Final

_SERVER: Final = frozenset({"django", "rest_framework", "registry", "agent_api", "studio", "features"})


class _Refusal:
    """The first finder that Python asks."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] in _SERVER:
            raise ModuleNotFoundError(f"{name} belongs to the server, which this package does without", name=name)
        return None


def pytest_configure() -> None:
    sys.meta_path.insert(0, _Refusal())
