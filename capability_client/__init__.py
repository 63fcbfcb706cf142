"""What an agent runtime imports: load bundles, keep a session, build the prompt. Knows nothing of Django.

Every name of `__init__.pyi` is loaded on first use: who needs a session alone does not pay for an HTTP client with it.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Final

# By its name, the module and the name there.
_HOMES: Final = {
    str(alias.asname): (str(line.module), alias.name)
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'capability_client' has no attribute '{name}'")
    module, home = _HOMES[name]
    found: object = getattr(import_module(module), home)
    return found
