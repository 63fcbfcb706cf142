"""What to ask the registry and what to make of the answer, without a socket: the one core of both clients.

Each question is a generator. It yields a `Request` or a `Pause`, is sent the `Response` (or `TransportError`), and
returns the result. `client.py` drives it, blocking or with asyncio.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from capability_client.client import response_json
from capability_client.client.answers import (
    FeedbackAnswer,
    InstallAnswer,
    MatchAnswer,
    ProposalAnswer,
    ProposeAnswer,
    SearchAnswer,
)
from capability_client.client.disk_cache import CacheEntry, DiskCache, cache_file_name, cache_scope
from capability_client.client.lockfile import LockFile
from capability_client.client.messages import Outcome, Pause, Response, Step
from capability_client.client.requester import API_PATH, Limits, Requester
from capability_client.client.trust import HistoryGuard
from capability_kit.bundles.bundle import Bundle, Listing, ListingEntry, SupportingFile
from capability_kit.errors import (
    CapabilityNotFound,
    CapabilityQuarantined,
    DigestMismatch,
    InvalidRequest,
    NotFound,
    RateLimited,
    RegistryRolledBack,
    ResponseRejected,
    SkillMalformed,
    SupportingFileNotFound,
    SupportingFileNotText,
    Unavailable,
)
from capability_kit.http_address import HttpAddress
from capability_kit.text.sanitize import one_line, strip_surrogates

T = TypeVar("T")
# A JSON object; client.py says which keys it has.
Steps = Generator[Step, Outcome, T]
MAX_STALE_SECONDS: Final = 3600.0
LOAD: Final = "capability_skill_load"
PAGES_MAX: Final = 1000
# How far the processes of a registry may be behind each other, and some.
SNAPSHOT_SECONDS: Final = 2.0
# Of a whole list; one page may have as many as any answer.
LIST_BYTES_MAX: Final = 128 * 1024 * 1024
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e]+")
_IDEMPOTENCY_KEY: Final = re.compile(r"[\x20-\x7e]{1,255}")
HALF_CHARACTER: Final = "A text holds half a character (a lone surrogate), which cannot be sent; leave it out"


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A document of `size` bytes, and how old it is where the registry did not confirm it just now."""

    document: dict[str, Any]
    size: int = 0
    is_stale: bool = False
    age_seconds: float = 0.0


# A larger file is not kept: the copies in memory would be as large again.
CONTENT_KEPT_MAX: Final = 2 * 1024 * 1024


@dataclass
class RegistryProtocol:
    """One registry as one caller sees it."""

    url: str
    # Not in the repr: programs print what they hold.
    key: str | None = field(default=None, repr=False)
    limits: Limits = field(default_factory=Limits)
    cache: DiskCache = field(default_factory=lambda: DiskCache(None))
    lock: LockFile | None = None
    max_stale: float = MAX_STALE_SECONDS
    clock: Callable[[], float] = time.time
    guard: HistoryGuard | None = None
    # The ids of the last whole list.
    listed: set[str] | None = None
    requester: Requester = field(init=False)

    def __post_init__(self) -> None:
        # The address of an operation, or a key copied with its line end, is accepted as well.
        self.url = self.url.strip().rstrip("/").removesuffix(API_PATH)
        self.key = (self.key or "").strip() or None
        if self.key is not None and _HEADER_VALUE.fullmatch(self.key) is None:
            raise ValueError("The key holds characters that no agent key has; copy it again")
        address = HttpAddress.parse(self.url)
        if address is None:
            raise ValueError(f"The registry's address must begin with http:// or https://, found {self.url[:80]!r}")
        if address.has_user:
            raise ValueError("A key does not belong in the registry's address; give it as key=")
        self.requester = Requester(self.url, self.limits)

    # The questions.

    def list(self, **filters: Any) -> Steps[Listing]:
        """All pages of the list."""
        if self.guard is None:
            return (yield from self._list(**filters))
        yield from self.guard.check_history(self._ask)
        listing = yield from self._list(**filters)
        try:
            self.guard.check_listed(listing.registry_revision)
        except RegistryRolledBack:
            if listing.is_stale:
                return listing
            # Another process of the registry may have published a moment ago.
            yield Pause(SNAPSHOT_SECONDS)
            listing = yield from self._list(**filters)
            self.guard.check_listed(listing.registry_revision)
        return listing

    def _list(self, **filters: Any) -> Steps[Listing]:
        entries: dict[str, ListingEntry] = {}
        is_delta = filters.get("updated_since_revision") is not None
        cursor, size, begun = "", 0, self.clock()
        first: CachedResponse | None = None
        for _ in range(PAGES_MAX):
            query = {**filters, "cursor": cursor or None}
            page = yield from self._get("capability_registry_list", query, _page, is_kept=not is_delta)
            known = len(entries)
            entries.update({entry.capability_id: entry for entry in page.entries})
            size += page.answer.size
            first = first or page.answer
            if not page.following:
                listing = _listing(tuple(entries.values()), first, page.answer)
                self._forget_withdrawn(listing, filters)
                return listing
            is_over = size > LIST_BYTES_MAX or self.clock() - begun > self.limits.total * self.limits.tries
            if len(entries) == known or is_over:
                break
            cursor = page.following
        raise ResponseRejected("The list does not end")

    def _forget_withdrawn(self, listing: Listing, filters: Mapping[str, Any]) -> None:
        """What is not in the list any more is not served from the cache either, at no release, while away."""
        if listing.is_stale or any(filters.get(name) is not None for name in ("group", "os")):
            return
        if filters.get("updated_since_revision") is not None:
            self._drop_kept(listing.removed)
            return
        listed = {entry.capability_id for entry in listing.entries}
        if self.listed is None:
            # What an earlier run has kept, this one knows by looking alone.
            self.cache.drop_where(self._scope, lambda name: name not in listed)
        else:
            self._drop_kept(self.listed - listed)
        self.listed = listed

    def _drop_kept(self, names: Collection[str]) -> None:
        if names:
            self.cache.drop_where(self._scope, lambda name: name in names)
        if self.listed is not None:
            self.listed -= set(names)

    @property
    def _scope(self) -> str:
        return cache_scope(self.url, self.key)

    def load(
        self, capability_id: str, *, digest: str | None = None, revision: int | None = None, renew_lock: bool = False
    ) -> Steps[Bundle]:
        """One bundle, pinned by what is asked for, else by the lock file."""
        held = self.lock.digest(capability_id) if self.lock else None
        if held is not None and digest is None and revision is None and not renew_lock:
            digest = held
        query = {"capability_id": capability_id, "digest": digest, "revision": revision}
        if self.guard is not None:
            yield from self.guard.check_history(self._ask)
        try:
            bundle = yield from self._get(LOAD, query, _bundle)
        except CapabilityNotFound as error:
            error.capability_id = capability_id
            raise
        return (yield from self._verified(bundle, capability_id, digest=digest, renew_lock=renew_lock))

    def reload(self, capability_id: str, *, renew_lock: bool = False) -> Steps[Bundle]:
        """One bundle past every cache of the registry."""
        if self.guard is not None:
            yield from self.guard.check_history(self._ask)
        got = yield from self._post("capability_skill_reload", {"capability_id": capability_id})
        bundle = Bundle.from_answer(got)
        return (yield from self._verified(bundle, capability_id, digest=None, renew_lock=renew_lock))

    def _verified(self, bundle: Bundle, capability_id: str, *, digest: str | None, renew_lock: bool) -> Steps[Bundle]:
        """A bundle that was asked for and, where keys are trusted, is signed by one of them."""
        if bundle.capability_id != capability_id:
            raise ResponseRejected(f"'{capability_id}' was asked for, and the registry sent another capability")
        if self.guard is not None:
            yield from self.guard.check_bundle(bundle, self._ask)
        if self.lock is not None:
            self.lock.accept(bundle, renew=renew_lock)
        if digest is not None and bundle.digest != digest:
            words = f"'{capability_id}' was asked for with {digest}, and the registry sent {bundle.digest}"
            raise ResponseRejected(words)
        return bundle

    def _ask(self, operation: str, query: Mapping[str, Any]) -> Steps[Any]:
        """For the guard: what never changes comes from the cache where it can, what does is always asked."""
        if operation != "capability_signature":
            return (yield from self._query(operation, query))
        return (yield from self._get(operation, query, lambda got: got.document))

    def file(self, bundle: Bundle, path: str) -> Steps[str]:
        """The text of one supporting file of the release that was loaded, checked against the digest that came with
        it."""
        wanted = require_file(bundle, path, is_text=True)
        query = {"capability_id": bundle.capability_id, "path": path, "revision": bundle.revision}

        def text_of(got: CachedResponse) -> str:
            text = got.document.get("text")
            if not isinstance(text, str) or not wanted.is_of(text):
                raise DigestMismatch(f"The file '{path}' of '{bundle.capability_id}' is not the one with its digest")
            return text

        return (yield from self._get("capability_file_load", query, text_of))

    def content(self, bundle: Bundle, path: str) -> Steps[bytes]:
        """The bytes of any supporting file, checked as those of `file`. Equal digests are equal bytes: what is kept of
        them is asked for again for the right to read it alone."""
        wanted = require_file(bundle, path)
        query = {"capability_id": bundle.capability_id, "path": path, "revision": bundle.revision}
        asked = _path("capability_file_content", query)
        name = cache_file_name(self._scope, asked)
        kept = self.cache.get(name)
        try:
            reply = yield from self._send("GET", asked, None, {"If-None-Match": kept.etag} if kept else {})
        except (NotFound, SkillMalformed, CapabilityQuarantined):
            self.cache.drop(name)
            raise
        except (Unavailable, RateLimited):
            if kept is None:
                raise
            reply = Response(304, {}, b"")
        content = base64.b64decode(kept.body) if kept is not None and reply.status == 304 else reply.body
        if not wanted.is_of(content):
            self.cache.drop(name)
            raise DigestMismatch(f"The file '{path}' of '{bundle.capability_id}' is not the one with its digest")
        if len(content) <= CONTENT_KEPT_MAX and "etag" in reply.headers:
            self.cache.put(name, CacheEntry(reply.headers["etag"], base64.b64encode(content), self.clock()))
        return content

    def match(self, message: str, **narrowed: Any) -> Steps[MatchAnswer]:
        """Which capabilities a message leads to."""
        found: MatchAnswer = yield from self._post(
            "capability_match", {"message": _said(message, "message"), **narrowed}
        )
        return found

    def search(self, q: str, **narrowed: Any) -> Steps[SearchAnswer]:
        """Which capabilities answer a question."""
        found: SearchAnswer = yield from self._query("capability_search", {"q": _said(q, "q"), **narrowed})
        return found

    def proposal(self, proposal_id: str | int) -> Steps[ProposalAnswer]:
        """What has become of a proposal."""
        found: ProposalAnswer = yield from self._query("capability_proposal", {"proposal_id": proposal_id})
        return found

    def feedback(self, idempotency_key: str | None, **body: Any) -> Steps[FeedbackAnswer]:
        """Report how it went with a capability."""
        found: FeedbackAnswer = yield from self._write("capability_feedback", body, idempotency_key)
        return found

    def install(self, idempotency_key: str | None, code: str) -> Steps[InstallAnswer]:
        """Redeem an install code."""
        found: InstallAnswer = yield from self._write("capability_install", {"code": code}, idempotency_key)
        return found

    def propose(self, idempotency_key: str | None, files: Mapping[str, str], note: str | None) -> Steps[ProposeAnswer]:
        """Submit a draft for review; returns the proposal."""
        found: ProposeAnswer = yield from self._write(
            "capability_propose", {"files": dict(files), "note": note}, idempotency_key
        )
        return found

    def _query(self, operation: str, query: Mapping[str, Any]) -> Steps[Any]:
        """A GET request whose response is not cached."""
        reply = yield from self._send("GET", _path(operation, query), None, {})
        return response_json.parse_document(reply)

    def _write(self, operation: str, body: Mapping[str, Any], idempotency_key: str | None) -> Steps[Any]:
        """A POST that writes: one key for all tries, so that it counts once."""
        key = idempotency_key or secrets.token_urlsafe(18)
        if _IDEMPOTENCY_KEY.fullmatch(key) is None:
            raise InvalidRequest("An idempotency key has 1 to 255 printable ASCII characters, such as a UUID")
        headers = {"Idempotency-Key": key}
        return (yield from self._post(operation, body, headers))

    # One request.

    def _post(self, operation: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Steps[Any]:
        given = {name: value for name, value in body.items() if value is not None}
        try:
            raw = json.dumps(given, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError:
            raise InvalidRequest(HALF_CHARACTER) from None
        reply = yield from self._send("POST", operation, raw, {"Content-Type": "application/json", **(headers or {})})
        return response_json.parse_document(reply)

    def _get(
        self,
        operation: str,
        query: Mapping[str, Any],
        read: Callable[[CachedResponse], T],
        *,
        is_kept: bool = True,
    ) -> Steps[T]:
        """The response as parsed by `read`. Only a valid one is cached: a bad response must not replace a
        good one, nor be confirmed by a 304 forever. `is_kept` False: never, since it is not asked again."""
        path = _path(operation, query)
        name = cache_file_name(self._scope, path)
        kept = self.cache.get(name) if is_kept else None
        try:
            reply = yield from self._send("GET", path, None, {"If-None-Match": kept.etag} if kept else {})
        except CapabilityNotFound:
            self._drop_kept([str(query.get("capability_id", ""))])
            raise
        except (NotFound, SkillMalformed, CapabilityQuarantined):
            self.cache.drop(name)
            raise
        except (Unavailable, RateLimited) as error:
            return read(self._stale(kept or (self._kept_release(query) if operation == LOAD else None), error))
        is_confirmed = kept is not None and reply.status == 304
        body = kept.body if kept is not None and is_confirmed else reply.body
        found = response_json.parse_strict_json(body) if is_confirmed else response_json.parse_document(reply)
        try:
            result = read(CachedResponse(found, len(body), is_stale=reply.headers.get("warning", "").startswith("110")))
        except ResponseRejected:
            if is_confirmed:
                self.cache.drop(name)
            raise
        etag = reply.headers.get("etag", kept.etag if kept is not None else "")
        if is_kept and etag and "no-store" not in reply.headers.get("cache-control", ""):
            self.cache.put(name, CacheEntry(etag, body, self.clock()))
        return result

    def _kept_release(self, query: Mapping[str, Any]) -> CacheEntry | None:
        """A kept bundle of the pinned release, whatever it was asked for with: before a lock file named it, say."""
        pins = {name: query[name] for name in ("digest", "revision") if query.get(name) is not None}
        wanted = {**pins, "capability_id": query["capability_id"]}
        if not pins:
            return None
        return self.cache.find(
            self._scope, lambda found: "skill_doc" in found and {name: found.get(name) for name in wanted} == wanted
        )

    def _stale(self, kept: CacheEntry | None, error: Unavailable | RateLimited) -> CachedResponse:
        """The cached response, while it is young enough; else the error, which says how old it is."""
        if kept is None:
            raise error
        age = kept.age_seconds(self.clock())
        if age > self.max_stale:
            error.data["kept_age_seconds"] = age
            raise error
        return CachedResponse(
            response_json.parse_strict_json(kept.body), len(kept.body), is_stale=True, age_seconds=age
        )

    def _send(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Steps[Response]:
        proof = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            return (yield from self.requester.send(method, path, body, {**headers, **proof}))
        except CapabilityQuarantined as error:
            # Another release of it is as dangerous, and would be served while the registry is away.
            self.cache.drop_capability(error.capability_id)
            raise


def require_file(bundle: Bundle, path: str, *, is_text: bool = False) -> SupportingFile:
    """What a bundle says of one of its files. Raises `SupportingFileNotFound` with those that there are, and
    `SupportingFileNotText` where it is to be a text."""
    wanted = next((one for one in bundle.files if one.path == path), None)
    if wanted is None:
        available = [one.path for one in bundle.files]
        message = f"'{bundle.capability_id}' has no file '{path}'"
        raise SupportingFileNotFound(message, data={"available_files": available}, status=404)
    if is_text and wanted.type:
        words = f"'{path}' is {one_line(wanted.type, most=120)} of {wanted.size:,} bytes and no text"
        raise SupportingFileNotText(words)
    return wanted


def _said(text: object, name: str) -> str:
    """A user's message as valid text: a lone surrogate must not prevent a match."""
    if not isinstance(text, str):
        raise InvalidRequest(f"{name} must be a string, found {type(text).__name__}")
    return strip_surrogates(text)


def _path(operation: str, query: Mapping[str, Any]) -> str:
    given = sorted((name, value) for name, value in query.items() if value is not None)
    try:
        return f"{operation}?{urlencode(given)}" if given else operation
    except UnicodeEncodeError:
        raise InvalidRequest(HALF_CHARACTER) from None


@dataclass(frozen=True, slots=True)
class _Page:
    entries: tuple[ListingEntry, ...]
    following: str
    answer: CachedResponse


def _page(got: CachedResponse) -> _Page:
    rows, following = got.document.get("capabilities"), got.document.get("next_cursor")
    if not isinstance(rows, list):
        raise ResponseRejected("The list has no capabilities")
    if not isinstance(got.document.get("registry_revision"), int):
        raise ResponseRejected("The list has no registry_revision")
    return _Page(tuple(map(ListingEntry.from_answer, rows)), following if isinstance(following, str) else "", got)


def _bundle(got: CachedResponse) -> Bundle:
    return Bundle.from_answer(got.document, is_stale=got.is_stale, age_seconds=got.age_seconds)


def _listing(entries: tuple[ListingEntry, ...], first: CachedResponse, last: CachedResponse) -> Listing:
    """Values for the whole list come from the first page: while others are read, something may be published."""
    revision, removed = first.document.get("registry_revision"), first.document.get("removed")
    first_run, exclusive = first.document.get("first_run"), first.document.get("exclusive_groups")
    return Listing(
        entries,
        int(revision or 0),
        tuple(map(str, removed)) if isinstance(removed, list) else (),
        first_run if isinstance(first_run, str) else None,
        first.is_stale or last.is_stale,
        max(first.age_seconds, last.age_seconds),
        tuple(group for group in exclusive if isinstance(group, str)) if isinstance(exclusive, list) else (),
    )
