"""Access tokens of another authorization server: what they have to prove, whom they act for, and when they end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.test import Client as Browser
from django.utils import timezone

from features.oauth import connections, external_server
from features.oauth.models import Connection
from features.oauth.tests.assistant import HOST, ISSUER, Assistant
from features.oauth.tests.test_tokens import CHANGES
from registry.access import operators, teams
from registry.common import caches
from registry.common.errors import Unauthenticated
from registry.common.net.guarded_client import GuardedRequest
from registry.models import AuditEvent, LoadCount, Operator, Proposal
from registry.usage import usage_counters
from studio.config.parsers import Rate
from tests.bundle_files import bundle
from tests.factories import OLGA, agent_key, publish
from tests.hostile_provider import HostileProvider, make_key, start_hostile_provider
from tests.sweeps import check_each
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("issuer")]
RESOURCE = f"{ISSUER}/mcp"
FOREIGN, _ = make_key()


@pytest.fixture(scope="module")
def served() -> Iterator[HostileProvider]:
    with start_hostile_provider() as provider:
        yield provider


class Issuer:
    """The other server, and what an assistant does with a token of it."""

    def __init__(self, provider: HostileProvider) -> None:
        self.provider = provider
        self.http = Browser(headers={"host": HOST})

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        said = {"iss": self.provider.url, "aud": RESOURCE, "sub": "ada-1", "iat": now, "exp": now + 300}
        person = {"email": "ada@example.com", "email_verified": True, "scope": "openid read feedback propose"}
        given = said | person | {"client_id": "chatty"} | changes
        return {name: value for name, value in given.items() if value is not None}

    def sign(self, claims: dict[str, Any], key: Any = None, algorithm: str = "RS256", **header: Any) -> str:
        # Not by `jwt.encode`, which refuses to sign claims of another type.
        named = {"kid": "first", "typ": "at+jwt"} | header
        return jwt.api_jws.encode(json.dumps(claims).encode(), key or self.provider.private, algorithm, named)

    def token(self, **changes: Any) -> str:
        return self.sign(self.claims(**changes))

    def call(self, token: str, method: str = "tools/list", **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Authorization": f"Bearer {token}"}
        return self.http.post("/mcp", json.dumps(body), content_type="application/json", headers=headers)

    def status(self, token: str) -> int:
        status: int = self.call(token).status_code
        return status

    def call_tool(self, token: str, tool: str, **arguments: Any) -> Any:
        response = self.call(token, "tools/call", name=tool, arguments=arguments)
        return json.loads(response.json()["result"]["content"][0]["text"])

    def reads_of_keys(self) -> int:
        return self.provider.requests.count("/jwks")


@pytest.fixture
def other(served: HostileProvider, issuer: str, settings: Any) -> Iterator[Issuer]:
    served.reset()
    caches.reset_all()
    settings.OAUTH_ISSUER, settings.OAUTH_AUDIENCE, settings.OAUTH_DOMAINS = served.url, "", ("example.com",)
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    yield Issuer(served)
    caches.reset_all()


@pytest.fixture
def ada() -> Operator:
    operators.create_operator(username="ada", password="Correct-horse-battery-9", role="author", by=OLGA)
    return operators.set_email(username="ada", email="Ada@Example.com", by=OLGA)


def test_metadata_and_the_401_name_the_other_server_and_ours_is_not_there(
    other: Issuer, api: Any, signed_in: SignIn, settings: Any
) -> None:
    found = api.call("GET", "/.well-known/oauth-protected-resource/mcp").json()
    assert (found["authorization_servers"], found["resource"]) == ([other.provider.url], RESOURCE)
    refused = api.call("POST", "/mcp", data=b"{}", content_type="application/json")
    assert (
        f'resource_metadata="{ISSUER}/.well-known/oauth-protected-resource/mcp"' in refused.headers["WWW-Authenticate"]
    )
    api.error(api.call("GET", "/.well-known/oauth-authorization-server"), 404, "NOT_FOUND")
    for path in ("/oauth/token", "/oauth/register", "/oauth/revoke"):
        api.error(api.call("POST", path, data=b"{}", content_type="application/json"), 404, "NOT_FOUND")
    browser, named = signed_in("author"), settings.OAUTH_ISSUER
    settings.OAUTH_ISSUER = None
    ours = Assistant(browser).sign_in()["access_token"]
    assert other.status(ours) == 200
    settings.OAUTH_ISSUER = named
    assert Assistant(browser).ask().status_code == 404
    assert other.status(ours) == 401


def test_a_member_acts_under_their_name_and_is_counted_by_client(other: Issuer, ada: Operator) -> None:
    publish("alpha")
    token = other.token()
    other.call_tool(token, "capability_skill_load", capability_id="alpha")
    other.call_tool(token, "capability_feedback", capability_id="alpha", outcome="likely_success")
    assert other.call_tool(token, "capability_propose", files=bundle("beta"))["status"] == "draft"
    events = {event.verb: event for event in AuditEvent.objects.filter(actor_name="ada")}
    assert {"connection.create", "feedback.record", "proposal.create"} <= set(events)
    host = other.provider.url.removeprefix("http://")
    assert {event.detail["via"] for event in events.values()} == {f"{host}/chatty"}
    usage_counters.flush()
    assert LoadCount.objects.get().key_name == Proposal.objects.get().key_name == f"ada · {host}/chatty"
    assert Connection.objects.get().operator == ada


def test_limits_count_the_member_by_the_client(other: Issuer, ada: Operator, settings: Any) -> None:
    publish("alpha")
    settings.RATE_LIMITS = {"write": Rate(count=2, seconds=60)}
    said = {"capability_id": "alpha", "outcome": "likely_success"}
    answers = [other.call_tool(other.token(), "capability_feedback", **said) for _ in range(3)]
    assert [("error" in one) for one in answers] == [False, False, True]
    assert "error" not in other.call_tool(other.token(client_id="other"), "capability_feedback", **said)
    assert Connection.objects.count() == 2


def test_other_names_of_a_client_are_read(other: Issuer, ada: Operator) -> None:
    for number, name in enumerate(("azp", "appid", "cid")):
        assert other.status(other.token(**{"client_id": None, name: f"client {number}"})) == 200
    assert other.status(other.token(client_id=None)) == 200
    assert {row.via.partition("/")[2] for row in Connection.objects.all()} == {
        "client 0", "client 1", "client 2", "unknown"
    }  # fmt: skip


FORMS: dict[str, dict[str, Any]] = {
    "of RFC 9068": {},
    "of Keycloak": {"typ": "JWT"},
    "of Okta": {"typ": None},
    "by the whole media type": {"typ": "application/at+JWT"},
}


def test_each_form_of_an_access_token_is_taken(other: Issuer, ada: Operator) -> None:
    check_each(FORMS, lambda form: _assert_status(other.status(other.sign(other.claims(), **FORMS[form])), 200))


def test_a_token_may_be_signed_by_an_elliptic_curve(other: Issuer, ada: Operator) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    public = jwt.algorithms.ECAlgorithm.to_jwk(private.public_key(), as_dict=True) | {"kid": "curve", "alg": "ES256"}
    other.provider.documents["/jwks"] = {"keys": [other.provider.public, public]}
    assert other.status(other.sign(other.claims(), private, "ES256", kid="curve")) == 200
    # One key's signature under another one's name.
    assert other.status(other.sign(other.claims(), private, "ES256", kid="first")) == 401


def _assert_status(found: int, expected: int) -> None:
    assert found == expected


def _by_hand(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None) -> str:
    """As HS256 has it, or without a signature; PyJWT itself refuses to sign with a public key."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    made = hmac.new(secret, b".".join(parts), hashlib.sha256).digest() if secret is not None else b""
    return b".".join([*parts, base64.urlsafe_b64encode(made).rstrip(b"=")]).decode()


def _pem(other: Issuer) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    pem: bytes = other.provider.private.public_key().public_bytes(serialization.Encoding.PEM, form)
    return pem


NOW = int(time.time())
FORGED: dict[str, Callable[[Issuer], str]] = {
    "not signed": lambda one: _by_hand({"alg": "none", "kid": "first"}, one.claims(), None),
    "not signed, in other letters": lambda one: _by_hand({"alg": "nOnE", "kid": "first"}, one.claims(), None),
    "its signature cut": lambda one: one.token().rpartition(".")[0] + ".",
    "HS256 by the public key": lambda one: _by_hand({"alg": "HS256", "kid": "first"}, one.claims(), _pem(one)),
    "HS256 by the public key's text": lambda one: _by_hand(
        {"alg": "HS256", "kid": "first"}, one.claims(), json.dumps(one.provider.public).encode()
    ),
    "another key under its name": lambda one: one.sign(one.claims(), FOREIGN),
    "a key that it brings": lambda one: one.sign(
        one.claims(), FOREIGN, jwk=jwt.algorithms.RSAAlgorithm.to_jwk(FOREIGN.public_key(), as_dict=True)
    ),
    "keys at an address that it names": lambda one: one.sign(one.claims(), FOREIGN, jku="https://evil.example/jwks"),
    "an extension that must be known": lambda one: one.sign(one.claims(), crit=["x"], x=1),
    "another issuer": lambda one: one.token(iss="https://login.example.com"),
    "another issuer of the same host": lambda one: one.token(iss=f"{one.provider.url}/realms/other"),
    "no issuer": lambda one: one.token(iss=None),
    "another audience": lambda one: one.token(aud="https://other.example/mcp"),
    "another address here": lambda one: one.token(aud=ISSUER),
    "no audience": lambda one: one.token(aud=None),
    "expired": lambda one: one.token(exp=int(time.time()) - 61),
    "without an end": lambda one: one.token(exp=None),
    "issued in the future": lambda one: one.token(iat=int(time.time()) + 120),
    "not yet good": lambda one: one.token(nbf=int(time.time()) + 120),
    "without a time": lambda one: one.token(iat=None),
    "a time that is not one": lambda one: one.token(iat="yesterday"),
    "nobody": lambda one: one.token(sub=None),
    "an empty subject": lambda one: one.token(sub=" "),
    "a subject that is a number": lambda one: one.token(sub=7),
    "a subject that no database takes": lambda one: one.token(sub="ada\x00"),
    "a subject without an end": lambda one: one.token(sub="x" * 600),
    "an ID token by its type": lambda one: one.sign(one.claims(), typ="id+jwt"),
    "a logout token": lambda one: one.sign(one.claims(), typ="logout+jwt"),
    "a type that is not a text": lambda one: one.sign(one.claims(), typ=7),
    "not JSON": lambda one: "bm90.bm90.bm90",
    "deep": lambda one: base64.urlsafe_b64encode(b"[" * 5000).decode().rstrip("=") + ".e30.e30",
    "claims that are a list": lambda one: one.sign([]),  # type: ignore[arg-type]
}


def test_what_proves_nothing_is_401_and_makes_nothing(other: Issuer, ada: Operator) -> None:
    def check(name: str) -> None:
        caches.reset_all()
        assert other.status(FORGED[name](other)) == 401

    check_each(FORGED, check)
    assert not Connection.objects.exists()
    assert other.status(other.token()) == 200


def test_clocks_may_differ_by_a_minute(other: Issuer, ada: Operator) -> None:
    now = int(time.time())
    for near in ({"exp": now - 50}, {"iat": now + 50}, {"nbf": now + 50}):
        assert other.status(other.token(**near)) == 200


def test_the_audience_may_be_named_and_stand_among_others(other: Issuer, ada: Operator, settings: Any) -> None:
    assert other.status(other.token(aud=["https://other.example", RESOURCE])) == 200
    settings.OAUTH_AUDIENCE = "api://studio"
    assert other.status(other.token(aud="api://studio")) == 200
    assert other.status(other.token()) == 401


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"scope": "read"}, {"read"}),
        ({"scope": None, "scp": ["read", "feedback"]}, {"read", "feedback"}),
        ({"scope": None, "scp": "read propose"}, {"read", "propose"}),
        ({"scope": "read publish admin operator"}, {"read"}),
        ({"scope": "feedback propose"}, None),
        ({"scope": "openid profile"}, None),
        ({"scope": None}, None),
        ({"scope": None, "scp": 7}, None),
        ({"scope": None, "scp": [["read"], {}]}, None),
    ],
)
def test_scopes_are_ours_and_without_read_nobody_comes_in(
    other: Issuer, ada: Operator, claims: dict[str, Any], expected: set[str] | None
) -> None:
    response = other.call(other.token(**claims))
    assert response.status_code == (403 if expected is None else 200)
    if expected is not None:
        names = {tool["name"] for tool in response.json()["result"]["tools"]}
        assert ("capability_feedback" in names) == ("feedback" in expected)
        assert ("capability_propose" in names) == ("propose" in expected)


def test_nothing_goes_beyond_the_role_or_the_team(other: Issuer, ada: Operator) -> None:
    publish("alpha")
    team = teams.create_team(name="Health", by=OLGA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    files = bundle("alpha", body="Other words.")
    assert other.call_tool(other.token(), "capability_propose", files=files)["error"]["code"] == "FORBIDDEN"
    Operator.objects.filter(username="ada").update(role="viewer")
    refused = other.call_tool(other.token(), "capability_propose", files=bundle("beta"))
    assert refused["error"]["code"] == "FORBIDDEN"
    assert not Proposal.objects.exists()


def test_a_token_opens_nothing_but_mcp(other: Issuer, ada: Operator, api: Any) -> None:
    publish("alpha")
    headers = {"Authorization": f"Bearer {other.token()}"}
    for address in ("/api/v1/capability_registry_list", "/api/v1/operator/bundle_list", "/clawhub/api/v1/whoami"):
        assert api.call("GET", address, headers=headers).status_code == 401
    assert Browser(headers=headers).get("/capabilities/").status_code == 302


def test_a_key_goes_on_coming_in(other: Issuer) -> None:
    assert other.status(agent_key()) == 200


# Whom it acts for


NOBODY: dict[str, dict[str, Any]] = {
    "an address that is not verified": {"email_verified": False},
    "a text in the place of a truth": {"email_verified": "true"},
    "nothing of a verification": {"email_verified": None},
    "no address": {"email": None},
    "an address that is a list": {"email": ["ada@example.com"]},
    "a member of another domain": {"email": "eve@evil.example"},
    "a member of a domain below": {"email": "sub@mail.example.com"},
    "a member of a domain that ends so": {"email": "end@evil-example.com"},
    "two domains": {"email": "ada@evil.example@example.com"},
    "a list of two": {"email": "ada@example.com,mallory@evil.example"},
    "letters that fold": {"email": "\u0430da@example.com"},
    "a dot at the end": {"email": "ada@example.com."},
    "nobody here": {"email": "bob@example.com"},
    "an admin": {"email": "olga@example.com"},
    "shared by two": {"email": "both@example.com"},
    "a member who is deactivated": {"email": "gone@example.com"},
}


@pytest.mark.both_databases
def test_who_is_not_one_member_of_a_named_domain_does_not_come_in(other: Issuer, ada: Operator) -> None:
    addresses = {
        "b-1": "both@example.com",
        "b-2": "BOTH@example.com",
        "gone": "gone@example.com",
        "kim": "kim@example.com",
        "eve": "eve@evil.example",
        "sub": "sub@mail.example.com",
        "end": "end@evil-example.com",
        "olga": "olga@example.com",
    }
    for name, address in addresses.items():
        role = "admin" if name == "olga" else "author"
        operators.create_operator(username=name, password="Correct-horse-battery-9", role=role, by=OLGA)
        operators.set_email(username=name, email=address, by=OLGA)
    # A database that folds letters takes this one for an i.
    Operator.objects.filter(username="kim").update(email="k\u0131m@example.com")
    operators.disable_operator(username="gone", by=OLGA)

    def check(name: str) -> None:
        assert other.status(other.token(**NOBODY[name])) == (401 if "deactivated" in name else 403)

    check_each(NOBODY, check)
    assert other.status(other.token(email="kim@example.com")) == 403
    assert not Connection.objects.exists()


def test_entra_says_of_the_domain_that_it_is_verified(other: Issuer, ada: Operator) -> None:
    assert other.status(other.token(email_verified=None, xms_edov=False)) == 403
    assert other.status(other.token(email_verified=None, xms_edov=True)) == 200


def test_an_address_that_changes_its_owner_later_moves_nobody(other: Issuer, ada: Operator) -> None:
    assert other.status(other.token()) == 200
    # There: the address is somebody else's now, who has another subject.
    assert other.status(other.token(sub="mallory-2")) == 403
    # Here: the address belongs to another member; the first person stays who they were.
    operators.create_operator(username="bob", password="Correct-horse-battery-9", role="author", by=OLGA)
    operators.set_email(username="ada", email="", by=OLGA)
    operators.set_email(username="bob", email="ada@example.com", by=OLGA)
    assert other.status(other.token(client_id="second", email="other@evil.example", email_verified=False)) == 200
    assert {row.operator.username for row in Connection.objects.all()} == {"ada"}
    # The new owner of the address is another person there, and another member here.
    assert other.status(other.token(sub="bob-3")) == 200
    assert Connection.objects.get(person__endswith=" bob-3").operator.username == "bob"


def test_another_issuer_has_other_people(other: Issuer, ada: Operator, settings: Any) -> None:
    assert other.status(other.token()) == 200
    Connection.objects.update(person="https://login.example.com ada-1")
    operators.set_email(username="ada", email="", by=OLGA)
    assert other.status(other.token()) == 403


def test_who_becomes_an_admin_comes_in_no_more(other: Issuer, ada: Operator) -> None:
    assert other.status(other.token()) == 200
    Operator.objects.filter(username="ada").update(role="admin")
    assert other.status(other.token()) == 403


# The end


def _pass_time() -> None:
    """As if what has ended had ended two minutes ago."""
    Connection.objects.filter(ended_at__isnull=False).update(ended_at=timezone.now() - timedelta(minutes=2))


def test_a_deactivated_members_token_fails_at_once_and_is_not_good_again(other: Issuer, ada: Operator) -> None:
    token = other.token(iat=int(time.time()) - 200)
    assert other.status(token) == 200
    operators.disable_operator(username="ada", by=OLGA)
    assert other.status(token) == other.status(other.token()) == 401
    operators.enable_operator(username="ada", by=OLGA)
    assert other.status(token) == 401
    _pass_time()
    assert other.status(token) == 401
    assert other.status(other.token()) == 200
    # The end is remembered beside the connection that was opened again.
    assert other.status(token) == 401


@pytest.mark.parametrize("change", ["role lowered", "password set", "password reset"])
def test_another_role_or_password_ends_it(other: Issuer, ada: Operator, change: str) -> None:
    Operator.objects.filter(username="ada").update(username="the-author")
    token = other.token(iat=int(time.time()) - 200)
    assert other.status(token) == 200
    CHANGES[change]()
    # A token of the minute after could be one of before, by another clock.
    ahead = other.token(iat=int(time.time()) + 30)
    assert other.status(token) == other.status(other.token()) == other.status(ahead) == 401


def test_the_member_and_an_admin_see_and_end_it(other: Issuer, signed_in: SignIn) -> None:
    for role, address in (("author", "/security/"), ("admin", "/connections/")):
        browser = Assistant(signed_in(role), client_id="none").browser
        Connection.objects.all().delete()
        operators.set_email(username="the-author", email="ada@example.com", by=OLGA)
        token = other.token()
        assert other.status(token) == 200
        assert "/chatty" in browser.get(address).content.decode()
        ask_and_confirm(browser, "/connections/end/", {"key": str(Connection.objects.get().pk)})
        assert other.status(token) == 401
        assert AuditEvent.objects.filter(verb="connection.end").latest("pk").actor_name == f"the-{role}"


def test_a_write_reads_the_connection_again_in_its_transaction(
    other: Issuer, ada: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    from features.oauth import external_members

    publish("alpha")
    token, admit = other.token(), external_members.admit

    def end_after(given: Any) -> Connection:
        row = admit(given)
        connections.end_connection(key=row.pk, operator=ada, by=OLGA)
        return row

    monkeypatch.setattr(external_members, "admit", end_after)
    refused = other.call_tool(token, "capability_feedback", capability_id="alpha", outcome="likely_success")
    assert refused["error"]["code"] == "UNAUTHENTICATED"
    assert not AuditEvent.objects.filter(verb="feedback.record").exists()


def test_it_ends_after_a_month_without_use_and_is_renewed_by_use(other: Issuer, ada: Operator) -> None:
    assert other.status(other.token()) == 200
    Connection.objects.update(code_until=timezone.now() + timedelta(days=1))
    assert other.status(other.token()) == 200
    assert Connection.objects.get().code_until > timezone.now() + timedelta(days=29)
    Connection.objects.update(code_until=timezone.now() - timedelta(seconds=1))
    connections.prune(None)()  # type: ignore[arg-type]
    assert Connection.objects.get().ended_at is not None
    assert AuditEvent.objects.filter(verb="connection.create").count() == 1


def test_a_token_that_says_more_is_written_down(other: Issuer, ada: Operator) -> None:
    assert other.status(other.token(scope="read")) == 200
    assert other.status(other.token(scope="read feedback")) == 200
    tools = other.call(other.token(scope="read")).json()["result"]["tools"]
    assert "capability_feedback" not in {tool["name"] for tool in tools}
    said = [one.detail["scopes"] for one in AuditEvent.objects.filter(verb="connection.create").order_by("pk")]
    assert said == [["read"], ["read", "feedback"]]
    from registry.operations.backup.tables import read_stored
    from registry.operations.rights.comparison import find_unrecorded

    assert not [one for one in find_unrecorded(read_stored) if "connection" in str(one)]
    Connection.objects.update(person="somebody else")
    assert other.status(other.token(email=None)) == 403


def test_a_member_has_a_bounded_number(other: Issuer, ada: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 2)
    answers = [other.status(other.token(client_id=f"client {number}")) for number in range(3)]
    assert answers == [200, 200, 409]


# Its documents


def test_keys_are_read_once_and_a_rotated_one_is_found(
    other: Issuer, ada: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    assert [other.status(other.token()) for _ in range(3)] == [200] * 3
    assert other.reads_of_keys() == 1
    private, public = make_key("second")
    other.provider.documents["/jwks"] = {"keys": [public]}
    rotated = other.sign(other.claims(), private, kid="second")
    # Within the minute nobody is asked.
    assert (other.status(rotated), other.reads_of_keys()) == (401, 1)
    monkeypatch.setattr(external_server, "ASK_SECONDS", 0.0)
    assert (other.status(rotated), other.reads_of_keys()) == (200, 2)
    assert other.status(other.token()) == 401


def test_a_flood_of_unknown_keys_asks_once(other: Issuer, ada: Operator) -> None:
    flood = [other.sign(other.claims(), FOREIGN, kid=f"made up {number}") for number in range(30)]
    assert {other.status(one) for one in flood} == {401}
    assert other.reads_of_keys() == 1
    assert other.status(other.token()) == 200


def test_nobody_waits_for_another_ones_question_while_there_are_keys(other: Issuer, ada: Operator) -> None:
    assert other.status(other.token()) == 200
    refused: list[bool] = []

    def send() -> None:
        with pytest.raises(Unauthenticated):
            external_server.verify_access_token(other.sign(other.claims(), FOREIGN, kid="made up"))
        refused.append(True)

    with external_server._LOCK:
        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        thread.join(10)
        assert refused


def test_a_key_that_was_withdrawn_is_good_for_an_hour_at_most(
    other: Issuer, ada: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert other.status(other.token()) == 200
    other.provider.documents["/jwks"] = {"keys": []}
    monkeypatch.setattr(external_server, "KEYS_SECONDS", 0.0)
    monkeypatch.setattr(external_server, "ASK_SECONDS", 0.0)
    assert other.status(other.token()) in (401, 503)


BROKEN: dict[str, dict[str, Any]] = {
    "keys that are a list": {"/jwks": []},
    "keys that are not JSON": {"/jwks": b"{"},
    "more than is read": {"/jwks": b" " * (128 * 1024) + b"{}"},
    "metadata of another issuer": {"issuer": "https://evil.example"},
    "metadata of nobody": {"issuer": None},
    "no address of keys": {"jwks_uri": None},
    "an address that is not one": {"jwks_uri": "jwks"},
    "keys on this machine's disk": {"jwks_uri": "file:///etc/passwd"},
    "keys at a private address": {"jwks_uri": "https://10.0.0.1/jwks"},
    "keys of a cloud": {"jwks_uri": "http://169.254.169.254/jwks"},
    "keys in the clear": {"jwks_uri": "http://93.184.216.34/jwks"},
}


def test_keys_that_cannot_be_had_are_503_and_asked_for_once(other: Issuer, ada: Operator) -> None:
    def check(name: str) -> None:
        caches.reset_all()
        other.provider.reset()
        said = {"issuer": other.provider.url, "jwks_uri": f"{other.provider.url}/jwks"} | BROKEN[name]
        places = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
        other.provider.documents = {"/jwks": {"keys": [other.provider.public]}, **BROKEN[name]}
        other.provider.documents |= dict.fromkeys(places, said)
        assert [other.status(other.token()) for _ in range(3)] == [503] * 3
        assert len(other.provider.requests) <= 3

    check_each(BROKEN, check)


def test_nothing_inside_is_asked(other: Issuer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.IMPORT_ALLOWED_NETWORKS = ()
    monkeypatch.setattr(GuardedRequest, "send", lambda *_: pytest.fail("it was asked"))
    for address in ("https://localhost", "https://10.0.0.1/realms/a", "https://[fd00::1]", "https://168.63.129.16"):
        settings.OAUTH_ISSUER = address
        caches.reset_all()
        assert other.status(other.token(iss=address)) == 503


def test_a_name_that_leads_inside_a_moment_later_is_asked_at_the_address_that_was_checked(
    other: Issuer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding."""
    settings.OAUTH_ISSUER, settings.IMPORT_ALLOWED_NETWORKS = "https://rebound.example", ()
    asked: list[str] = []
    answers = iter(["93.184.216.34", "127.0.0.1", "127.0.0.1"])
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 443))]
    )
    monkeypatch.setattr(GuardedRequest, "send", lambda self, addresses, deadline: asked.extend(map(str, addresses)))
    assert other.status(other.token()) == 503
    assert asked == ["93.184.216.34"]


def test_an_issuer_that_names_itself_with_a_slash_is_the_same(other: Issuer, ada: Operator) -> None:
    named = {"issuer": f"{other.provider.url}/", "jwks_uri": f"{other.provider.url}/jwks"}
    other.provider.documents["/.well-known/oauth-authorization-server"] = named
    assert other.status(other.token(iss=f"{other.provider.url}/")) == 200
    assert other.status(other.token()) == 200
    assert Connection.objects.count() == 1


def test_openid_discovery_takes_the_place_of_absent_metadata(other: Issuer, ada: Operator) -> None:
    other.provider.documents["/.well-known/oauth-authorization-server"] = b"not there"
    assert other.status(other.token()) == 200
    assert other.provider.requests[:2] == [
        "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
    ]  # fmt: skip
