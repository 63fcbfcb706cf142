"""Two requests that the view would answer differently never share a kept response."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import pytest

from studio.server.environ import build_environ
from studio.server.warm_reads import WarmReads
from tests.rsgi import MadeHeaders, MadeScope, SentProtocol

TRUSTED = (ip_network("10.0.0.0/8"),)
# Whatever the fast path looks at.
SEEN = (
    *("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "wsgi.url_scheme", "HTTP_HOST", "HTTP_ORIGIN"),
    *("HTTP_AUTHORIZATION", "HTTP_ACCEPT_ENCODING", "HTTP_IF_NONE_MATCH"),
)


@dataclass
class Kept:
    status: int
    headers: list[tuple[str, str]]
    body: bytes


@dataclass
class EverythingReady:
    """In the place of the fast path: each response says what of the request was seen when it was prepared."""

    kept: dict[Any, Kept] = field(default_factory=dict)

    def find(self, key: Any) -> Kept | None:
        return self.kept.get(key)

    def prepare(self, environ: dict[str, Any], key: Any) -> Kept:
        return self.kept.setdefault(key, Kept(200, [], _seen(environ)))


def _seen(environ: dict[str, Any]) -> bytes:
    return repr([environ.get(name) for name in SEEN]).encode()


def _warm_reads(trusted: Any = TRUSTED) -> WarmReads:
    return WarmReads(EverythingReady(), trusted)


def _ask(warm: WarmReads, scope: MadeScope) -> tuple[list[tuple[str, str]], bytes]:
    protocol = SentProtocol()
    if not warm.send_ready(scope, protocol):
        assert warm.send_prepared(scope, build_environ(scope), protocol)
    _, headers, body = protocol.sent
    return headers, body


def _scopes() -> list[MadeScope]:
    values = {
        "host": [[], ["a"], ["b"], ["a", "b"]],
        "authorization": [[], ["x"], ["x", "y"], ["ä"]],
        "accept-encoding": [[], ["gzip"]],
        "if-none-match": [[], ['"x"']],
        "x-forwarded-host": [[], ["c"]],
        "x-forwarded-proto": [[], ["https"], ["https", "http"]],
        "x-forwarded-for": [[], ["203.0.113.7, 10.0.0.2"]],
    }
    found = []
    for chosen in itertools.product(*values.values()):
        pairs = [(name, value) for name, several in zip(values, chosen, strict=True) for value in several]
        for client, authority in (("10.0.0.1:1", None), ("192.0.2.1:1", None), ("192.0.2.1:1", "c")):
            found.append(MadeScope(headers=MadeHeaders(pairs), client=client, authority=authority))
    return found


@pytest.mark.parametrize("trusted", [(), TRUSTED])
def test_every_request_gets_what_would_be_prepared_for_it(trusted: Any) -> None:
    warm = _warm_reads(trusted)
    for scope in [*_scopes(), *_scopes()[::-1]]:
        # Prepared by one that has kept nothing yet.
        assert _ask(warm, scope) == _ask(_warm_reads(trusted), scope), scope


def test_what_makes_no_difference_is_passed_over() -> None:
    kept = EverythingReady()
    warm = WarmReads(kept, TRUSTED)
    for number in range(5):
        _ask(
            warm, MadeScope(headers=MadeHeaders([("host", "a"), ("traceparent", str(number))]), client=f"::1:{number}")
        )
    assert len(kept.kept) == 1


@pytest.mark.parametrize(
    ("client", "given", "sent"),
    [("10.0.0.1:1", "from-the-proxy", True), ("10.0.0.1:1", "not sane", False), ("192.0.2.1:1", "from-anyone", False)],
)
def test_the_id_that_a_trusted_proxy_gave_is_sent_back_and_not_kept(client: str, given: str, *, sent: bool) -> None:
    warm = _warm_reads()
    for number in range(3):
        headers = MadeHeaders([("x-request-id", f"{given}{number}")])
        expected = [("X-Request-ID", f"{given}{number}")] if sent else []
        assert _ask(warm, MadeScope(headers=headers, client=client))[0] == expected
