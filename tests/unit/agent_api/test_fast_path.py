"""The fast path answers what the view would: status, headers and bytes, for every shape of request."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple
from datetime import timedelta
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from agent_api.fast_path import LIST, LOAD, SERVED_COUNTS, FastPath
from features.sharing import install_codes
from registry.access import agent_keys
from registry.catalog import drafts
from registry.common.actors import SYSTEM, Actor
from registry.publishing import publication
from registry.publishing.quarantine import quarantine
from registry.snapshot import STORE
from registry.snapshot.response_cache import RESPONSE_CACHE
from registry.usage import feedback
from studio.gateway.framing import parse_request_head
from studio.gateway.warm_responses import Clock, WarmResponses
from studio.middleware.proxies import apply_forwarding
from studio.server.environ import build_environ
from studio.server.warm_reads import WarmReads
from studio.server.wsgi_call import call_wsgi
from tests.cases import valid_bundle
from tests.factories import unlisted
from tests.rsgi import MadeScope, SentProtocol, parse_wire, raw_head, scope_of

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "POST", "OPTIONS")
QUERIES = {
    LIST: (
        "",
        "fields=minimal",
        "fields=all",
        "limit=1",
        "os=darwin",
        "group=x",
        "limit=0",
        "cursor=x",
        "&",
        "fields=minimal&",
    ),
    LOAD: (
        "capability_id=sleep_tracking",
        "capability_id=sleep%5Ftracking",
        "capability_id=sleep_tracking&revision=1",
        "capability_id=sleep_tracking&revision=01",
        "capability_id=sleep_tracking&revision=7",
        "capability_id=sleep_tracking&x=1",
        "capability_id=sleep_tracking&capability_id=minimal",
        "capability_id=password_reset",
        "capability_id=secret_talks",
        "capability_id=nothing_here",
        "capability_id=",
        "",
    ),
}
ENCODINGS = ("", "gzip", "zstd, gzip", "gzip;q=0, *;q=0.1", "identity", "br")


class Spy:
    """Django's own handler, counting how often it is asked."""

    def __init__(self) -> None:
        self.handler = WSGIHandler()
        self.asked = 0

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        self.asked += 1
        return self.handler(environ, start_response)


class InLoop:
    """The fast path as the event loop asks it: by the scope of a request, and Django only where nothing is ready."""

    def __init__(self, fast: FastPath) -> None:
        self.fast = fast
        self.collect = fast.collect

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        warm = WarmReads(self.fast, settings.TRUSTED_PROXIES)
        scope, protocol = scope_of(environ), SentProtocol()
        built = build_environ(scope)
        if warm.send_ready(scope, protocol) or warm.send_prepared(scope, built, protocol):
            status, headers, body = protocol.sent
        else:
            assert protocol.sent is None
            built["wsgi.input"] = environ["wsgi.input"]
            status, headers, body = astuple(call_wsgi(self.fast, built))
        start_response(f"{status} {HTTPStatus(status).phrase}", headers)
        return [body]


class InGateway:
    """The fast path as the gateway asks it: by the bytes of a head, and the application in another process."""

    def __init__(self, fast: FastPath) -> None:
        self.fast = fast
        self.collect = fast.collect
        warm_reads = WarmReads(fast, settings.TRUSTED_PROXIES)
        self._responses = {
            is_proxy: WarmResponses(fast, warm_reads, Clock(), is_proxy=is_proxy) for is_proxy in (False, True)
        }

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        scope = scope_of(environ)
        client = scope.client.rpartition(":")[0]
        responses = self._responses[any(ip_address(client) in network for network in settings.TRUSTED_PROXIES)]
        raw = raw_head(scope)
        wire = responses.find(raw)
        built = None
        if wire is None:
            head = parse_request_head(raw)
            wire, built = responses.answer(head, scope.client)
        if wire is None:
            status, headers, body = self._pass_on(environ, scope, built)
        else:
            status, headers, body = parse_wire(wire)
            headers = [pair for pair in headers if pair[0] != "date"]
        start_response(f"{status} {HTTPStatus(status).phrase}", headers)
        return [body]

    def _pass_on(self, environ: dict[str, Any], scope: MadeScope, built: dict[str, Any] | None) -> Any:
        passed = build_environ(scope)
        apply_forwarding(passed, settings.TRUSTED_PROXIES)
        passed["wsgi.input"] = environ["wsgi.input"]
        status, headers, body = astuple(call_wsgi(self.fast.application, passed))
        if built is not None:
            self.fast.learn(built, status, headers)
            render = self.fast.find_missing(built)
            if render is not None:
                render()
        return status, headers, body


Through = Callable[[FastPath], Any]
THROUGH: dict[str, Through] = {"wsgi": lambda fast: fast, "event loop": InLoop, "gateway": InGateway}


@pytest.fixture(params=THROUGH)
def through(request: pytest.FixtureRequest) -> Through:
    """The fast path behind each interface."""
    return THROUGH[request.param]


@pytest.fixture(autouse=True)
def _keep_connection() -> Iterator[None]:
    """As Django's test client does: the end of a request must not close the connection of the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def key() -> str:
    return agent_keys.create_key(name="reader", by=SYSTEM)[1]


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch, key: str) -> Iterator[Spy]:
    """Three capabilities are published, and the snapshot is held as in a serving process."""
    for name in ("minimal", "with_tools", "playbook"):
        assert publication.publish(files=valid_bundle(name), by=SYSTEM).status == "published"
    STORE.forget()
    RESPONSE_CACHE.forget()
    STORE.refresh()
    monkeypatch.setattr(STORE, "is_watched", True)
    yield Spy()
    STORE.forget()
    RESPONSE_CACHE.forget()


def _ask(
    application: Any, method: str, path: str, query: str, headers: dict[str, str]
) -> tuple[str, dict[str, str], bytes]:
    extra = {
        f"HTTP_{name.upper().replace('-', '_')}": value
        for name, value in ({"Host": "testserver"} | headers).items()
        if value
    }
    environ = RequestFactory().generic(method, path, QUERY_STRING=query, **extra).environ  # type: ignore[arg-type]
    seen: list[Any] = []
    body = b"".join(application(environ, lambda status, headers, *_: seen.extend([status, headers])))
    names = [name.lower() for name, _ in seen[1]]
    assert len(names) == len(set(names))
    found = {name.lower(): value for name, value in seen[1]}
    if "X-Request-ID" not in headers:
        # Django makes one up for itself; the fast path does not.
        found.pop("x-request-id", None)
    return seen[0], found, body


def _other_keys() -> list[str]:
    """Keys that see something else than most; there is something that most do not see."""
    code = unlisted("secret_talks")
    found = [agent_keys.create_key(name=name, by=SYSTEM)[1] for name in ("guest", "stranger")]
    install_codes.redeem_code(code=code, by=Actor("agent_key", "guest"))
    drafts.save_draft(capability_id="minimal", files=_draft(), based_on=None, by=SYSTEM)
    for name, limits in LIMITED.items():
        found.append(agent_keys.create_key(name=name, by=SYSTEM, **limits)[1])
    STORE.refresh()
    return found


LIMITED: dict[str, dict[str, Any]] = {
    "narrow": {"groups": ["x"]},
    "harmless": {"read_only_tools": True},
    "early": {"preview": True},
}


def _draft() -> dict[str, str]:
    files = {name: str(content, "utf-8") for name, content in valid_bundle("minimal").items()}  # type: ignore[arg-type]
    return files | {"skill.md": files["skill.md"] + "\nMore of it.\n"}


def _shapes(key: str, *others: str) -> Iterator[tuple[str, str, str, dict[str, str]]]:
    authorizations = ("", f"Bearer {key}", f"bearer {key}", f"Bearer  {key}", "Bearer wrong", "Basic x", key)
    for path, queries in QUERIES.items():
        for query, other in itertools.product(queries, others):
            yield "GET", path, query, {"Authorization": f"Bearer {other}"}
        for method, query, authorization in itertools.product(METHODS, queries, authorizations):
            yield method, path, query, {"Authorization": authorization}
        for encoding, query in itertools.product(ENCODINGS, queries[:2]):
            yield "GET", path, query, {"Accept-Encoding": encoding, "Authorization": f"Bearer {key}"}
            yield "GET", path, query, {"Accept-Encoding": encoding}
        for origin in ("https://a.example", "null"):
            yield "GET", path, queries[0], {"Origin": origin}
        for host in ("testserver", "evil.example", "127.0.0.1:80", "a b", "[::1]"):
            yield "GET", path, queries[0], {"Host": host}


@pytest.mark.parametrize(
    ("public", "origins"),
    [
        (True, ()),
        pytest.param(True, ("https://a.example",), marks=pytest.mark.rare),
        pytest.param(False, (), marks=pytest.mark.rare),
        pytest.param(False, ("https://a.example",), marks=pytest.mark.slow),
    ],
)
def test_every_shape_is_answered_as_the_view_answers_it(
    spy: Spy, through: Through, key: str, settings: Settings, public: bool, origins: tuple[str, ...]
) -> None:
    settings.AGENT_API_PUBLIC_READ = public
    settings.CORS_ALLOWED_ORIGINS = origins
    settings.RATE_LIMITS = {}
    fast = through(FastPath(spy))
    shapes = list(_shapes(key, *_other_keys()))
    for shape in shapes:
        expected = _ask(spy.handler, *shape)
        for _ in range(3):
            assert _ask(fast, *shape) == expected, shape
    # The comparison would prove nothing if all of them had gone on to Django.
    assert spy.asked < len(shapes) * 3 - 40


def test_conditional_requests_in_every_form(spy: Spy, through: Through, key: str, settings: Settings) -> None:
    settings.AGENT_API_PUBLIC_READ = True
    fast = through(FastPath(spy))
    for path, queries in QUERIES.items():
        for encoding in ENCODINGS:
            headers = {"Accept-Encoding": encoding, "Authorization": f"Bearer {key}"}
            _, first, _ = _ask(spy.handler, "GET", path, queries[0], headers)
            etag = first["etag"]
            for tag in (etag, f"W/{etag}", f'"x", {etag}', "*", '"x"', etag.replace('"', ""), etag[:-1] + '-gzip"'):
                shape = ("GET", path, queries[0], headers | {"If-None-Match": tag})
                expected = _ask(spy.handler, *shape)
                for _ in range(3):
                    assert _ask(fast, *shape) == expected, shape


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (LIST, ""),
        (LIST, "fields=minimal"),
        (LOAD, "capability_id=sleep_tracking"),
        (LOAD, "capability_id=password_reset"),
    ],
)
def test_a_warm_read_asks_neither_django_nor_the_database(
    spy: Spy, through: Through, key: str, path: str, query: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    fast = through(FastPath(spy))
    headers = {"Authorization": f"Bearer {key}"}
    for _ in range(3):
        _ask(fast, "GET", path, query, headers)
    asked = spy.asked
    with django_assert_num_queries(0):
        status, _, _ = _ask(fast, "GET", path, query, headers)
    assert status == "200 OK"
    assert spy.asked == asked


def test_what_it_answers_is_counted(spy: Spy, through: Through, key: str) -> None:
    fast = through(FastPath(spy))
    headers = {"Authorization": f"Bearer {key}"}
    shape = ("GET", LOAD, "capability_id=sleep_tracking")
    etag = _ask(fast, *shape, headers)[1]["etag"]
    for tag in ("", "", etag, etag):
        _ask(fast, *shape, headers | {"If-None-Match": tag})
    fast.collect()
    before, asked = SERVED_COUNTS.copy(), spy.asked
    for _ in range(3):
        _ask(fast, *shape, headers)
    _ask(fast, *shape, headers | {"If-None-Match": etag})
    _ask(fast, "GET", LOAD, "capability_id=nobody", headers)
    assert spy.asked == asked + 1
    fast.collect()
    fast.collect()
    assert (SERVED_COUNTS[LOAD, False] - before[LOAD, False], SERVED_COUNTS[LOAD, True] - before[LOAD, True]) == (3, 1)


def test_what_is_changed_or_revoked_is_seen_at_the_next_snapshot(
    spy: Spy, through: Through, key: str, settings: Settings
) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    fast = through(FastPath(spy))
    shape = ("GET", LOAD, "capability_id=sleep_tracking", {"Authorization": f"Bearer {key}"})
    for _ in range(3):
        assert _ask(fast, *shape)[0] == "200 OK"
    publication.deprecate(capability_id="sleep_tracking", by=SYSTEM, replaced_by="minimal")
    STORE.refresh()
    assert b'"status":"deprecated","replaced_by":"minimal"' in _ask(fast, *shape)[2]
    quarantine(capability_id="sleep_tracking", by=SYSTEM)
    STORE.refresh()
    for query in (LOAD, "capability_id=sleep_tracking&revision=1"):
        shape = ("GET", LOAD, query if "=" in query else shape[2], shape[3])
        answer = _ask(fast, *shape)
        assert answer[0].startswith("423 ")
        assert answer[2] == _ask(spy, *shape)[2]
    publication.retire(capability_id="sleep_tracking", by=SYSTEM)
    STORE.refresh()
    assert _ask(fast, *shape)[0] == "404 Not Found"
    agent_keys.revoke_key(name="reader", by=SYSTEM)
    STORE.refresh()
    assert _ask(fast, *shape)[0] == "401 Unauthorized"


def test_a_key_that_ends_is_refused_by_the_clock(
    spy: Spy, through: Through, key: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    ends = timezone.now() + timedelta(hours=1)
    agent_keys.update_key(
        name="reader", by=SYSTEM, scopes=["read"], groups=None, read_only_tools=False, preview=False, expires_at=ends,
        team="", capability_ids=None,
    )  # fmt: skip
    STORE.refresh()
    fast = through(FastPath(spy))
    shape = ("GET", LOAD, "capability_id=sleep_tracking", {"Authorization": f"Bearer {key}"})
    for _ in range(3):
        assert _ask(fast, *shape)[0] == "200 OK"
    # Nothing is read anew: the snapshot knows when.
    monkeypatch.setattr("registry.snapshot.snapshot.time.time", ends.timestamp)
    assert _ask(fast, *shape)[0] == "401 Unauthorized"


def test_a_confidence_that_moved_is_answered_as_the_view_answers_it(
    spy: Spy, through: Through, key: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    fast = through(FastPath(spy))
    shape = ("GET", LOAD, "capability_id=password_reset", {"Authorization": f"Bearer {key}"})
    before, *_ = [_ask(fast, *shape) for _ in range(3)]
    feedback.record_outcome(capability_id="password_reset", outcome="used", by=SYSTEM)
    assert _ask(fast, *shape) == before
    STORE.refresh()
    with django_assert_num_queries(0):
        after = _ask(fast, *shape)
    assert after == _ask(spy.handler, *shape)
    assert (before[2][:-1].rpartition(b"{")[2], after[2][:-1].rpartition(b"{")[2]) == (
        b'"score":0.5,"uses":0,"confirmed":0}',
        b'"score":0.51,"uses":1,"confirmed":0,"single_key":true}',
    )
    asked = spy.asked
    with django_assert_num_queries(0):
        assert _ask(fast, *shape) == after
        assert _ask(fast, *shape[:3], shape[3] | {"If-None-Match": before[1]["etag"]}) == after
    assert spy.asked == asked


def test_what_a_key_sees_is_answered_from_memory(
    spy: Spy, through: Through, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    fast = through(FastPath(spy))
    guest, stranger, *_ = _other_keys()
    answers = {}
    for path, query in ((LIST, ""), (LIST, "fields=minimal"), (LOAD, "capability_id=secret_talks")):
        for name, key in (("guest", guest), ("stranger", stranger)):
            shape = ("GET", path, query, {"Authorization": f"Bearer {key}"})
            for _ in range(3):
                answers[name, path + query] = _ask(fast, *shape)
            asked = spy.asked
            with django_assert_num_queries(0):
                assert _ask(fast, *shape) == answers[name, path + query]
            assert spy.asked == asked + (answers[name, path + query][0] != "200 OK")
    for query in ("", "fields=minimal"):
        assert b"secret_talks" in answers["guest", LIST + query][2]
        assert b"secret_talks" not in answers["stranger", LIST + query][2]
        assert answers["guest", LIST + query][1]["etag"] != answers["stranger", LIST + query][1]["etag"]
    assert answers["guest", LOAD + "capability_id=secret_talks"][0] == "200 OK"
    assert answers["stranger", LOAD + "capability_id=secret_talks"][0] == "404 Not Found"


@pytest.mark.parametrize("number", range(len(LIMITED)))
def test_a_limited_key_is_answered_from_memory(
    spy: Spy, through: Through, number: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    fast = through(FastPath(spy))
    key = _other_keys()[2 + number]
    shapes = [("GET", LIST, ""), ("GET", LOAD, "capability_id=sleep_tracking"), ("GET", LOAD, "capability_id=minimal")]
    for shape in shapes:
        first, *_ = [_ask(fast, *shape, {"Authorization": f"Bearer {key}"}) for _ in range(3)]
        asked = spy.asked
        with django_assert_num_queries(0):
            assert _ask(fast, *shape, {"Authorization": f"Bearer {key}"})[2] == first[2]
        assert spy.asked == asked + (first[0] != "200 OK")


def test_a_key_without_the_scope_is_left_to_the_view(spy: Spy, through: Through) -> None:
    _, publisher = agent_keys.create_key(name="publisher", by=SYSTEM, scopes=["publish"])
    STORE.refresh()
    fast = through(FastPath(spy))
    for _ in range(3):
        assert _ask(fast, "GET", LIST, "", {"Authorization": f"Bearer {publisher}"})[0] == "403 Forbidden"


@pytest.mark.parametrize("peer", ["127.0.0.1", "192.0.2.1"])
@pytest.mark.parametrize("given", ["from-the-proxy", "not sane"])
def test_the_id_that_a_trusted_proxy_gave_is_sent_back(
    spy: Spy, through: Through, settings: Settings, peer: str, given: str
) -> None:
    settings.TRUSTED_PROXIES = (ip_network("127.0.0.1"),)
    settings.AGENT_API_PUBLIC_READ = True
    fast = through(FastPath(spy))

    def forwarded(environ: dict[str, Any], start_response: Any) -> Any:
        environ["REMOTE_ADDR"] = peer
        apply_forwarding(environ, settings.TRUSTED_PROXIES)
        return fast(environ, start_response)

    shape = ("GET", LOAD, "capability_id=sleep_tracking", {"X-Request-ID": given})
    # The first fills the memory, from the second the headers are learned.
    _, first, again = (_ask(forwarded, *shape) for _ in range(3))
    assert spy.asked == 2
    if (peer, given) == ("127.0.0.1", "from-the-proxy"):
        assert first == again
        assert again[1]["x-request-id"] == given
    else:
        # Django makes one up, the fast path none; it never repeats the stranger's, nor the first one's.
        assert first[1].pop("x-request-id") != given
        assert first == again


def _beside(path_info: str, application: Any) -> list[threading.Thread]:
    """Three requests at a time that the fast path does not hold."""
    path = FastPath(application)
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path_info, "QUERY_STRING": "limit=7", "wsgi.input": None}
    threads = [threading.Thread(target=path, args=(dict(environ), print)) for _ in range(3)]
    for thread in threads:
        thread.start()
    return threads


@pytest.mark.parametrize(("path", "most"), [(LIST, 1), (LOAD, 1), ("/api/v1/capability_match", 3)])
def test_what_is_not_held_is_worked_out_one_at_a_time(monkeypatch: pytest.MonkeyPatch, path: str, most: int) -> None:
    monkeypatch.setattr("agent_api.fast_path._TURN_SECONDS", 60)
    monkeypatch.setattr(STORE, "is_watched", False)
    inside: list[int] = []
    seen: list[int] = []
    all_in = threading.Barrier(most)

    def application(_environ: Any, _start_response: Any) -> list[bytes]:
        inside.append(1)
        all_in.wait(60)
        seen.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return []

    for thread in _beside(path, application):
        thread.join(60)
    assert (len(seen), max(seen)) == (3, most)


def test_nobody_waits_long_for_one_that_waits_for_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STORE, "is_watched", False)
    all_in = threading.Barrier(3)
    threads = _beside(LIST, lambda _environ, _start_response: all_in.wait(60))
    for thread in threads:
        thread.join(60)
    assert not all_in.broken
