"""Load responses, signatures and supporting files, rendered on first use and cached in a byte-bounded LRU."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlencode

import orjson
import zstandard

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.file_pointer import parse_pointer
from capability_rules.bundles.supporting_files import build_file_facts
from capability_rules.errors import RegistryUnavailable
from registry.catalog.drafts import validate_draft
from registry.catalog.integrity import require_valid_revision
from registry.common import caches
from registry.common.errors import SignatureNotFound, SkillMalformed, SupportingFileNotFound
from registry.core.file_contents import FileBytes
from registry.core.queries import build_load_response, load_bundle
from registry.core.rows import get_row
from registry.core.storage import require_database
from registry.models import Draft, Revision
from registry.snapshot.snapshot import SnapshotEntry, read_draft
from registry.snapshot.store import STORE, is_stale
from registry.snapshot.visibility import without_write_tools
from registry.usage.confidence import ConfidenceScore

BYTES_MAX: Final = 64 * 1024 * 1024
# How long a malformed bundle is remembered as such: long enough to spare the database, short enough to be fixed.
MALFORMED_SECONDS: Final = 2.0
# Behind what an entry or a response holds otherwise: it changes without a release.
CONFIDENCE: Final = b',"confidence":'
# Below this, compressing costs more than it saves.
COMPRESS_FROM_BYTES: Final = 500


class RenderedResponse:
    """One response in all its encodings; the compressed ones are made on first use."""

    def __init__(self, identity: bytes) -> None:
        self.identity = identity

    @cached_property
    def etag(self) -> str:
        """Without quotes and suffix: the same for every form."""
        return hashlib.sha256(self.identity).hexdigest()[:32]

    @cached_property
    def gzip(self) -> bytes:
        return gzip.compress(self.identity, compresslevel=6, mtime=0)

    @cached_property
    def zstd(self) -> bytes:
        return zstandard.ZstdCompressor(level=6).compress(self.identity)

    def encoded(self, encoding: str) -> bytes:
        """The bytes for a content coding: `gzip`, `zstd` or `` (identity)."""
        if encoding == "gzip":
            return self.gzip
        return self.zstd if encoding == "zstd" else self.identity

    @property
    def size_bytes(self) -> int:
        """What keeping it may cost, the compressed forms included."""
        return len(self.identity) * 2


@dataclass(frozen=True, slots=True)
class _Malformed:
    error: SkillMalformed
    until: float


class ResponseCache:
    """Keyed by what the bytes depend on (the `key` of `get`)."""

    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.bytes_held = 0
        # For monitoring; since the process started.
        self.hits = self.misses = self.malformed = 0
        self._items: OrderedDict[Any, RenderedResponse | _Malformed] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], RenderedResponse]) -> RenderedResponse:
        """The response, cached or new. Raises what `make` raises; a malformed bundle is remembered briefly."""
        with self._lock:
            kept = self._items.get(key)
            if kept is not None:
                self._items.move_to_end(key)
            self._count(kept)
        if isinstance(kept, RenderedResponse):
            return kept
        if kept is not None and kept.until > time.monotonic():
            self.malformed += 1
            raise kept.error
        try:
            made = make()
        except SkillMalformed as error:
            self.malformed += 1
            self._keep(key, _Malformed(error, time.monotonic() + MALFORMED_SECONDS))
            raise
        self._keep(key, made)
        return made

    def peek(self, key: Any) -> RenderedResponse | None:
        """The cached response, which `count_hits` counts when it was sent; None where it is not cached or stale."""
        with self._lock:
            kept = self._items.get(key)
            if not isinstance(kept, RenderedResponse):
                return None
            self._items.move_to_end(key)
        return kept

    def count_hits(self, count: int) -> None:
        """Responses that were found in memory and sent."""
        with self._lock:
            self.hits += count

    def __len__(self) -> int:
        """How many responses are cached."""
        return len(self._items)

    def _count(self, kept: RenderedResponse | _Malformed | None) -> None:
        if isinstance(kept, RenderedResponse):
            self.hits += 1
        else:
            self.misses += 1

    def _keep(self, key: Any, item: RenderedResponse | _Malformed) -> None:
        with self._lock:
            self._drop(key)
            self._items[key] = item
            self.bytes_held += _size(item)
            while self.bytes_held > self.bytes_max and len(self._items) > 1:
                self._drop(next(iter(self._items)))

    def _drop(self, key: Any) -> None:
        old = self._items.pop(key, None)
        if old is not None:
            self.bytes_held -= _size(old)

    def forget(self, key: Any = None) -> None:
        """Drop one response, or all of them."""
        with self._lock:
            if key is not None:
                self._drop(key)
                return
            self._items.clear()
            self.bytes_held = 0


def _size(item: RenderedResponse | _Malformed) -> int:
    return item.size_bytes if isinstance(item, RenderedResponse) else 500


RESPONSE_CACHE: Final = ResponseCache()
caches.register(RESPONSE_CACHE.forget)
STORE.on_epoch_change.append(RESPONSE_CACHE.forget)


def response_key(
    entry: SnapshotEntry, score: ConfidenceScore | None = None, *, revision_id: int | None = None
) -> tuple[Any, ...]:
    """What the bytes of a load response depend on. `score` is what the snapshot knows of the entry's confidence."""
    wanted = revision_id or entry.revision_id
    return wanted, entry.status, entry.replaced_by, score, entry.is_read_only, entry.draft


class DraftChanged(RegistryUnavailable):
    """The version of a draft that an entry names is no longer stored."""

    def __init__(self) -> None:
        super().__init__("The draft was changed a moment ago; ask again")


def get_load_response(
    entry: SnapshotEntry,
    score: ConfidenceScore | None = None,
    *,
    revision_id: int | None = None,
    fresh: bool = False,
    exact: bool = False,
) -> RenderedResponse:
    """The load response for an entry, or for a pinned revision of it; `fresh` goes past the cache, unless the database
    is unreachable and the response is cached.

    A draft that was saved since the entry was read is served as it is now where it passes; with `exact` it is refused.
    A changed confidence is applied to the cached response: only what is not cached at all is read.
    Raises `SkillMalformed` (opens an incident), `DraftChanged`, or `RegistryUnavailable` where the database is down and
    the response is not cached.
    """

    def respond(one: SnapshotEntry) -> RenderedResponse:
        return _load_response(one, score, revision_id or one.revision_id, fresh=fresh)

    return respond(entry) if exact else _of_newest_draft(entry, respond)


def _of_newest_draft(entry: SnapshotEntry, respond: Callable[[SnapshotEntry], RenderedResponse]) -> RenderedResponse:
    """The response of the entry, or of the draft as it was saved since: an autosave comes every few seconds."""
    try:
        return respond(entry)
    except DraftChanged:
        newer = read_draft(entry.capability_id)
        if newer is None:
            raise
        return respond(without_write_tools(newer) if entry.is_read_only else newer)


def _load_response(
    entry: SnapshotEntry, score: ConfidenceScore | None, revision_id: int, *, fresh: bool
) -> RenderedResponse:
    key, plain = response_key(entry, score, revision_id=revision_id), response_key(entry, revision_id=revision_id)
    if fresh and not is_stale():
        RESPONSE_CACHE.forget(plain)
        RESPONSE_CACHE.forget(key)

    body = RESPONSE_CACHE.get(plain, lambda: _render(entry, revision_id))
    return RESPONSE_CACHE.get(key, lambda: _with_confidence(body, score)) if score is not None else body


def _with_confidence(body: RenderedResponse, score: ConfidenceScore) -> RenderedResponse:
    return RenderedResponse(body.identity[:-1] + CONFIDENCE + orjson.dumps(score.as_dict()) + b"}")


def _render(entry: SnapshotEntry, revision_id: int) -> RenderedResponse:
    bundle, digest, number = get_bundle(entry, revision_id)
    answer = build_load_response(
        bundle,
        revision=number,
        digest=digest,
        status=entry.status,
        replaced_by=entry.replaced_by,
        read_only=entry.is_read_only,
    )
    return RenderedResponse(orjson.dumps(answer))


@require_database()
def get_bundle(entry: SnapshotEntry, revision_id: int) -> tuple[SkillBundle, str, int]:
    """The bundle, its digest and its number, as they are stored now.

    Raises `SkillMalformed` (and opens an incident), `DraftChanged`, `RegistryUnavailable`.
    """
    return _draft(entry) if entry.draft is not None else _published(revision_id)


def _published(revision_id: int) -> tuple[SkillBundle, str, int]:
    revision = Revision.objects.select_related("capability").get(pk=revision_id)
    require_valid_revision(revision)
    return load_bundle(revision), revision.digest, revision.number


def _draft(entry: SnapshotEntry) -> tuple[SkillBundle, str, int]:
    """As it is saved now; it passed then, and may not with what has been published since."""
    pk, version = entry.draft or (0, 0)
    found = Draft.objects.filter(pk=pk, version=version, discarded_at__isnull=True)
    report = validate_draft(get_row(found.select_related("capability"), DraftChanged()))
    if report.bundle is None or not report.ok:
        raise SkillMalformed(
            f"The draft of '{entry.capability_id}' does not pass any more",
            details=report.errors[0].message if report.errors else "It cannot be read",
            findings=[finding.as_dict() for finding in report.errors[:20]],
            last_good_digest=None,
        )
    return report.bundle, report.bundle.digest, entry.revision


def load_signature(entry: SnapshotEntry, revision_id: int) -> RenderedResponse:
    """`{"capability_id", "revision", "envelope"}` of an entry, or a pinned revision of it.

    Raises `SignatureNotFound`, also for a draft, and `RegistryUnavailable`.
    """
    if entry.draft is not None:
        raise SignatureNotFound(f"The draft of '{entry.capability_id}' is not signed: only revisions are")
    return RESPONSE_CACHE.get(("signature", revision_id), lambda: _render_signature(entry, revision_id))


def _render_signature(entry: SnapshotEntry, revision_id: int) -> RenderedResponse:
    with require_database():
        number, signature = Revision.objects.values_list("number", "signature").get(pk=revision_id)
    if not signature:
        raise SignatureNotFound(
            f"Revision {number} of '{entry.capability_id}' was published before revisions were signed; "
            "an operator can sign it: registry sign"
        )
    answer = {"capability_id": entry.capability_id, "revision": number, "envelope": json.loads(signature)}
    return RenderedResponse(orjson.dumps(answer))


def load_file(
    entry: SnapshotEntry, path: str, *, revision_id: int | None = None, exact: bool = False
) -> RenderedResponse:
    """`{"capability_id", "revision", "path", "digest", "size", "text"}`, of an entry or a pinned revision of it; of a
    draft as `get_load_response`. What is kept by its digest has `type`, `read`, `excerpt` and `contains` in place of
    the text, and the `url` of its bytes.

    Raises `SupportingFileNotFound` with the paths that there are, and what `get_load_response` raises.
    """

    def respond(one: SnapshotEntry) -> RenderedResponse:
        key = (*response_key(one, revision_id=revision_id), path)
        return RESPONSE_CACHE.get(key, lambda: _render_file(one, path, revision_id or one.revision_id))

    return respond(entry) if exact else _of_newest_draft(entry, respond)


def _render_file(entry: SnapshotEntry, path: str, revision_id: int) -> RenderedResponse:
    bundle, _, number = get_bundle(entry, revision_id)
    text = bundle.supporting_files.get(path)
    if text is None:
        raise SupportingFileNotFound(entry.capability_id, path, available=list(bundle.supporting_files))
    (facts,) = build_file_facts({path: text})
    pointer = parse_pointer(text)
    if pointer is None or pointer.is_text:
        told = {"text": FileBytes({path: text})[path].decode("utf-8")}
    else:
        told = {"read": pointer.read, "excerpt": pointer.text}
        asked = {"capability_id": entry.capability_id, "path": path, "revision": number}
        told["url"] = f"/api/v1/capability_file_content?{urlencode(asked)}"
    return RenderedResponse(orjson.dumps({"capability_id": entry.capability_id, "revision": number, **facts, **told}))
