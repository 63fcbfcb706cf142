"""Clients: registration and its bounds, and metadata documents, which are fetched from public addresses alone."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from features.oauth import clients, connections
from features.oauth.models import OAuthClient
from features.oauth.tests.assistant import CALLBACK, Assistant
from registry.common.net.guarded_client import GuardedRequest
from registry.models import AuditEvent, Operator
from studio.config.parsers import Rate
from tests.git_https import make_certificate
from tests.sweeps import check_each
from tests.unit.studio.conftest import SignIn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("issuer")]


def _register(api: Any, address: str = "203.0.113.9", **document: Any) -> Any:
    given = {"redirect_uris": [CALLBACK]} | document
    more = {"data": json.dumps(given), "content_type": "application/json", "REMOTE_ADDR": address}
    return api.call("POST", "/oauth/register", **more)


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": CALLBACK}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK] * 21}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK, "javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [1]}, "invalid_redirect_uri"),
        ({"grant_types": ["implicit"]}, "invalid_client_metadata"),
        ({"grant_types": "authorization_code"}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
    ],
)
def test_another_form_is_refused(api: Any, document: dict[str, Any], error: str) -> None:
    refused = _register(api, **document)
    assert (refused.status_code, refused.json()["error"]) == (400, error)
    assert not OAuthClient.objects.exists()


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'"x"', b"\xff", b'{"redirect_uris": ' + b"[" * 10_000, b" " * 17_000 + b"{}"]
)
def test_what_is_no_document_is_refused(api: Any, body: bytes) -> None:
    refused = api.call("POST", "/oauth/register", data=body, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_client_metadata")


def test_a_flood_of_one_network_stops_at_its_bound_and_leaves_room_for_others(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(clients, "REGISTRATIONS_OF_NETWORK_MAX", 3)
    monkeypatch.setattr(clients, "REGISTRATIONS_MAX", 5)
    # Of IPv6 one customer has a whole /64.
    flood = [_register(api, f"2001:db8:1:2::{number:x}").status_code for number in range(1, 9)]
    assert flood == [201] * 3 + [429] * 5
    others = [_register(api, f"203.0.113.{number}") for number in range(1, 9)]
    assert [one.status_code for one in others] == [201] * 2 + [429] * 6
    assert int(others[-1].headers["Retry-After"]) > 0
    assert OAuthClient.objects.count() == 5
    assert AuditEvent.objects.filter(verb="client.register").count() == 5


def test_a_million_registrations_leave_a_thousand_rows_and_take_no_lock(
    api: Any, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    """Of as many networks as somebody has: what is past the bound reads two counts, and writes nothing."""
    full = clients.REGISTRATIONS_MAX
    OAuthClient.objects.bulk_create(
        OAuthClient(client_id=f"{number:032}", network=f"198.51.{number // 250}.{number % 250}")
        for number in range(full)
    )
    monkeypatch.setattr(clients, "write_transaction", _fail)
    for number in range(50):
        with django_assert_max_num_queries(2):
            assert _register(api, f"2001:db8:{number:x}::1").status_code == 429
    assert OAuthClient.objects.count() == full
    assert not AuditEvent.objects.exists()
    OAuthClient.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))
    monkeypatch.undo()
    assert _register(api).status_code == 201
    connections.prune(None)()  # type: ignore[arg-type]
    assert OAuthClient.objects.count() == 1


def test_clients_that_somebody_has_allowed_leave_room(
    api: Any, monkeypatch: pytest.MonkeyPatch, signed_in: SignIn
) -> None:  # fmt: skip
    monkeypatch.setattr(clients, "REGISTRATIONS_OF_NETWORK_MAX", 1)
    browser = signed_in("author")
    for _ in range(3):
        Assistant(browser, client_id=_register(api).json()["client_id"]).sign_in()
    _register(api)
    assert _register(api).status_code == 429


def test_what_nobody_has_allowed_is_forgotten_after_a_day(api: Any, signed_in: SignIn) -> None:
    allowed, unused = (_register(api).json()["client_id"] for _ in range(2))
    Assistant(signed_in("author"), client_id=allowed).sign_in()
    connections.prune(None)()  # type: ignore[arg-type]
    assert OAuthClient.objects.count() == 2
    OAuthClient.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))
    connections.prune(None)()  # type: ignore[arg-type]
    assert [one.client_id for one in OAuthClient.objects.all()] == [allowed]
    assert Assistant(signed_in("author"), client_id=unused).ask().status_code == 400


def test_registration_can_be_switched_off(api: Any, settings: Any, signed_in: SignIn) -> None:
    known = _register(api).json()["client_id"]
    settings.OAUTH_REGISTRATION = False
    api.error(_register(api), 404, "NOT_FOUND")
    assert "registration_endpoint" not in api.call("GET", "/.well-known/oauth-authorization-server").json()
    assert Assistant(signed_in("author"), client_id=known).sign_in()


# Metadata documents


class DocumentHost(BaseHTTPRequestHandler):
    """A host of documents: by path the status, headers, body and pause of its answer."""

    pages: dict[str, tuple[int, dict[str, str], bytes, float]]
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status, headers, body, pause = self.pages.get(self.path, (404, {}, b"", 0))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        time.sleep(pause)
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def host(
    certificate: tuple[Path, Path], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, type[DocumentHost]]]:
    handler = type("Served", (DocumentHost,), {"pages": {}, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    yield f"https://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    server.server_close()


def _serve(host: tuple[str, type[DocumentHost]], path: str = "/client.json", **changes: Any) -> str:
    client_id = host[0] + path
    document = {"client_id": client_id, "client_name": "Doc", "redirect_uris": [CALLBACK]} | changes
    body = json.dumps({name: value for name, value in document.items() if value is not None}).encode()
    host[1].pages[path] = (200, {"Content-Type": "application/json"}, body, 0)
    return client_id


def test_a_client_is_known_by_its_document(host: tuple[str, type[DocumentHost]], signed_in: SignIn) -> None:
    client_id = _serve(host)
    assistant = Assistant(signed_in("author"), client_id=client_id)
    page = assistant.ask().content.decode()
    # Who it is, is where its document is.
    assert client_id.split("/")[2] in page
    assert not OAuthClient.objects.exists()
    tokens = assistant.sign_in()
    assert assistant.call(tokens["access_token"]).status_code == 200
    assert assistant.sign_in()
    assert OAuthClient.objects.get().redirect_uris == [CALLBACK]
    event = AuditEvent.objects.filter(verb="connection.create").first()
    assert event is not None
    assert event.detail["via"] == client_id.split("/")[2]


def test_the_document_says_anew_where_the_browser_may_go(
    host: tuple[str, type[DocumentHost]], signed_in: SignIn
) -> None:
    assistant = Assistant(signed_in("author"), client_id=_serve(host))
    page = assistant.ask()
    _serve(host, redirect_uris=["https://moved.example/cb"])
    assert assistant.allow(page).status_code == 400


DOCUMENTS: list[dict[str, Any]] = [
    {"client_id": "https://127.0.0.1/other.json"},
    {"client_id": None},
    {"redirect_uris": ["javascript:alert(1)"]},
    {"redirect_uris": None},
    {"token_endpoint_auth_method": "client_secret_post"},
    {"token_endpoint_auth_method": "private_key_jwt"},
    {"client_name": "x" * 11_000},
]


def test_a_document_that_does_not_fit_is_refused(host: tuple[str, type[DocumentHost]], signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"), client_id=f"{host[0]}/client.json")

    def check(changes: dict[str, Any]) -> None:
        _serve(host, **changes)
        assert assistant.ask().status_code == 400

    check_each(DOCUMENTS, check)
    _serve(host)
    assert assistant.ask().status_code == 200


ANSWERS: list[tuple[int, dict[str, str], bytes, float]] = [
    (302, {"Location": "/client.json"}, b"", 0),
    (404, {}, b"{}", 0),
    (500, {}, b"{}", 0),
    (200, {}, b"not json", 0),
    (200, {}, b"[" * 10_000, 0),
    (200, {}, b"[]", 0),
    (200, {}, b"\xff\xfe", 0),
]


def test_an_answer_that_is_no_document_is_refused(host: tuple[str, type[DocumentHost]], signed_in: SignIn) -> None:
    _serve(host)
    assistant = Assistant(signed_in("author"), client_id=f"{host[0]}/other.json")

    def check(answer: tuple[int, dict[str, str], bytes, float]) -> None:
        host[1].asked.clear()
        host[1].pages["/other.json"] = answer
        assert assistant.ask().status_code == 400
        assert host[1].asked == ["/other.json"]

    check_each(ANSWERS, check)


def test_a_host_that_does_not_answer_is_given_up(
    host: tuple[str, type[DocumentHost]], signed_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "_DOCUMENT_SECONDS", 0.2)
    client_id = _serve(host)
    host[1].pages["/client.json"] = (*host[1].pages["/client.json"][:3], 1)
    assert Assistant(signed_in("author"), client_id=client_id).ask().status_code == 400


INSIDE = (
    "https://localhost/client.json", "https://127.0.0.1/c", "https://[::1]/c", "https://10.0.0.1/c",
    "https://169.254.169.254/latest/meta-data", "https://192.168.0.1/c", "https://[fd00::1]/c",
    "https://[::ffff:10.0.0.1]/c", "https://168.63.129.16/c", "https://0.0.0.0/c", "https://100.64.0.1/c",
)  # fmt: skip


def test_nothing_inside_is_asked(signed_in: SignIn, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.RATE_LIMITS = {}
    _no_connections(monkeypatch)
    assistant = Assistant(signed_in("author"), client_id="x")

    def check(client_id: str) -> None:
        page = assistant.ask(client_id=client_id)
        assert (page.status_code, "IMPORT_ALLOWED_NETWORKS" in page.content.decode()) == (400, True)

    check_each(INSIDE, check)


def test_a_name_that_leads_inside_a_moment_later_is_asked_at_the_address_that_was_checked(
    signed_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: public at the first look-up, and inside at the second."""
    looked_up: list[str] = []

    def look_up(name: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        looked_up.append(name)
        inside = "93.184.216.34" if len(looked_up) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (inside, port))]

    asked: list[list[str]] = []
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(
        GuardedRequest, "send", lambda self, addresses, deadline: asked.append(list(map(str, addresses)))
    )
    Assistant(signed_in("author"), client_id="https://rebound.example/client.json").ask()
    assert looked_up == ["rebound.example"]
    assert asked == [["93.184.216.34"]]


OTHER_FORMS = (
    "https://a.example", "https://a.example/", "https://a.example/c?x=1", "https://a.example/c#x",
    "https://user@a.example/c", "https://a.example/../c", "https://a.example/./c", "https://a.example//c",
    "https://A.example/c", "https:a.example/c", "https://a.example/c\n", "https://a.example/" + "x" * 600,
    "http://a.example/c", "https://a.example\\@b.example/c", "https://a.example/c d",
)  # fmt: skip


def test_an_address_of_another_form_is_not_asked(signed_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    _no_connections(monkeypatch)
    monkeypatch.setattr(socket, "getaddrinfo", _fail)
    assistant = Assistant(signed_in("author"), client_id="x")

    def check(client_id: str) -> None:
        assert assistant.ask(client_id=client_id).status_code == 400

    check_each(OTHER_FORMS, check)


def _fail(*_: Any, **__: Any) -> Any:
    pytest.fail("it was asked")


def _no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GuardedRequest, "send", _fail)


def test_strangers_make_it_ask_nobody(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _no_connections(monkeypatch)
    monkeypatch.setattr(socket, "getaddrinfo", _fail)
    client_id = "https://a.example/client.json"
    assert api.call("GET", f"/oauth/authorize?client_id={client_id}").status_code == 302
    for sent in (
        {"grant_type": "authorization_code", "code": "x", "client_id": client_id},
        {"grant_type": "refresh_token", "refresh_token": "x.y", "client_id": client_id},
    ):
        assert api.call("POST", "/oauth/token", data=sent).status_code in (400, 415)


def test_a_member_who_makes_it_ask_often_has_to_wait(
    host: tuple[str, type[DocumentHost]], signed_in: SignIn, settings: Any
) -> None:
    settings.RATE_LIMITS = {"guess": Rate(count=2, seconds=60)}
    assistant = Assistant(signed_in("author"), client_id=_serve(host))
    assert [assistant.ask().status_code for _ in range(4)] == [200, 200, 429, 429]
    assert len(host[1].asked) == 2


def test_who_a_member_deals_with_is_where_the_browser_goes() -> None:
    registered = OAuthClient(client_id="abc", redirect_uris=[])
    cases: list[tuple[str, str]] = [
        ("https://claude.ai/api/mcp/auth_callback", "claude.ai"),
        ("http://127.0.0.1:9/cb", "localhost"),
        ("http://[::1]/cb", "localhost"),
        ("cursor://anysphere/cb", "cursor:"),
    ]

    def check(case: tuple[str, str]) -> None:
        assert clients.get_host(registered, case[0]) == case[1]

    check_each(cases, check)
    documented = OAuthClient(client_id="https://vscode.dev/oauth/client.json")
    assert clients.get_host(documented, "http://127.0.0.1:9/cb") == "vscode.dev"


def test_a_stored_client_follows_its_document() -> None:
    said: Callable[..., OAuthClient] = lambda **more: OAuthClient(client_id="https://a.example/c", **more)  # noqa: E731
    clients.store_client(said(name="a", redirect_uris=[CALLBACK]))
    clients.store_client(said(name="b", redirect_uris=[]))
    row = OAuthClient.objects.get()
    assert (row.name, row.redirect_uris) == ("b", [])
    assert not Operator.objects.exists()
