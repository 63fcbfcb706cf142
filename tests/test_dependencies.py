"""Each package names what it imports in its own `pyproject.toml`, and imports nothing that another one brings."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.imports import list_imports
from tests.servers import ROOT

# The server is one distribution of four packages; the others are a folder each, with a file of their own.
SERVER = ("agent_api", "features", "registry", "studio")
STANDALONE = ("capability_kit", "capability_rules", "capability_client")
# A script that writes a committed file, with a package of the tests; no wheel runs it.
SCRIPTS = {ROOT / "capability_rules/validation/a2ui/catalog/generate.py"}
# Modules of adapters' frameworks, which no environment of ours has, where their names differ from the distribution's.
FRAMEWORKS = {"agents": "openai-agents", "pydantic_ai": "pydantic-ai-slim"}


@pytest.mark.parametrize(
    ("project", "packages"), [(ROOT, SERVER), *((ROOT / package, (package,)) for package in STANDALONE)]
)
def test_a_package_imports_what_its_pyproject_names_and_no_more(project: Path, packages: tuple[str, ...]) -> None:
    named = _named(project)
    distributions = packages_distributions()
    faults = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for package in packages
        for path in sorted((ROOT / package).rglob("*.py"))
        if path not in SCRIPTS and "tests" not in path.parts
        for line, module in {(line, name.partition(".")[0]) for line, name in list_imports(path)}
        if module not in {*packages, *sys.stdlib_module_names} and not named & _distributions_of(module, distributions)
    ]
    assert not faults, faults


def _named(project: Path) -> set[str]:
    """The distributions that a `pyproject.toml` requires, always or with an extra."""
    table = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    extras = table.get("optional-dependencies", {})
    tools = {"test", "lint", "docs", "fuzz"}
    wanted = [*table["dependencies"], *(one for name in extras.keys() - tools for one in extras[name])]
    return {_normalize(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]) for requirement in wanted}


def _normalize(name: str) -> str:
    return name.lower().replace("_", "-")


def _distributions_of(module: str, distributions: Mapping[str, list[str]]) -> set[str]:
    found = distributions.get(module) or [FRAMEWORKS.get(module) or module]
    return {_normalize(name) for name in found}
