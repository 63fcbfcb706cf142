"""Who is affected by a release."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from registry.models import LoadCount
from registry.publishing.audience import DAYS, KEYS_SHOWN, get_audience

pytestmark = pytest.mark.django_db

TODAY = date(2030, 5, 31)


def _count(days_ago: int, count: int, *, key_name: str = "", revision: int = 1, capability_id: str = "alpha") -> None:
    LoadCount.objects.create(
        day=TODAY - timedelta(days=days_ago),
        capability_id=capability_id,
        revision=revision,
        key_name=key_name,
        count=count,
    )


def test_loads_of_thirty_days_by_key() -> None:
    _count(0, 3, key_name="bot")
    _count(2, 4, key_name="bot", revision=2)
    _count(1, 1)
    _count(DAYS, 100, key_name="long ago")
    _count(0, 100, capability_id="beta")
    found = get_audience("alpha", today=TODAY)
    assert (found.loads, found.keys) == (8, 2)
    assert [(one.key_name, one.loads, one.last_day, one.revision) for one in found.readers] == [
        ("bot", 7, TODAY, 2),
        ("", 1, TODAY - timedelta(days=1), 1),
    ]
    assert found.by_day[-3:] == ((TODAY - timedelta(days=2), 4), (TODAY - timedelta(days=1), 1), (TODAY, 3))
    assert len(found.by_day) == DAYS


def test_nobody() -> None:
    found = get_audience("alpha", today=TODAY)
    assert (found.loads, found.keys, found.readers) == (0, 0, ())


def test_the_busiest_are_named_and_all_are_counted() -> None:
    for number in range(KEYS_SHOWN + 5):
        _count(0, number + 1, key_name=f"key {number}")
    found = get_audience("alpha", today=TODAY)
    assert (found.keys, len(found.readers)) == (KEYS_SHOWN + 5, KEYS_SHOWN)
    assert found.readers[0].loads == KEYS_SHOWN + 5
