"""What a person reads in the Studio's Python that no translation reaches."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.conf import settings

STUDIO: Final = Path(settings.BASE_DIR) / "studio"
# What talks to a person through a page. The strings of scripts are marked in another way, and Markdown is in the
# language of its author.
_NOT_SENTENCES: Final = ("markdown.py",)
_OF_PAGES: Final = ("pages", "confirmations", "navigation")
FILES: Final = (
    *sorted(path for path in (STUDIO / "pages").rglob("*.py") if path.name not in _NOT_SENTENCES),
    *sorted((STUDIO / "templatetags").glob("*.py")),
    *sorted(path for path in STUDIO.parent.glob("features/*/*.py") if path.stem.endswith(_OF_PAGES)),
)
_MARKS: Final = ("_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy")
_SENTENCE: Final = re.compile(r"^\s*(?:[A-Z][a-z]+ \S|[^{}]*[a-z]{2} [^{}]*[a-z]{2}\.$)|\} [a-z]{2,} [a-z]{2,}")


def unmarked(source: str) -> Iterator[tuple[int, str]]:
    """The line and the words of each sentence in a module that stands in no call of gettext."""
    tree = ast.parse(source)
    passed = {id(inner) for node in ast.walk(tree) for inner in _passed(node)}
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            passed |= {id(inner) for inner in ast.walk(node)}
            words = "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value
        else:
            continue
        if _SENTENCE.search(words):
            yield node.lineno, words


def _passed(node: ast.AST) -> Iterator[ast.AST]:
    """Docstrings, and whatever a call of gettext is given."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
        yield from ast.walk(node.body[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MARKS:
        for given in node.args:
            yield from ast.walk(given)
