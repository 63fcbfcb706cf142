"""What a file of Python imports, by its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def list_imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module of each import, wherever it stands; `from x import y` names `x`, and `x.y`, which may be one."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
