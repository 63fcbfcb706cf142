"""Docstrings name what exists: a name in backticks, or an exception after "Raises", that nothing defines is stale."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"[A-Za-z_]\w*")
_IN_BACKTICKS = re.compile(r"`([A-Za-z_]\w*)(?:\(\))?`")
_RAISED = re.compile(r"Raises? (.*?)(?:\.\s|\.?$)", re.DOTALL)
_EXCEPTION = re.compile(r"\b[A-Z][a-z]+[A-Z]\w+")
# Words of one kind of letter are words of English too.
_IS_NAME = re.compile(r"_|[a-z][A-Z]")
_DATA = ("*.json", "*.toml", "*.html", "*.js", "*.mjs", "*.ts", "*.css", "*.yml", "*.yaml")


@pytest.mark.slow
@pytest.mark.slow
def test_each_name_in_a_docstring_is_defined_somewhere() -> None:
    trees = {path: ast.parse((ROOT / path).read_text("utf-8")) for path in _tracked("*.py")}
    docstrings = [(path, *each) for path, tree in trees.items() for each in _docstrings(tree)]
    prose = {id(node) for _, node, _ in docstrings}
    known = set(dir(builtins)).union(*(_names_of(tree, prose) for tree in trees.values()))
    known |= {part.removesuffix(".py") for path in trees for part in Path(path).parts}
    for path in _tracked(*_DATA):
        known |= set(_NAME.findall((ROOT / path).read_text("utf-8")))
    stale = [
        f"{path}:{node.lineno}: {name}"
        for path, node, text in docstrings
        for name in sorted(_named(text) - known)
        if _IS_NAME.search(name)
    ]
    assert len(docstrings) > 1000
    assert not stale, "\n".join(stale)


def _tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]


def _docstrings(tree: ast.Module) -> Iterator[tuple[ast.Constant, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                text = first.value.value
                if isinstance(text, str):
                    yield first.value, text


def _names_of(tree: ast.Module, prose: set[int]) -> set[str]:
    """What a module defines or uses; the words of its strings are keys, codes and columns."""
    found: set[str] = set()
    for node in ast.walk(tree):
        for field in ("name", "id", "attr", "arg", "asname"):
            value = getattr(node, field, None)
            found |= set(_NAME.findall(value)) if isinstance(value, str) else set()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            found |= set(_NAME.findall(node.value))
    return found


def _named(text: str) -> set[str]:
    raised = " ".join(_RAISED.findall(text))
    return set(_IN_BACKTICKS.findall(text)) | set(_EXCEPTION.findall(raised))
