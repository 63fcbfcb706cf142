"""How many seeded faults the tests notice: `.venv/bin/python -m tests.mutations --count 40 --seed 1 2`.

Draws modules at random, changes one place in each (a condition is negated, a comparison swapped, a statement removed, a
constant changed), runs the unit tests that run this line on SQLite, and prints which changes were noticed. A first run
of all unit tests finds out which test runs which line and prints the branch coverage. Works on a copy of the checkout
in a temporary directory, so that nothing here is ever left changed. A change that survives is a missing test, or code
that does nothing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import coverage
import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = (
    "agent_api",
    "capability_client",
    "capability_kit",
    "capability_rules",
    "features",
    "registry",
    "studio",
)
# Of what starts or serves the product, real processes are the test; commands of Django and migrations have no choices.
LEFT_OUT: Final = ("migrations", "management", "launcher", "__main__.py", "settings.py", "wsgi.py", "rsgi.py")
SECONDS_MAX: Final = 240
TESTS_MAX: Final = 300
_PYTHON: Final = str(ROOT / ".venv/bin/python")
_SWAPPED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def list_places(source: str) -> list[int]:
    """Which of the nodes inside of the module's functions can be changed, by their order."""
    nodes = _nodes_in_functions(ast.parse(source))
    return [place for place, node in enumerate(nodes) if _mutate(copy.copy(node))]


def mutate(source: str, place: int) -> tuple[int, str, str]:
    """`(line, what was changed, changed source)`."""
    tree = ast.parse(source)
    node = _nodes_in_functions(tree)[place]
    line = getattr(node, "lineno", 0)
    what = _mutate(node)
    return line, what, ast.unparse(ast.fix_missing_locations(tree))


def _nodes_in_functions(tree: ast.Module) -> list[ast.AST]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = {id(node): node for function in functions for each in function.body for node in ast.walk(each)}
    return list(found.values())


def _mutate(node: ast.AST) -> str:
    """Change the node in place; says what was done, nothing where there is nothing to change."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return "negated condition"
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPPED:
        was = type(node.ops[0])
        node.ops = [_SWAPPED[was](), *node.ops[1:]]
        return f"{was.__name__} became {_SWAPPED[was].__name__}"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        node.value = ast.Constant(None)
        return "removed statement"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
        return f"{node.value - 1} became {node.value}"
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        node.value = not node.value
        return f"{not node.value} became {node.value}"
    return ""


def measure(checkout: Path, data: Path) -> None:
    """Run the unit tests once and keep which test runs which line, and which branches are taken at all."""
    settings = data.parent / "measuring.toml"
    packages = ", ".join(f'"{package}"' for package in PACKAGES)
    settings.write_text(f'[tool.coverage.run]\nbranch = true\nsource = [{packages}]\ndata_file = "{data}"\n', "utf-8")
    command = [_PYTHON, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-p", "tests.mutations"]
    subprocess.run([*command, "-q", "--no-header", "tests/unit", "features", *PACKAGES[1:4]], cwd=checkout, check=False)
    subprocess.run(
        [_PYTHON, "-m", "coverage", "report", f"--rcfile={settings}", "--format=total"], cwd=checkout, check=True
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """In the measured run, this module is a plugin that names the test to coverage."""
    measuring = coverage.Coverage.current()
    if measuring is not None:
        measuring.switch_context(item.nodeid)
    return (yield)


def folder_of_tests(module: Path) -> str:
    """Such as `tests/unit/registry/core`, `capability_kit/tests/text` or `features/webhooks/tests`."""
    top, *below = module.parent.parts
    if top == "features":
        return f"{module.parent}/tests"
    return "/".join([top, "tests", *below] if top.startswith("capability_") else ["tests/unit", top, *below])


def list_tests_of(data: coverage.CoverageData, checkout: Path, module: Path, line: int) -> list[str]:
    """The tests that run a line, at most `TESTS_MAX`: first those of the module's own file and folder, then of files
    that import it, then of files that import its package. Of a line that runs at the import, the module's own file."""
    found = list(filter(None, data.contexts_by_lineno(str(checkout / module)).get(line, [])))
    folder = folder_of_tests(module)
    own_file = f"{folder}/test_{module.name}"
    if not found and (checkout / own_file).is_file():
        return [own_file]
    own = own_file, f"{folder}/"
    dotted = ".".join(module.with_suffix("").parts)
    imported = re.compile(rf"{re.escape(dotted)}\b|from {re.escape(dotted.rpartition('.')[0])} import")

    def rank(test: str) -> tuple[bool | str, ...]:
        source = _read_source(checkout / test.partition("::")[0])
        match = imported.search(source)
        return (*(not test.startswith(each) for each in own), match is None, test)

    return sorted(found, key=rank)[:TESTS_MAX]


@functools.cache
def _read_source(path: Path) -> str:
    return path.read_text("utf-8")


def run_tests(checkout: Path, tests: list[str]) -> str:
    """`survived` where all tests pass, else `caught` and by which; one that takes too long is caught."""
    if not tests:
        return "survived: no unit test runs this line"
    command = [_PYTHON, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *tests], cwd=checkout, capture_output=True, text=True, check=False, timeout=SECONDS_MAX
        )
    except subprocess.TimeoutExpired:
        return "caught by taking too long"
    if done.returncode == 0:
        return f"survived {len(tests)} tests"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED tests", "ERROR tests"))]
    return f"caught by {failed[0].split(' - ')[0][:120] if failed else 'the import'}"


def play(checkout: Path, data: coverage.CoverageData, draw: random.Random, count: int) -> Iterator[str]:
    """Change one place in each of so many modules, print what became of it, and yield the verdict."""
    modules = sorted(
        path.relative_to(ROOT)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if not {*LEFT_OUT, "tests"} & set(path.relative_to(ROOT).parts)
    )
    draw.shuffle(modules)
    changed = 0
    for module in modules:
        source = (checkout / module).read_text("utf-8")
        places = list_places(source)
        if not places or changed >= count:
            continue
        changed += 1
        line, what, mutated = mutate(source, draw.choice(places))
        (checkout / module).write_text(mutated, "utf-8")
        verdict = run_tests(checkout, list_tests_of(data, checkout, module, line))
        (checkout / module).write_text(source, "utf-8")
        print(f"{module}:{line} {what}: {verdict}", flush=True)
        yield verdict


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="changes for each seed")
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutations-") as scratch:
        checkout = Path(scratch) / "studio"
        ignore = shutil.ignore_patterns(".git", ".venv", ".data", "node_modules", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, checkout, ignore=ignore, symlinks=True)
        measure(checkout, Path(scratch) / "coverage")
        data = coverage.CoverageData(str(Path(scratch) / "coverage"))
        data.read()
        for seed in options.seed:
            verdicts = list(play(checkout, data, random.Random(seed), options.count))
            caught = sum(verdict.startswith("caught") for verdict in verdicts)
            print(f"seed {seed}: {caught} of {len(verdicts)} caught", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
