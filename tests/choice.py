"""Which tests run where. `--all` runs the slow ones too, `--rare` those that only a release needs (wheels, programs of
others, corpora); `--where` prints the answer for every file, and runs nothing.

A suite of its own for each database: SQLite runs everything but what needs PostgreSQL; PostgreSQL
(`TEST_DATABASE=postgresql`) runs those tests whose result a database can change, with `--all` also what is marked of
what is built upon the core, with `--rare` all of that. `python3 run.py test` does both.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

import pytest

ON_POSTGRESQL: Final = os.environ.get("TEST_DATABASE") == "postgresql"
# The option that asks for what has the mark.
TIERS: Final = {"rare": "--rare", "slow": "--all"}
_HERE: Final = Path(__file__).parent
# Views, endpoints and commands translate a request into calls of `registry`, whose own tests run on both databases:
# what a page shows is the same on either. Of these folders PostgreSQL runs only what is marked `both_databases`, which
# is each address of the Studio and of the API once, and whatever has queries of its own.
_SAME_ON_BOTH: Final = tuple(
    _HERE / "unit" / folder
    for folder in (
        "agent_api",
        "studio",
        "registry/authoring",
        "registry/cli",
        # A check by itself, and the check of an import that stores nothing.
        "registry/publishing/test_lint_parity.py",
    )
)
# What is built upon the verbs and reads of the core: half of what PostgreSQL could run, and seldom different there. Of
# these folders it runs what is marked `both_databases`: constraints, and each shape of a statement that no other test
# has.
_UPON_THE_CORE: Final = (
    _HERE.parent / "features",
    *(
        _HERE / "unit" / "registry" / folder
        for folder in ("access", "matching", "notifications", "operations", "selectors", "usage")
    ),
)
_WITHOUT_DATABASE: Final = tuple(
    _HERE.parent / package for package in ("capability_kit", "capability_rules", "capability_client")
)
_RUN_ON_BOTH: Final = {"both_databases", "postgres"}
# The whole product, which has a database of its own.
_NOT_ON_POSTGRESQL: Final = {"sqlite", "system", "browser"}
_MODULE_MARKS: Final = re.compile(r"^pytestmark = .+?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_MARK: Final = re.compile(r"pytest\.mark\.(\w+)")
_DATABASE_FIXTURES: Final = {"db", "transactional_db", "django_db_reset_sequences", "django_db_serialized_rollback"}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("studio")
    group.addoption("--all", action="store_true", help="run the slow tests too")
    group.addoption("--rare", action="store_true", help="run the tests that only a release needs too")
    group.addoption("--no-skips", action="store_true", help="a skipped test is a failed test")
    group.addoption("--where", action="store_true", help="print which tests run where, and run none")


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect, rather than skip, what does not belong to this run: a skip says that something is missing here."""
    tiers = {tier for tier, option in TIERS.items() if config.getoption(option)}
    reasons = {id(item): why_not(item, tiers=tiers, on_postgresql=ON_POSTGRESQL) for item in items}
    left_out = [item for item in items if reasons[id(item)]]
    if config.getoption("--where"):
        counts = Counter((str(item.path.relative_to(_HERE.parent)), reasons[id(item)] or "runs") for item in items)
        print(*(f"{path}: {count} {reason}" for (path, reason), count in sorted(counts.items())), sep="\n")
        left_out = list(items)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in gone]


def is_left_out(path: Path, config: pytest.Config) -> bool:
    """Whether nothing in a file can run here, by its text: to import and collect it would take time for nothing."""
    if config.getoption("--where") or not path.name.startswith("test_"):
        return False
    text = path.read_text("utf-8")
    of_module = _MODULE_MARKS.search(text)
    marks = set(_MARK.findall(of_module[0])) if of_module else set()
    if marks & TIERS.keys() and not any(config.getoption(TIERS[tier]) for tier in TIERS.keys() & _MARK.findall(text)):
        return True
    of_file = set(_MARK.findall(text))
    return ON_POSTGRESQL and (
        bool(marks & _NOT_ON_POSTGRESQL)
        or _is_within(path, _WITHOUT_DATABASE)
        or (_is_within(path, _SAME_ON_BOTH) and not _RUN_ON_BOTH & of_file)
        or (_is_within(path, _UPON_THE_CORE) and not config.getoption("--rare") and not _upon(config) & of_file)
    )


def _upon(config: pytest.Config) -> AbstractSet[str]:
    """The marks of what PostgreSQL runs of what is built upon the core."""
    return _RUN_ON_BOTH if config.getoption("--all") else {"postgres"}


def why_not(item: pytest.Item, *, tiers: AbstractSet[str], on_postgresql: bool) -> str:
    """Why a test does not run here; empty where it does. `tiers` are the marks that were asked for."""
    marks = {mark.name for mark in item.iter_markers()}
    # A rare test of a slow file is rare.
    tier = next((tier for tier in TIERS if tier in marks), None)
    if tier is not None and tier not in tiers:
        return f"{tier}: with {TIERS[tier]}"
    if not on_postgresql:
        return "on PostgreSQL alone" if "postgres" in marks else ""
    if "sqlite" in marks:
        return "on SQLite alone"
    if marks & {"system", "browser"}:
        return "the whole product, which has a database of its own: with SQLite"
    if _is_within(item.path, _SAME_ON_BOTH) and not marks & _RUN_ON_BOTH:
        return "the same on both databases: with SQLite"
    if not _uses_database(item, marks):
        return "without a database: with SQLite"
    if _is_within(item.path, _UPON_THE_CORE) and "postgres" not in marks and "rare" not in tiers:
        if "both_databases" not in marks:
            return "upon the core, seldom different: with --rare"
        if "slow" not in tiers:
            return "upon the core: with --all"
    return ""


def _is_within(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _uses_database(item: pytest.Item, marks: set[str]) -> bool:
    from django.test import TransactionTestCase

    cls = getattr(item, "cls", None)
    is_case = isinstance(cls, type) and issubclass(cls, TransactionTestCase)
    return is_case or bool(
        marks & {"django_db", "postgres"} or _DATABASE_FIXTURES & set(getattr(item, "fixturenames", ()))
    )
