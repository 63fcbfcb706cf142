"""Run by the Python of a plain installation: import every module of the product, and what stands inside its functions.

Prints a JSON list of `[place, name of the missing module]`.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("capability_kit", "capability_rules", "capability_client", "registry", "agent_api", "features", "studio")
# What an adapter's own framework brings; it is not in any lock.
FRAMEWORKS = {"agents", "claude_agent_sdk", "langchain_core", "langgraph", "pydantic_ai", "pydantic_core"}
# A script of ours that is not part of a wheel's run time: it writes a file that is committed.
SCRIPTS = {"capability_rules/validation/a2ui/catalog/generate.py", "capability_rules.validation.a2ui.catalog.generate"}
# Each of these serves, or does jobs, from the moment that it is imported.
PROGRAMS = ("studio.celery", "studio.rsgi", "studio.wsgi", "studio.gateway.__main__")


def product_modules(root: Path) -> Iterator[tuple[str, Path]]:
    """The name and the file of each, without tests and what is started as a program."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if "tests" in parts or parts[-1] in ("setup", "__main__"):
                continue
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def names_inside(path: Path) -> Iterator[tuple[int, str]]:
    """Line and module of each import in the file, wherever it stands; `from x import y` may name a module too."""
    tree = ast.parse(path.read_text("utf-8"))
    typed = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in typed:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


def list_faults(root: Path) -> list[tuple[str, str]]:
    """What is missing, without frameworks and what another system's Python brings."""
    elsewhere = FRAMEWORKS | sys.stdlib_module_names
    return [
        (place, name)
        for place, name in find_missing(root)
        if name.partition(".")[0] not in elsewhere and place.partition(":")[0] not in SCRIPTS
    ]


def find_missing(root: Path) -> Iterator[tuple[str, str]]:
    """Where something was imported that is not installed, and what."""
    for module, path in product_modules(root):
        if module not in PROGRAMS:
            yield from _import(module, module)
        for line, name in names_inside(path):
            if name not in PROGRAMS and name.partition(".")[0] != "tests":
                yield from _import(name, f"{path.relative_to(root)}:{line}")


def _import(name: str, place: str) -> Iterator[tuple[str, str]]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        yield place, error.name or name


if __name__ == "__main__":
    import django

    django.setup()
    # Addresses of a feature use what the core's registers.
    importlib.import_module("studio.urls")
    print(json.dumps(list_faults(Path(sys.argv[1]))))
