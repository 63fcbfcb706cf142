"""Counts of days become counts of months after a quarter of a year, and none is lost."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from registry.core.jobs import queue
from registry.models import LoadCount
from registry.operations import housekeeping
from registry.usage.rollup import fold_oldest_month

pytestmark = pytest.mark.django_db
TODAY = date(2026, 6, 15)


def _count(day: date, count: int, revision: int = 1, key_name: str = "") -> None:
    LoadCount.objects.create(day=day, capability_id="alpha", revision=revision, key_name=key_name, count=count)


def _rows() -> list[tuple[date, int, str, int]]:
    columns = ("day", "revision", "key_name", "count")
    return [(day, revision, key, count) for day, revision, key, count in LoadCount.objects.values_list(*columns)]


@pytest.mark.both_databases
def test_a_month_becomes_one_row_for_each_revision_and_key() -> None:
    for day in range(1, 29):
        _count(date(2026, 1, day), 2)
    _count(date(2026, 1, 9), 5, revision=2)
    _count(date(2026, 1, 31), 7, key_name="agent")
    assert fold_oldest_month(TODAY) == 29
    first = date(2026, 1, 1)
    assert sorted(_rows()) == [(first, 1, "", 56), (first, 1, "agent", 7), (first, 2, "", 5)]
    assert fold_oldest_month(TODAY) == 0


def test_a_month_that_is_not_wholly_old_keeps_its_days() -> None:
    """90 days before 15 June is 17 March: March stays, its first days too."""
    _count(date(2026, 2, 28), 1)
    _count(date(2026, 3, 2), 1)
    assert fold_oldest_month(TODAY) == 1
    assert fold_oldest_month(TODAY) == 0
    assert sorted(day for day, *_ in _rows()) == [date(2026, 2, 1), date(2026, 3, 2)]


def test_the_oldest_month_comes_first_and_years_are_told_apart() -> None:
    _count(date(2026, 1, 5), 1)
    _count(date(2025, 1, 5), 1)
    fold_oldest_month(TODAY)
    assert sorted(day for day, *_ in _rows()) == [date(2025, 1, 1), date(2026, 1, 5)]


def test_the_job_folds_what_is_old_today() -> None:
    today = datetime.now(UTC).date()
    _count((today - timedelta(days=200)).replace(day=12), 3)
    _count(today, 4)
    housekeeping.queue_daily(today)
    while queue.run_next_job():
        pass
    assert [count for day, *_, count in sorted(_rows()) if day.day == 1 or day == today][-2:] == [3, 4]
