"""The hot path: an authorised list or load, answered from the snapshot before Django is entered.

As a Django middleware the same idea keeps 0.23 of the bare server's speed; outside it keeps nearly all of it. Whatever
is not plainly such a read (another method, an odd query, a bad key, an answer that is not held) goes on to the view,
the only place that knows the whole semantics. Headers are learned, not restated: the first answer of each kind comes
from the application behind, and what it sends beside the entity's own headers is sent from then on.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from agent_api.representations import entity_tag, form_of
from agent_api.streamed import measure_body, read_to_end
from agent_api.v1.listing import LIMIT_MAX, ListQuery, list_answer
from registry.access.keys import hash_key
from registry.snapshot import HOLDER, PUBLIC, Entry, Principal, Snapshot
from registry.snapshot.bodies import BODIES, Rendered, body_key
from registry.snapshot.visibility import entry_for
from registry.usage import tallies

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
_OF_THE_ENTITY: Final = frozenset({"etag", "content-length", "content-encoding", "warning", "x-request-id"})
_OK: Final = "200 OK"
_NOT_MODIFIED: Final = "304 Not Modified"
# What is not held is worked out by one thread at a time: the interpreter runs one at a time anyway, and each more that
# wants it holds up the reads that need it for a moment. Nobody waits longer than this: the first may wait for a
# database.
_TURN_SECONDS: Final = 0.05
# How many were answered here, by path and whether the client had the bytes already. No lock: `+= 1` on a kept key holds
# no call and no jump back, which is where CPython lets another thread run, so that no count is lost.
ANSWERED: Final[dict[tuple[str, bool], int]] = dict.fromkeys(itertools.product((LIST, LOAD), (False, True)), 0)


class FastPath:
    """A WSGI callable in front of Django's."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self._learned: dict[Kind, Headers] = {}
        self._turn = threading.Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"] in (LIST, LOAD):
            answer = self._answer(environ, start_response)
            return answer if answer is not None else self._in_turn(environ, start_response)
        measure_body(environ)
        answer = self.application(environ, start_response)
        read_to_end(environ)
        return answer

    def _in_turn(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        measure_body(environ)
        has_turn = self._turn.acquire(timeout=_TURN_SECONDS)
        try:
            return self.application(environ, start_response)
        finally:
            if has_turn:
                self._turn.release()

    def _answer(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes] | None:
        if not HOLDER.is_watched or not HOLDER.has_read or HOLDER.failed_at is not None or not _is_plain(environ):
            return None
        snapshot = HOLDER.snapshot
        reader = _reader(environ, snapshot)
        if reader is None:
            return None
        path: str = environ["PATH_INFO"]
        query: str = environ.get("QUERY_STRING", "")
        if path == LIST:
            asked = _LIST_QUERIES.get(query)
            rendered = list_answer(snapshot, asked, reader) if asked is not None else None
            entry = None
        else:
            entry = _entry(snapshot, reader, query)
            rendered = BODIES.peek(_body_key(snapshot, entry)) if entry is not None else None
        if rendered is None:
            return None
        return self._send(environ, start_response, rendered, reader.name, entry)

    def _send(
        self, environ: Environ, start_response: StartResponse, rendered: Rendered, key_name: str, entry: Entry | None
    ) -> Iterable[bytes] | None:
        known, coding = form_of(
            rendered, environ.get("HTTP_ACCEPT_ENCODING", ""), environ.get("HTTP_IF_NONE_MATCH", "")
        )
        kind = (environ["PATH_INFO"], not key_name, known, environ["wsgi.url_scheme"])
        constant = self._learned.get(kind)
        if constant is None:
            return self._learn(kind, environ, start_response)
        if key_name:
            tallies.note_key_use(key_name)
        if entry is not None and entry.draft is None:
            tallies.count_load(capability_id=entry.capability_id, revision=entry.revision, key_name=key_name)
        ANSWERED[kind[0], known] += 1
        headers = [*constant, ("ETag", entity_tag(rendered, coding))]
        # One that a trusted proxy gave. None is made up here: a warm read writes no line in which it could be found.
        if request_id := environ.get("HTTP_X_REQUEST_ID"):
            headers.append(("X-Request-ID", request_id))
        if known:
            start_response(_NOT_MODIFIED, [*headers, ("Content-Length", "0")])
            return [b""]
        body = rendered.encoded(coding)
        if coding:
            headers.append(("Content-Encoding", coding))
        headers.append(("Content-Length", str(len(body))))
        start_response(_OK, headers)
        return [body]

    def _learn(
        self, kind: tuple[str, bool, bool, str], environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        expected = _NOT_MODIFIED if kind[2] else _OK

        def listen(status: str, headers: Headers, *rest: Any) -> Any:
            if status == expected and not any(name.lower() == "set-cookie" for name, _ in headers):
                self._learned[kind] = [pair for pair in headers if pair[0].lower() not in _OF_THE_ENTITY]
            return start_response(status, headers, *rest)

        return self.application(environ, listen)


def _is_plain(environ: Environ) -> bool:
    """No page of another origin, and a host that we answer for."""
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
        return PUBLIC if settings.AGENT_API_PUBLIC_READ else None
    if not header.startswith("Bearer "):
        return None
    principal = snapshot.principal(hash_key(header[7:].strip()))
    return principal if principal is not None and "read" in principal.scopes else None


def _body_key(snapshot: Snapshot, entry: Entry) -> tuple[Any, ...]:
    return body_key(entry, snapshot.confidence(entry) if entry.is_playbook else None)


def _entry(snapshot: Snapshot, reader: Principal, query: str) -> Entry | None:
    """The entry that a plain load asks for; None for an older pin, which the view looks up."""
    match = _LOAD_QUERY.fullmatch(query)
    if match is None:
        return None
    entry = entry_for(snapshot, reader, match[1])
    if entry is None or (match[2] or entry.digest) != entry.digest:
        return None
    return entry if match[3] is None or int(match[3]) == entry.revision else None
