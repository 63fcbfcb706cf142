"""Messages that led to no one capability, buffered until they are written (registry/usage/usage_counters.py)."""

from __future__ import annotations

import hashlib
import heapq
import logging
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from django.utils import timezone

from capability_kit.text.stop_words import STOP_WORDS
from capability_kit.text.tokenizer import tokenize
from registry.core import chosen_settings
from registry.models import UnknownCapabilityRequest, UnmatchedMessage
from registry.usage.scrubbing import PLACEHOLDERS, scrub

logger = logging.getLogger(__name__)

# Anybody can say anything: past so many different ones between two flushes no more are held, and in the table the ones
# that are least worth give way (`make_room`). Requests with a key have as much room again.
BUFFERED_MAX: Final = 500
STORED_MAX: Final = 5_000
REQUESTERS_MAX: Final = 20


@dataclass
class UnmatchedBuffer:
    """One form of a message; `requested_by` counts by the name of a key, empty for a public read."""

    text: str
    decision: str
    nearest: str
    count: int = 0
    requested_by: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class BufferedMessage:
    """A message fit to be kept, and its form."""

    form: str
    text: str


def normalize_message(message: str) -> BufferedMessage | None:
    """None where the registry keeps none, or nothing of it is left. Never raises."""
    if not chosen_settings.get_setting("KEEP_UNMATCHED_DAYS"):
        return None
    try:
        text = scrub(message)
        return BufferedMessage(normalized_form(text), text) if text else None
    except Exception:
        # The caller must get a response, whatever error the message caused.
        logger.exception("a message could not be counted")
        return None


def buffer(
    held: dict[str, UnmatchedBuffer], said: BufferedMessage, *, decision: str, nearest: str, key_name: str
) -> None:
    """Count one message, where there is room."""
    if said.form not in held and len(held) >= BUFFERED_MAX * (2 if key_name else 1):
        return
    one = held.setdefault(said.form, UnmatchedBuffer(said.text, decision, nearest))
    one.count += 1
    if key_name in one.requested_by or len(one.requested_by) < REQUESTERS_MAX:
        one.requested_by[key_name] += 1


def normalized_form(text: str) -> str:
    """The same for messages of the same specific words, in whatever order and form."""
    stems = sorted(message_stems(text))
    return hashlib.sha256(" ".join(stems or [text.casefold()]).encode()).hexdigest()


def message_stems(text: str) -> frozenset[str]:
    """The stems of its specific words; of all of its words where none is specific. Scrubbed text is skipped."""
    text = PLACEHOLDERS.sub(" ", text)
    found = {text[word.start : word.end].lower(): word.stem for word in tokenize(text)}
    return frozenset(stem for word, stem in found.items() if word not in STOP_WORDS) or frozenset(found.values())


def restore_buffer(held: dict[str, UnmatchedBuffer], others: dict[str, UnmatchedBuffer]) -> None:
    """Add what could not be written to what has been counted since."""
    for form, other in others.items():
        one = held.setdefault(form, UnmatchedBuffer(other.text, other.decision, other.nearest))
        one.count += other.count
        one.requested_by.update(other.requested_by)


def add_messages(held: dict[str, UnmatchedBuffer]) -> None:
    """Into the database; the caller holds the lock."""
    if not held:
        return
    now = timezone.now()
    rows = {row.form: row for row in UnmatchedMessage.objects.filter(form__in=held)}
    make_room(UnmatchedMessage, most=STORED_MAX, adding=len(held) - len(rows), keep=[row.pk for row in rows.values()])
    for form, one in held.items():
        row = rows.get(form) or UnmatchedMessage(form=form, text=one.text, first_seen_at=now)
        # The newest wording and verdict: what is published may have moved since the first.
        row.decision, row.nearest, row.last_seen_at = one.decision, one.nearest, now
        row.count += one.count
        row.requested_by = merge_requesters(row.requested_by, one.requested_by)
        row.save()


def make_room(
    model: type[UnmatchedMessage] | type[UnknownCapabilityRequest],
    *,
    most: int,
    adding: int,
    keep: Collection[str | int],
) -> None:
    """Delete rows so that `adding` new ones fit into `most`; those of `keep` stay.

    Requests without a key go first, then those that were made least, then the oldest: a caller who fills the table with
    made-up requests displaces their own before those of agents.
    """
    over = model.objects.count() + adding - most
    if over <= 0:
        return
    found = model.objects.exclude(pk__in=keep).order_by("pk").values_list("pk", "requested_by", "count", "last_seen_at")
    least = heapq.nsmallest(over, found.iterator(), key=lambda row: (any(row[1] or ()), row[2], row[3]))
    model.objects.filter(pk__in=[row[0] for row in least]).delete()


def merge_requesters(kept: dict[str, int] | None, counted: Counter[str]) -> dict[str, int]:
    """Both together; of too many keys the first ones are kept."""
    found = dict(kept or {})
    for name, count in counted.items():
        if name in found or len(found) < REQUESTERS_MAX:
            found[name] = found.get(name, 0) + count
    return found
