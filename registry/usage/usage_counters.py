"""What is counted in memory and added to the database every few seconds: a warm read never writes."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Final

from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from registry.common import caches, database_errors
from registry.core.rows import add_count
from registry.core.transactions import try_write_transaction
from registry.models import AgentKey, LoadCount, MatchCount, UnknownCapabilityRequest
from registry.usage import unmatched_messages
from registry.usage.unmatched_messages import UnmatchedBuffer

logger = logging.getLogger(__name__)

# A caller can ask for anything: past these many different ids between two flushes no more are kept (twice as many for
# calls with a key), and in the table the least wanted ones give way.
BUFFERED_MISSES_MAX: Final = 1000
STORED_MISSES_MAX: Final = 10_000


@dataclass
class _Buffer:
    loads: Counter[tuple[date, str, int, str]] = field(default_factory=Counter)
    matches: Counter[tuple[date, str]] = field(default_factory=Counter)
    misses: Counter[str] = field(default_factory=Counter)
    missed_by: dict[str, Counter[str]] = field(default_factory=dict)
    unmatched: dict[str, UnmatchedBuffer] = field(default_factory=dict)
    keys_used: dict[str, datetime] = field(default_factory=dict)
    has_first_load: bool = False


@dataclass
class UsageTotals:
    """Since the process began, whether flushed or not."""

    loads: int = 0
    misses: int = 0


TOTALS: Final = UsageTotals()
_held = _Buffer()
_lock = threading.Lock()
_sources: list[Callable[[], None]] = []
# The revisions that this process has counted a load of: somebody may wait for the first one.
_loaded: set[tuple[str, int]] = set()


def add_source(collect: Callable[[], None]) -> None:
    """Call `collect` whenever the counts are asked for: it adds what was counted elsewhere since the last time."""
    _sources.append(collect)


def collect() -> None:
    """Bring the counts in memory up to this moment."""
    for source in _sources:
        source()


def count_load(capability_id: str, revision: int, *, key_name: str, count: int = 1) -> None:
    """Loads of a revision, `key_name` empty for public reads."""
    with _lock:
        TOTALS.loads += count
        if (capability_id, revision) not in _loaded:
            _loaded.add((capability_id, revision))
            _held.has_first_load = True
        _held.loads[(datetime.now(UTC).date(), capability_id, revision, key_name)] += count


def count_match(decision: str) -> None:
    """A message of an agent was decided: match, ambiguous or none."""
    with _lock:
        _held.matches[(datetime.now(UTC).date(), decision)] += 1


def count_miss(capability_id: str, *, key_name: str = "") -> None:
    """An agent asked for an id that is not published, `key_name` empty for a public read."""
    with _lock:
        TOTALS.misses += 1
        wanted = capability_id[:64]
        if wanted in _held.misses or len(_held.misses) < BUFFERED_MISSES_MAX * (2 if key_name else 1):
            _held.misses[wanted] += 1
            _held.missed_by.setdefault(wanted, Counter())[key_name] += 1


def count_unmatched(*, message: str, decision: str, nearest: str = "", key_name: str = "") -> None:
    """A message led to no one capability; kept scrubbed, and only where `KEEP_UNMATCHED_DAYS` says so."""
    said = unmatched_messages.normalize_message(message)
    if said is not None:
        with _lock:
            unmatched_messages.buffer(_held.unmatched, said, decision=decision, nearest=nearest, key_name=key_name)


def record_key_use(key_name: str) -> None:
    """A key was used just now."""
    with _lock:
        _held.keys_used[key_name] = timezone.now()


def has_first_load() -> bool:
    """Whether a revision was loaded for the first time since the last flush, as far as this process knows."""
    return _held.has_first_load


@caches.register
def clear_buffer() -> None:
    """Drop what was counted and not written yet, as in a new process."""
    global _held
    with _lock:
        _held = _Buffer()
        _loaded.clear()


def flush() -> None:
    """Add what was counted to the database; it is kept where the database is unreachable."""
    global _held
    collect()
    with _lock:
        held, _held = _held, _Buffer()
    if not (held.loads or held.matches or held.misses or held.keys_used or held.unmatched):
        return
    try:
        # In the thread that keeps the snapshot fresh: a writer that holds the lock for long must not block it.
        with try_write_transaction():
            for (day, capability_id, revision, key_name), count in held.loads.items():
                key = {"capability_id": capability_id, "revision": revision, "key_name": key_name}
                add_count(LoadCount.objects, count, day=day, **key)
            for (day, decision), count in held.matches.items():
                add_count(MatchCount.objects, count, day=day, decision=decision)
            _add_misses(held)
            unmatched_messages.add_messages(held.unmatched)
            for name, used_at in held.keys_used.items():
                AgentKey.objects.filter(name=name).update(last_used_at=used_at)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("counts are kept in memory. %s", database_errors.record_outage(error).sentences(error))
        with _lock:
            _held.loads.update(held.loads)
            _held.matches.update(held.matches)
            _held.misses.update(held.misses)
            for wanted, requested_by in held.missed_by.items():
                _held.missed_by.setdefault(wanted, Counter()).update(requested_by)
            unmatched_messages.restore_buffer(_held.unmatched, held.unmatched)
            _held.keys_used = {**held.keys_used, **_held.keys_used}


def _add_misses(held: _Buffer) -> None:
    rows = {row.capability_id: row for row in UnknownCapabilityRequest.objects.filter(capability_id__in=held.misses)}
    # Should there be more than the table takes: those asked for with a key, and those asked for most.
    new = [one for one in held.misses if one not in rows]
    new.sort(key=lambda one: (any(held.missed_by.get(one, ())), held.misses[one]), reverse=True)
    wanted = [*rows, *new][:STORED_MISSES_MAX]
    adding = sum(one not in rows for one in wanted)
    unmatched_messages.make_room(UnknownCapabilityRequest, most=STORED_MISSES_MAX, adding=adding, keep=list(rows))
    for capability_id in wanted:
        row, count = rows.get(capability_id), held.misses[capability_id]
        if row is None:
            row = UnknownCapabilityRequest(capability_id=capability_id)
        row.count += count
        row.last_seen_at = timezone.now()
        row.requested_by = unmatched_messages.merge_requesters(
            row.requested_by, held.missed_by.get(capability_id, Counter())
        )
        row.save()
