"""How the packages may import each other (docs/architecture.md says why), and what a committed file never holds."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.common.installation import PARTS
from tests.imports import list_imports
from tests.servers import ROOT

ROOMS = ("capability_kit", "capability_rules", "capability_client", "registry", "agent_api", "studio", "features")
_SERVER = ("django", "rest_framework", "registry", "agent_api", "studio", "features")
# Their tests compare them with each other.
_BY_THEMSELVES = ("capability_kit", "capability_rules", "capability_client")
# What a room never imports. studio/urls.py and studio/wsgi.py are the one crossing to agent_api, by name.
BANNED = {
    "capability_kit": (*_SERVER, "capability_rules", "capability_client"),
    "capability_rules": (*_SERVER, "capability_client"),
    "capability_client": (*_SERVER, "capability_rules"),
    "registry": (
        "capability_client",
        "agent_api",
        "studio",
        "features",
        "rest_framework",
        "django.http",
        "django.shortcuts",
        "django.views",
        "django.urls",
    ),
    "agent_api": ("studio", "capability_client", "features"),
    "studio": ("agent_api", "features"),
    "features": (),
}
CROSSINGS = {"studio/wsgi.py", "studio/gateway/__main__.py", "studio/urls.py", "studio/settings.py"}
# `(importer, imported)`: where the core calls a part by its name. The linter's list is the only one.
EDGES = [
    (importer, imported)
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    for importer, imported in (edge.split(" -> ") for edge in contract.get("ignore_imports", ()))
    if imported.startswith("features.")
]
EDGES_MAX = 10


def _modules(room: str) -> Iterator[Path]:
    return (path for path in (ROOT / room).rglob("*.py") if "node_modules" not in path.parts)


def _is_within(module: str, banned: str) -> bool:
    return module == banned or module.startswith(f"{banned}.")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_stands_below_it(room: str) -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in _modules(room)
        if path.relative_to(ROOT).as_posix() not in CROSSINGS
        for line, module in list_imports(path)
        for banned in (_SERVER if room in _BY_THEMSELVES and "tests" in path.parts else BANNED[room])
        if _is_within(module, banned) and not _is_edge(path, module)
    ]
    assert not faults, faults


def _is_edge(path: Path, module: str) -> bool:
    """`from features.x import y` names the package too."""
    return any(
        importer == _module_name(path) and (_is_within(module, imported) or module == imported.rpartition(".")[0])
        for importer, imported in EDGES
    )


def _module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_the_core_calls_parts_alone_by_name_and_from_few_places() -> None:
    parts = [imported.split(".")[1] for _importer, imported in EDGES]
    assert set(parts) == set(PARTS)
    assert not [edge for edge in EDGES if "*" in "".join(edge)]
    assert max(parts.count(name) for name in PARTS) <= EDGES_MAX


# A client and its server speak of the same thing.
_PAIRED_MODULES = {
    "agent_api.http.parsers",
    "capability_kit.errors",
    "capability_rules.errors",
    "registry.common.errors",
    "registry.common.rate_limits",
}
# Django finds these by their names.
_FRAMEWORK_CLASSES = {"Command", "Migration"}


def test_no_class_name_is_used_twice() -> None:
    modules_by_name: dict[str, set[str]] = {}
    for room in ROOMS:
        for path in _modules(room):
            module = _module_name(path)
            for node in [] if "tests" in path.parts else ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef) and node.name not in _FRAMEWORK_CLASSES:
                    modules_by_name.setdefault(node.name.lstrip("_"), set()).add(module)
    twice = {
        name: modules
        for name, modules in modules_by_name.items()
        if len(modules) > 1 and not modules <= _PAIRED_MODULES
    }
    assert not twice, twice


# With its bases in the product: what somebody has to know who reads one method of it.
CLASS_LINES_MAX = 400


def test_no_class_is_longer_than_somebody_can_hold() -> None:
    found = {name: size for name, size in _class_sizes().items() if size > CLASS_LINES_MAX}
    assert not found, found


def _class_sizes() -> dict[str, int]:
    """The lines of each class, and of every class of the product that it inherits from."""
    classes = {
        node.name: node
        for room in ROOMS
        for path in _modules(room)
        if not {"tests", "migrations"} & set(path.parts)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }

    def list_lineage(name: str) -> set[str]:
        bases = (re.split(r"\.(?!.*\.)", ast.unparse(base).partition("[")[0])[-1] for base in classes[name].bases)
        return {name}.union(*(list_lineage(base) for base in bases if base in classes and base != name))

    return {
        name: sum((classes[one].end_lineno or 0) - classes[one].lineno + 1 for one in list_lineage(name))
        for name in classes
    }


def test_few_modules_lie_beside_the_packages_of_registry() -> None:
    loose = [path.name for path in (ROOT / "registry").glob("*.py")]
    assert len(loose) <= 5, loose


def test_nobody_imports_the_tests() -> None:
    faults = [
        f"{path}:{line}"
        for room in ROOMS
        for path in _modules(room)
        if "tests" not in path.parts
        for line, name in list_imports(path)
        if _is_within(name, "tests")
    ]
    assert not faults, faults


def test_tests_import_no_private_name_of_the_product() -> None:
    """What a test needs is public, or reached through what is."""
    faults = [
        f"{path.relative_to(ROOT)}:{node.lineno} imports {node.module}.{alias.name}"
        for path in _modules("tests")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ROOMS
        for alias in node.names
        if alias.name.startswith("_")
    ]
    assert not faults, faults


def test_schemas_hold_no_code() -> None:
    assert not list((ROOT / "schemas").rglob("*.py"))


def test_settings_are_reached_through_django_alone() -> None:
    allowed = {"studio/settings.py"}
    faults = [
        f"{path}:{line}"
        for room in ROOMS
        for path in _modules(room)
        if path.relative_to(ROOT).as_posix() not in allowed
        for line, module in list_imports(path)
        if _is_within(module, "studio.settings")
    ]
    assert not faults, faults


def _committed() -> list[str]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        # A download without its history: everything that is there, but for what a run makes.
        skipped = {".venv", ".data", "node_modules", "__pycache__", ".git"}
        found = (path for path in ROOT.rglob("*") if path.is_file() and not skipped & set(path.parts))
        return [path.relative_to(ROOT).as_posix() for path in found]
    return [name for name in done.stdout.split("\0") if name]


# Homes of the machines on which things are written; the names of examples are nobody's.
_HOMES = r"(?<![\w.~/-])(?:/(?:home|Users)/(?!user\b|you\b|me\b|alice\b|bob\b)\w|/root/\w|[A-Z]:\\Users\\)"


def _places() -> re.Pattern[str]:
    here = f"|{re.escape(str(ROOT))}(?![\\w-])" if len(ROOT.parts) > 2 else ""
    return re.compile(_HOMES + here)


def test_no_committed_file_names_a_place_on_somebodys_machine() -> None:
    faults, places = [], _places()
    for name in _committed():
        path = ROOT / name
        if name == "tests/test_structure.py" or not path.is_file():
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        faults += [f"{name}: {match[0]}" for match in places.finditer(text)]
    assert not faults, faults


_UPPER_BOUND = re.compile(r"assert .*\btime\.(?:time|monotonic|perf_counter|process_time|thread_time)\(\) - \w+ <")


def test_no_unit_test_has_a_clock_for_a_limit() -> None:
    """A slower machine would fail it: count steps, or compare with reference work (tests/costs.py)."""
    timed = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "tests/unit").rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if _UPPER_BOUND.search(line) and "client.session" not in line
    ]
    assert not timed
