"""`capability_registry_list`: what exists, page by page, and what has changed since."""

from __future__ import annotations

import base64
import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any, Final

import orjson
from django.core import signing
from django.utils import timezone

from agent_api.http import parameters
from capability_rules.errors import InvalidRequest
from registry.snapshot import STORE, Principal, Snapshot, SnapshotEntry
from registry.snapshot.response_cache import CONFIDENCE, RenderedResponse
from registry.snapshot.snapshot import FULL_ACCESS
from registry.snapshot.visibility import is_restricted, restrict_past, restricted_view

LIMIT_MAX: Final = 1000
OS: Final = ("common", "darwin", "win32", "linux")
# Answers kept with one snapshot; a client that varies its filters must not fill the memory.
CACHED_RESPONSES_MAX: Final = 64
# How long a cursor stays valid after the registry has moved past its revision. Counted from that moment and not from
# the creation of the cursor: the first page is cached, and its bytes and ETag stay the same until something changes.
CURSOR_LIFETIME: Final = timedelta(hours=1)
_BEGIN_AGAIN: Final = "begin again from the first page, without a cursor"


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a client asks for. `after` and `at_revision` come from the cursor."""

    group: str
    os: str
    since: int | None
    limit: int
    is_minimal: bool
    after: str = ""
    at_revision: int | None = None

    @property
    def fingerprint(self) -> str:
        """What a cursor must agree with: a page of another question would leave gaps."""
        parts = orjson.dumps([self.group, self.os, self.since, self.is_minimal])
        return hashlib.sha256(parts).hexdigest()[:8]

    def takes(self, entry: SnapshotEntry) -> bool:
        """Whether an entry passes the filters of group and os."""
        if self.group and self.group not in entry.skill_groups:
            return False
        return not self.os or self.os in entry.os or "common" in entry.os


def parse_query(given: Mapping[str, Any]) -> ListQuery:
    """Read the arguments. Raises `InvalidRequest` for an invalid one."""
    asked = ListQuery(
        group=parameters.string(given, "group", most=200),
        os=parameters.choice(given, "os", OS) or "",
        since=parameters.integer(given, "updated_since_revision", least=0),
        limit=parameters.integer(given, "limit", least=1, most=LIMIT_MAX) or LIMIT_MAX,
        is_minimal=parameters.choice(given, "fields", ("minimal",)) is not None,
    )
    return _with_cursor(asked, given)


def _with_cursor(asked: ListQuery, given: Mapping[str, Any]) -> ListQuery:
    cursor = parameters.string(given, "cursor", most=2000)
    if not cursor:
        return asked
    at_revision, after, fingerprint = _read_cursor(cursor)
    if fingerprint != asked.fingerprint:
        raise InvalidRequest(f"The cursor belongs to a list with other filters; {_BEGIN_AGAIN}")
    return ListQuery(asked.group, asked.os, asked.since, asked.limit, asked.is_minimal, after, at_revision)


def _signer() -> signing.Signer:
    """Signs cursors: without a signature, anyone could open any past list by the number of its revision."""
    return signing.Signer(sep=".", salt="capability_registry_list")


def _read_cursor(cursor: str) -> tuple[int, str, str]:
    try:
        raw = _signer().unsign(cursor)
    except signing.BadSignature:
        raise _invalid_cursor() from None
    at_revision, after, fingerprint = orjson.loads(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)))
    return at_revision, after, fingerprint


def _cursor(asked: ListQuery, at_revision: int, after: str) -> str:
    raw = orjson.dumps([at_revision, after, asked.fingerprint])
    return _signer().sign(base64.urlsafe_b64encode(raw).decode().rstrip("="))


def _invalid_cursor() -> InvalidRequest:
    return InvalidRequest(f"The cursor was not issued by this registry; {_BEGIN_AGAIN}")


def list_response(snapshot: Snapshot, asked: ListQuery, principal: Principal) -> RenderedResponse:
    """The page, rendered once a snapshot for all keys that see the same.

    A cursor reads the registry as it was when its first page was made, without what has been hidden from the reader
    since. Raises `InvalidRequest` for a cursor that has expired.
    """
    if asked.at_revision is not None and asked.at_revision != snapshot.registry_revision:
        pinned = _pinned_snapshot(asked.at_revision)
        return _render(
            pinned, restrict_past(pinned, STORE.snapshot, principal), asked, principal, scores=STORE.snapshot
        )
    key = _cache_key(asked, principal), snapshot.feedback_revision
    kept = snapshot.answers.get(key)
    if kept is None:
        kept = snapshot.answers[key] = _render(
            snapshot, restricted_view(snapshot, principal), asked, principal, scores=snapshot
        )
        while len(snapshot.answers) > CACHED_RESPONSES_MAX:
            snapshot.answers.popitem(last=False)
    rendered: RenderedResponse = kept
    return rendered


def _pinned_snapshot(at_revision: int) -> Snapshot:
    pinned = STORE.at(at_revision)
    if pinned is None:
        raise _invalid_cursor()
    if pinned.ended_at is not None and timezone.now() - pinned.ended_at > CURSOR_LIFETIME:
        raise InvalidRequest(f"The cursor has expired: the registry has changed since; {_BEGIN_AGAIN}")
    return pinned


def _cache_key(asked: ListQuery, principal: Principal) -> Any:
    """Everything that a response depends on besides the snapshot."""
    if asked.since is None:
        return asked if principal.sight is FULL_ACCESS else (asked, principal.sight)
    opened = principal.list_opened_since(asked.since)
    return asked, principal.sight, max(asked.since, principal.visibility_revision), opened


def _render(
    snapshot: Snapshot, known: Snapshot, asked: ListQuery, principal: Principal, *, scores: Snapshot
) -> RenderedResponse:
    """A page of the snapshot; `known` is the part of it that the key sees, `scores` has the confidences of now."""
    following = _entries_after(known, asked, principal)
    # One more than the page: it tells whether there is another page.
    taken = list(islice(following, asked.limit + 1))
    page = taken[: asked.limit]
    cursor = _cursor(asked, snapshot.registry_revision, page[-1].capability_id) if len(taken) > len(page) else None
    rows = b",".join([entry.rendered_minimal if asked.is_minimal else _row(entry, scores) for entry in page])
    tail: dict[str, Any] = {"registry_revision": snapshot.registry_revision, "next_cursor": cursor}
    if asked.since is not None:
        tail["removed"] = _removed(snapshot, known, asked, asked.since, principal)
    if snapshot.first_run in known.entries:
        tail["first_run"] = snapshot.first_run
    if snapshot.exclusive:
        named = snapshot.exclusive & known.groups
        tail |= {"exclusive_groups": sorted(named)} if named else {}
    return RenderedResponse(b'{"capabilities":[' + rows + b"]," + orjson.dumps(tail)[1:])


def _row(entry: SnapshotEntry, scores: Snapshot) -> bytes:
    """The entry with what is known now of a playbook's confidence."""
    score = scores.confidence(entry)
    return entry.rendered if score is None else entry.rendered[:-1] + CONFIDENCE + orjson.dumps(score.as_dict()) + b"}"


def _entries_after(known: Snapshot, asked: ListQuery, principal: Principal) -> Iterator[SnapshotEntry]:
    """The matching entries, from the cursor on. Filters that are not set cost nothing."""
    found: Iterator[SnapshotEntry] = iter(known.entries.values())
    if asked.after:
        ids = known.ids
        found = (known.entries[capability_id] for capability_id in ids[bisect_right(ids, asked.after) :])
    if asked.since is not None:
        since, opened = asked.since, principal.list_opened_since(asked.since)
        # Saving a draft does not move the registry revision: it is listed each time.
        found = (e for e in found if e.changed_at > since or e.draft is not None or e.capability_id in opened)
    return filter(asked.takes, found) if asked.group or asked.os else found


def _removed(snapshot: Snapshot, known: Snapshot, asked: ListQuery, since: int, principal: Principal) -> list[str]:
    """Ids to forget: what went since, and what a change took out of the filter."""
    left = [e.capability_id for e in known.entries.values() if e.changed_at > since and not asked.takes(e)]
    gone = _find_gone(snapshot, known, since, principal)
    return sorted([*gone, *(left if asked.group or asked.os else [])])


def _find_gone(snapshot: Snapshot, known: Snapshot, since: int, principal: Principal) -> set[str]:
    """Ids that the key saw at `since` and does not see now.

    What was hidden, and not retired, before the key existed is left out: the key can never have seen it.
    """
    if not is_restricted(snapshot, principal) and all(at <= since for at in snapshot.retired.values()):
        return set()
    gone = _ids_seen_at(since, principal) - known.entries.keys()
    if gone and principal.visibility_revision > since:
        gone &= snapshot.retired.keys() | _ids_seen_at(principal.visibility_revision, principal)
    return gone


def _ids_seen_at(registry_revision: int, principal: Principal) -> set[str]:
    past = STORE.at(registry_revision)
    return set(restricted_view(past, principal).entries) if past is not None else set()
