"""What is counted in memory and added to the database every few seconds: a warm read never writes."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Final

from django.db import DatabaseError, InterfaceError
from django.db.models import F
from django.utils import timezone

from registry.models import AgentKey, DemandMiss, LoadCount
from registry.writing import impatient_writing

logger = logging.getLogger(__name__)

# Anybody can ask for anything: past these many different ids between two flushes, or in the table, no more are kept.
MISSES_HELD_MAX: Final = 1000
MISSES_KEPT_MAX: Final = 10_000


@dataclass
class _Held:
    loads: Counter[tuple[date, str, int, str]] = field(default_factory=Counter)
    misses: Counter[str] = field(default_factory=Counter)
    keys_used: dict[str, datetime] = field(default_factory=dict)


@dataclass
class Totals:
    """Since the process began, whether handed in or not."""

    loads: int = 0
    misses: int = 0


TOTALS: Final = Totals()
_held = _Held()
_lock = threading.Lock()


def count_load(*, capability_id: str, revision: int, key_name: str) -> None:
    """One load of a revision, `key_name` empty for a public read."""
    with _lock:
        TOTALS.loads += 1
        _held.loads[(datetime.now(UTC).date(), capability_id, revision, key_name)] += 1


def count_miss(capability_id: str) -> None:
    """An agent asked for an id that is not published."""
    with _lock:
        TOTALS.misses += 1
        wanted = capability_id[:64]
        if wanted in _held.misses or len(_held.misses) < MISSES_HELD_MAX:
            _held.misses[wanted] += 1


def note_key_use(key_name: str) -> None:
    """A key was used just now."""
    with _lock:
        _held.keys_used[key_name] = timezone.now()


def flush() -> None:
    """Add what was counted to the database; it is kept where the database is away."""
    global _held
    with _lock:
        held, _held = _held, _Held()
    if not (held.loads or held.misses or held.keys_used):
        return
    try:
        # In the thread that keeps the snapshot fresh: whoever holds the lock for long must not hold that up.
        with impatient_writing():
            _add_loads(held)
            _add_misses(held)
            for name, used_at in held.keys_used.items():
                AgentKey.objects.filter(name=name).update(last_used_at=used_at)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("counts are kept until the database is back: %s", error)
        with _lock:
            _held.loads.update(held.loads)
            _held.misses.update(held.misses)
            _held.keys_used = {**held.keys_used, **_held.keys_used}


def _add_loads(held: _Held) -> None:
    for (day, capability_id, revision, key_name), count in held.loads.items():
        row, made = LoadCount.objects.get_or_create(
            day=day, capability_id=capability_id, revision=revision, key_name=key_name, defaults={"count": count}
        )
        if not made:
            LoadCount.objects.filter(pk=row.pk).update(count=F("count") + count)


def _add_misses(held: _Held) -> None:
    room = MISSES_KEPT_MAX - DemandMiss.objects.count()
    for capability_id, count in held.misses.items():
        known = DemandMiss.objects.filter(capability_id=capability_id)
        if known.update(count=F("count") + count, last_seen_at=timezone.now()):
            continue
        if room > 0:
            DemandMiss.objects.create(capability_id=capability_id, count=count)
            room -= 1
