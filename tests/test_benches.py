"""A bench measures what users have: it sets settings of the product, and no variable that users would not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from studio.config.environment import VARIABLES
from tests.servers import ROOT

# Name the settings; say a folder to another server that is measured beside the product; are OpenTelemetry's own.
_OTHERS = {"DJANGO_SETTINGS_MODULE", "BENCH_FOLDER", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


def _variables_set(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each variable that is set in `os.environ`, or is a key of a dictionary for a process."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        keys: list[ast.expr | None] = []
        if isinstance(node, ast.Dict):
            keys = list(node.keys)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("os.environ.", "os.putenv")):
            keys = list(node.args[:1])
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            keys = [node.slice] if isinstance(node.ctx, ast.Store) else []
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and _VARIABLE.fullmatch(key.value):
                yield key.lineno, key.value


def test_a_bench_sets_settings_of_the_product_alone() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{line} sets {name}"
        for path in sorted((ROOT / "bench").rglob("*.py"))
        for line, name in _variables_set(path)
        if name not in _OTHERS and name not in VARIABLES
    ]
    assert not faults, faults
