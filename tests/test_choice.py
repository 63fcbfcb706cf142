"""Which tier a test belongs to."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import choice
from tests.choice import TIERS, why_not


def _item(*marks: str, path: Path = Path(__file__)) -> Any:
    return SimpleNamespace(iter_markers=lambda: [SimpleNamespace(name=name) for name in marks], path=path)


@pytest.mark.parametrize(
    ("marks", "tiers", "reason"),
    [
        ((), set(), ""),
        (("slow",), set(), "slow: with --all"),
        (("slow",), {"slow"}, ""),
        (("slow",), {"rare"}, "slow: with --all"),
        (("rare",), {"slow"}, "rare: with --rare"),
        (("rare",), {"rare"}, ""),
        # One test of a slow file.
        (("rare", "slow"), {"slow"}, "rare: with --rare"),
        (("rare", "slow"), {"rare"}, ""),
        (("postgres", "slow"), {"slow"}, "on PostgreSQL alone"),
    ],
)
def test_a_tier_runs_where_it_was_asked_for(marks: tuple[str, ...], tiers: AbstractSet[str], reason: str) -> None:
    assert why_not(_item(*marks), tiers=tiers, on_postgresql=False) == reason


@pytest.mark.parametrize(
    ("text", "options", "is_left_out"),
    [
        ("pytestmark = pytest.mark.django_db\n@pytest.mark.slow\ndef test_x(): ...\n", set(), False),
        ("pytestmark = pytest.mark.slow\n", set(), True),
        ("pytestmark = [\n    pytest.mark.slow,\n]\n", set(), True),
        ("pytestmark = pytest.mark.slow\n", {"--all"}, False),
        ("pytestmark = pytest.mark.slow\n", {"--rare"}, True),
        ("pytestmark = pytest.mark.slow\n\n@pytest.mark.rare\ndef test_x(): ...\n", {"--rare"}, False),
        ("pytestmark = pytest.mark.slow\n", {"--where"}, False),
    ],
)
def test_a_file_in_which_nothing_can_run_is_not_imported(
    tmp_path: Path, text: str, options: AbstractSet[str], is_left_out: bool
) -> None:
    path = tmp_path / "test_one.py"
    path.write_text(text)
    config: Any = SimpleNamespace(getoption=options.__contains__)
    assert choice.is_left_out(path, config) == is_left_out


@pytest.mark.parametrize(
    ("path", "marks", "tiers", "runs"),
    [
        ("unit/registry/core/test_x.py", ("django_db",), set(), True),
        ("unit/registry/usage/test_x.py", ("django_db",), set(), False),
        ("unit/registry/usage/test_x.py", ("django_db",), {"slow"}, False),
        ("unit/registry/usage/test_x.py", ("django_db",), {"rare"}, True),
        ("unit/registry/usage/test_x.py", ("django_db", "both_databases"), set(), False),
        ("unit/registry/usage/test_x.py", ("django_db", "both_databases"), {"slow"}, True),
        ("unit/registry/usage/test_x.py", ("postgres",), set(), True),
        ("unit/studio/test_x.py", ("django_db",), {"slow"}, False),
        ("unit/registry/core/test_x.py", (), {"slow"}, False),
    ],
)
def test_what_postgresql_runs(path: str, marks: tuple[str, ...], tiers: AbstractSet[str], runs: bool) -> None:
    item = _item(*marks, path=Path(__file__).parent / path)
    assert (why_not(item, tiers=tiers, on_postgresql=True) == "") is runs


def test_each_tier_is_a_mark_of_its_own(pytestconfig: pytest.Config) -> None:
    known = {line.partition(":")[0] for line in pytestconfig.getini("markers")}
    assert set(TIERS) <= known
