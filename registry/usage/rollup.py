"""What is kept of usage in the long run: days for a quarter of a year, months from then on."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

from django.db.models import Sum

from registry.core.jobs.queue import CommitAction, Lease
from registry.core.rows import add_count
from registry.models import LoadCount

KIND: Final = "usage.rollup"
RETENTION_DAYS: Final = 90


def roll_up_loads(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: folds the oldest month that is wholly past `RETENTION_DAYS` days; a day later the next one."""
    return lambda: fold_oldest_month(datetime.now(UTC).date())


def fold_oldest_month(today: date) -> int:
    """Add a month's counts up on its first day, by capability, revision and key; how many rows were folded away.

    A month at a time, so that the lock is never held for years of rows. A month that was folded has nothing left but
    first days, so a second call does nothing to it.
    """
    first_kept = (today - timedelta(days=RETENTION_DAYS)).replace(day=1)
    old = LoadCount.objects.filter(day__lt=first_kept, day__day__gt=1).order_by("day")
    oldest = old.values_list("day", flat=True).first()
    if oldest is None:
        return 0
    month = old.filter(day__year=oldest.year, day__month=oldest.month).order_by()
    totals = month.values_list("capability_id", "revision", "key_name").annotate(total=Sum("count"))
    for capability_id, revision, key_name, total in totals:
        key = {"capability_id": capability_id, "revision": revision, "key_name": key_name}
        add_count(LoadCount.objects, total, day=oldest.replace(day=1), **key)
    return month.delete()[0]
