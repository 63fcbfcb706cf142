"""The hot path: an authorized list or load, served from the snapshot before Django is entered.

As a Django middleware the same idea keeps 0.23 of the bare server's speed; outside it keeps nearly all of it. Whatever
is not plainly such a read (another method, an unusual query, an invalid key, an uncached response) goes to the view,
the only place that knows the whole semantics. Headers are learned, not repeated here: the first response of each kind
comes from the application, and the headers that it adds to the entity's own are sent from then on.
"""

from __future__ import annotations

import functools
import itertools
import re
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from agent_api.http.representations import entity_tag, response_form
from agent_api.v1.registry_list import LIMIT_MAX, ListQuery, list_response
from registry.access.agent_keys import hash_key
from registry.core import chosen_settings
from registry.snapshot import PUBLIC, STORE, Principal, Snapshot, SnapshotEntry
from registry.snapshot.response_cache import RESPONSE_CACHE, RenderedResponse, get_load_response, response_key
from registry.snapshot.visibility import find_entry
from registry.usage import usage_counters

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
Headers = list[tuple[str, str]]
# Path, whether it is a public read, whether the client has it, scheme: answers of a kind differ in the entity alone.
Kind = tuple[str, bool, bool, str]

LIST: Final = "/api/v1/capability_registry_list"
LOAD: Final = "/api/v1/capability_skill_load"
_LIST_QUERIES: Final = {
    "": ListQuery("", "", None, LIMIT_MAX, is_minimal=False),
    "fields=minimal": ListQuery("", "", None, LIMIT_MAX, is_minimal=True),
}
_LOAD_QUERY: Final = re.compile(
    r"capability_id=([a-z0-9_]{1,64})(?:&(?:digest=(sha256:[0-9a-f]{64})|revision=([0-9]{1,9})))?"
)
# These belong to the entity and its form, or to the one request; everything else is the same for each answer.
_OF_THE_ENTITY: Final = frozenset(
    {"etag", "content-length", "content-encoding", "warning", "x-request-id", "traceresponse"}
)
_REASONS: Final = {200: "200 OK", 304: "304 Not Modified"}
# In the environ of a read that could be answered here, were its headers known.
_UNKNOWN_KIND: Final = "agent_api.unknown_kind"
# In the environ of a load whose body is not cached here: what renders and caches it.
_MISSING_BODY: Final = "agent_api.missing_body"
# What is not held is worked out by one thread at a time: the interpreter runs one at a time anyway, and each more that
# wants it holds up the reads that need it for a moment. Nobody waits longer than this: the first may wait for a
# database.
_TURN_SECONDS: Final = 0.05
# Prepared responses of one snapshot that are kept: how many, and how large their bodies may be together.
_READY_MAX: Final = 10_000
_READY_BYTES_MAX: Final = 64 * 1024 * 1024
# How many were answered here, by path and whether the client had the bytes already.
SERVED_COUNTS: Final[dict[tuple[str, bool], int]] = dict.fromkeys(itertools.product((LIST, LOAD), (False, True)), 0)


def list_counts() -> list[int]:
    """The counts of this process as numbers: warm reads, all loads, responses found in the cache."""
    usage_counters.collect()
    return [*SERVED_COUNTS.values(), usage_counters.TOTALS.loads, RESPONSE_CACHE.hits]


def get_totals(of_gateway: Sequence[int] = ()) -> tuple[dict[tuple[str, bool], int], int, int]:
    """`(warm reads by path and whether the client had them, loads, cache hits)` of this process, and of the gateway:
    what `list_counts` returned there, which sends warm reads in a process of its own."""
    counts = list_counts()
    if of_gateway:
        counts = [ours + theirs for ours, theirs in zip(counts, of_gateway, strict=True)]
    return dict(zip(SERVED_COUNTS, counts, strict=False)), counts[-2], counts[-1]


class PreparedResponse:
    """A whole response, and how often it was sent.

    `sent` is raised without a lock: `+= 1` on an attribute holds no call and no jump back, which is where CPython lets
    another thread run, so that no count is lost.
    """

    __slots__ = (
        *("body", "counted", "entry", "headers", "is_known", "key_name", "path", "sent", "status", "until"),
        # Its form on the wire, which a server may keep here, and the Date in it.
        *("wire", "wire_date"),
    )

    def __init__(
        self, *, kind: Kind, headers: Headers, body: bytes, reader: Principal, entry: SnapshotEntry | None
    ) -> None:
        self.path, _, self.is_known, _ = kind
        self.status = 304 if self.is_known else 200
        self.headers = headers
        self.body = body
        self.key_name = reader.name
        self.until = reader.until
        self.entry = entry
        self.sent = self.counted = 0
        self.wire = self.wire_date = b""

    def collect(self) -> None:
        """Count what was sent since the last time."""
        count, self.counted = self.sent - self.counted, self.sent
        if not count:
            return
        SERVED_COUNTS[self.path, self.is_known] += count
        if self.key_name:
            usage_counters.record_key_use(self.key_name)
        if self.entry is not None:
            RESPONSE_CACHE.count_hits(count)
            if self.entry.draft is None:
                entry = self.entry
                usage_counters.count_load(entry.capability_id, entry.revision, key_name=self.key_name, count=count)


class FastPath:
    """A WSGI callable in front of Django's, and the responses that can be sent without any call at all.

    A response is prepared once per distinct request and reused until the snapshot
    that it was made from is replaced: a publish, a new confidence, a revoked key.
    """

    def __init__(self, application: Application) -> None:
        self.application = application
        self._learned: dict[Kind, Headers] = {}
        self._turn = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._ready: dict[Hashable, PreparedResponse] = {}
        self._ready_bytes = 0
        # Moves when all that was prepared is dropped: nothing of an earlier one may be sent.
        self.generation = 0
        # Of snapshots that were replaced, and of requests that are not found again.
        self._uncollected: list[PreparedResponse] = []

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        ready = self.prepare(environ)
        if ready is not None:
            # The id that a trusted proxy gave. None is made up: a warm read writes no line in which it could be found.
            request_id = environ.get("HTTP_X_REQUEST_ID")
            headers = [*ready.headers, ("X-Request-ID", request_id)] if request_id else ready.headers
            start_response(_REASONS[ready.status], headers)
            return [ready.body]
        if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"] in (LIST, LOAD):
            return self._in_turn(environ, start_response)
        return self.application(environ, start_response)

    def find(self, key: Hashable) -> PreparedResponse | None:
        """The response that was prepared under `key`, counted as sent; None where it has to be prepared."""
        ready = self._ready.get(key)
        return ready if ready is not None and self.send_again(ready) else None

    def send_again(self, ready: PreparedResponse) -> bool:
        """Whether a response of this generation may still be sent, counted as sent then."""
        if STORE.snapshot is not self._snapshot or STORE.failed_at is not None:
            return False
        if ready.until is not None and time.time() >= ready.until:
            return False
        ready.sent += 1
        return True

    def prepare(self, environ: Environ, key: Hashable = None) -> PreparedResponse | None:
        """The response to a warm read, counted as sent, without a query and without waiting; None for all else.

        It is cached under `key`, which must contain everything of the request that matters; with None it is not cached.
        """
        if environ["REQUEST_METHOD"] != "GET" or environ["PATH_INFO"] not in (LIST, LOAD):
            return None
        if not STORE.is_watched or not STORE.has_read or STORE.failed_at is not None or not _is_plain(environ):
            return None
        snapshot = STORE.snapshot
        ready = self._prepare(environ, snapshot)
        if ready is not None:
            ready.sent += 1
            self._keep(ready, snapshot, key)
        return ready

    def learn(self, environ: Environ, status: int, headers: Headers) -> None:
        """Learn from a response that another process gave, after `prepare` returned None for its request."""
        kind = environ.pop(_UNKNOWN_KIND, None)
        if kind is not None and status == (304 if kind[2] else 200):
            self._learning(kind, lambda *_: None)(_REASONS[status], headers)

    def find_missing(self, environ: Environ) -> Callable[[], object] | None:
        """What would render and cache the body for lack of which `prepare` returned None."""
        missing: Callable[[], object] | None = environ.pop(_MISSING_BODY, None)
        return missing

    def collect(self) -> None:
        """Add what was sent since the last time to the counts that are written to the database."""
        uncollected, self._uncollected = self._uncollected, []
        for ready in [*uncollected, *self._ready.values()]:
            ready.collect()

    def _keep(self, ready: PreparedResponse, snapshot: Snapshot, key: Hashable) -> None:
        is_full = len(self._ready) >= _READY_MAX or self._ready_bytes + 2 * len(ready.body) > _READY_BYTES_MAX
        if snapshot is not self._snapshot or is_full:
            self._uncollected.extend(self._ready.values())
            self._ready, self._ready_bytes, self._snapshot = {}, 0, snapshot
            self.generation += 1
        if key is None:
            self._uncollected.append(ready)
        else:
            self._ready[key] = ready
            # The body may be there a second time, as it is sent.
            self._ready_bytes += 2 * len(ready.body)

    def _in_turn(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if (kind := environ.pop(_UNKNOWN_KIND, None)) is not None:
            start_response = self._learning(kind, start_response)
        has_turn = self._turn.acquire(timeout=_TURN_SECONDS)
        try:
            return self.application(environ, start_response)
        finally:
            if has_turn:
                self._turn.release()

    def _prepare(self, environ: Environ, snapshot: Snapshot) -> PreparedResponse | None:
        reader = _reader(environ, snapshot)
        if reader is None:
            return None
        query: str = environ.get("QUERY_STRING", "")
        if environ["PATH_INFO"] == LIST:
            asked = _LIST_QUERIES.get(query)
            rendered = list_response(snapshot, asked, reader) if asked is not None else None
            entry = None
        else:
            entry = _entry(snapshot, reader, query)
            rendered = RESPONSE_CACHE.peek(_body_key(snapshot, entry)) if entry is not None else None
            if rendered is None and entry is not None:
                environ[_MISSING_BODY] = functools.partial(
                    get_load_response, entry, snapshot.confidence(entry), revision_id=entry.revision_id
                )
        return self._render(environ, rendered, reader, entry) if rendered is not None else None

    def _render(
        self, environ: Environ, rendered: RenderedResponse, reader: Principal, entry: SnapshotEntry | None
    ) -> PreparedResponse | None:
        is_known, coding = response_form(
            rendered, environ.get("HTTP_ACCEPT_ENCODING", ""), environ.get("HTTP_IF_NONE_MATCH", "")
        )
        kind = (environ["PATH_INFO"], not reader.name, is_known, environ["wsgi.url_scheme"])
        constant = self._learned.get(kind)
        if constant is None:
            environ[_UNKNOWN_KIND] = kind
            return None
        headers = [*constant, ("ETag", entity_tag(rendered, coding))]
        body = b"" if is_known else rendered.encoded(coding)
        if coding and not is_known:
            headers.append(("Content-Encoding", coding))
        headers.append(("Content-Length", str(len(body))))
        return PreparedResponse(kind=kind, headers=headers, body=body, reader=reader, entry=entry)

    def _learning(self, kind: Kind, start_response: StartResponse) -> StartResponse:
        """A `start_response` that remembers the headers of the first response of this kind."""
        expected = _REASONS[304 if kind[2] else 200]

        def listen(status: str, headers: Headers, *rest: Any) -> Any:
            if status == expected and not any(name.lower() == "set-cookie" for name, _ in headers):
                self._learned[kind] = [pair for pair in headers if pair[0].lower() not in _OF_THE_ENTITY]
            return start_response(status, headers, *rest)

        return listen


def _is_plain(environ: Environ) -> bool:
    """Return whether the request has no foreign origin and an allowed host."""
    if settings.CORS_ALLOWED_ORIGINS and "HTTP_ORIGIN" in environ:
        return False
    return _is_our_host(environ.get("HTTP_HOST", ""))


@lru_cache(maxsize=256)
def _is_our_host(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _reader(environ: Environ, snapshot: Snapshot) -> Principal | None:
    """Who may read: the holder of a key, or the public; None where the view must decide."""
    header = environ.get("HTTP_AUTHORIZATION")
    if header is None:
        return PUBLIC if chosen_settings.is_public_read() else None
    if not header.startswith("Bearer "):
        return None
    principal = snapshot.principal(hash_key(header[7:].strip()))
    return principal if principal is not None and "read" in principal.scopes else None


def _body_key(snapshot: Snapshot, entry: SnapshotEntry) -> tuple[Any, ...]:
    return response_key(entry, snapshot.confidence(entry) if entry.is_playbook else None)


def _entry(snapshot: Snapshot, reader: Principal, query: str) -> SnapshotEntry | None:
    """The entry that a plain load asks for; None for an older pin, which the view looks up."""
    match = _LOAD_QUERY.fullmatch(query)
    if match is None:
        return None
    entry = find_entry(snapshot, reader, match[1])
    if entry is None or (match[2] or entry.digest) != entry.digest:
        return None
    return entry if match[3] is None or int(match[3]) == entry.revision else None
