"""Which tier a test belongs to."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.choice import TIERS, why_not


def _item(*marks: str) -> Any:
    return SimpleNamespace(iter_markers=lambda: [SimpleNamespace(name=name) for name in marks], path=Path(__file__))


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


def test_each_tier_is_a_mark_of_its_own(pytestconfig: pytest.Config) -> None:
    known = {line.partition(":")[0] for line in pytestconfig.getini("markers")}
    assert set(TIERS) <= known
