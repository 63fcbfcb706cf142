"""Codes and tokens: used twice, by others, too late, elsewhere, and after the account has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client as Browser
from django.utils import timezone

from features.oauth import connections
from features.oauth.models import Connection
from features.oauth.tests.assistant import HOST, ISSUER, Assistant
from registry.access import operators, second_factors
from registry.models import AuditEvent, Operator
from tests.factories import OLGA, publish
from tests.sweeps import check_each
from tests.unit.studio.conftest import SignIn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("issuer")]


@pytest.fixture
def assistant(signed_in: SignIn) -> Assistant:
    return Assistant(signed_in("author"))


def _why() -> str:
    why: str = AuditEvent.objects.get(verb="connection.end").detail["why"]
    return why


def _is_ended() -> bool:
    return Connection.objects.get().ended_at is not None


def _pass_time(**delta: float) -> None:
    """As if that time had gone by."""
    gone = timedelta(**delta)
    for row in Connection.objects.all():
        for column in ("code_until", "access_until", "refresh_until"):
            if (until := getattr(row, column)) is not None:
                setattr(row, column, until - gone)
        row.save()


def test_a_code_that_is_used_twice_ends_what_it_began(assistant: Assistant) -> None:
    code = assistant.get_code()
    tokens = assistant.redeem(code).json()
    again = assistant.redeem(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert assistant.call(tokens["access_token"]).status_code == 401
    assert assistant.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert "used before" in _why()


@pytest.mark.parametrize(
    "changes",
    [
        {"code_verifier": "x" * 43},
        {"code_verifier": ""},
        {"code_verifier": None},
        {"code_verifier": "ü" * 43},
        {"redirect_uri": "https://assistant.example/other"},
        {"redirect_uri": None},
        {"client_id": ""},
        {"client_id": "another"},
    ],
)
def test_a_stolen_code_is_good_for_nothing_and_ends(assistant: Assistant, changes: dict[str, Any]) -> None:
    code = assistant.get_code()
    refused = assistant.redeem(code, **changes)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert assistant.redeem(code).json()["error"] == "invalid_grant"
    assert _is_ended()


def test_the_challenge_itself_is_no_verifier(assistant: Assistant) -> None:
    """A downgrade to `plain`."""
    from features.oauth.tests.assistant import challenge_of

    code = assistant.get_code()
    assert assistant.redeem(code, code_verifier=challenge_of(assistant.verifier)).json()["error"] == "invalid_grant"


def test_a_code_of_another_sign_in_is_not_taken(signed_in: SignIn) -> None:
    """Injected into the flow of the attacker's own browser: the verifier is another one."""
    victim = Assistant(signed_in("author"))
    attacker = Assistant(signed_in("viewer"), client_id=victim.client_id)
    attacker.get_code()
    assert attacker.redeem(victim.get_code()).json()["error"] == "invalid_grant"


def test_a_code_is_good_for_a_minute(assistant: Assistant) -> None:
    code = assistant.get_code()
    _pass_time(seconds=59)
    assert assistant.redeem(code).status_code == 200
    code = assistant.get_code()
    _pass_time(seconds=60)
    assert assistant.redeem(code).json()["error"] == "invalid_grant"


def test_an_access_token_is_good_for_ten_minutes_whatever_the_clock_of_the_client_says(assistant: Assistant) -> None:
    tokens = assistant.sign_in()
    # The response says how long, not until when.
    assert tokens["expires_in"] == 600
    _pass_time(seconds=598)
    assert assistant.call(tokens["access_token"]).status_code == 200
    _pass_time(seconds=2)
    refused = assistant.call(tokens["access_token"])
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["WWW-Authenticate"]
    assert "resource_metadata=" in refused.headers["WWW-Authenticate"]
    assert assistant.refresh(tokens["refresh_token"]).status_code == 200


def test_old_tokens_do_not_count_as_guesses(assistant: Assistant, settings: Any) -> None:
    from studio.config.parsers import Rate

    settings.RATE_LIMITS = {"guess": Rate(count=2, seconds=60)}
    token = assistant.sign_in()["access_token"]
    _pass_time(seconds=600)
    for _ in range(5):
        assert assistant.call(token).status_code == 401


def test_a_refresh_token_is_good_once(assistant: Assistant) -> None:
    first = assistant.sign_in()
    second = assistant.refresh(first["refresh_token"], resource=f"{ISSUER}/mcp").json()
    assert second["refresh_token"] != first["refresh_token"]
    assert second["scope"] == first["scope"]
    assert assistant.call(first["access_token"]).status_code == 401
    assert assistant.call(second["access_token"]).status_code == 200
    third = assistant.refresh(second["refresh_token"]).json()
    assert assistant.call(third["access_token"]).status_code == 200


def test_a_stolen_refresh_token_ends_the_connection_for_both(assistant: Assistant) -> None:
    stolen = assistant.sign_in()["refresh_token"]
    mine = assistant.refresh(stolen).json()
    assert assistant.refresh(stolen).json()["error"] == "invalid_grant"
    assert assistant.call(mine["access_token"]).status_code == 401
    assert assistant.refresh(mine["refresh_token"]).json()["error"] == "invalid_grant"
    assert "used twice" in _why()


def test_a_thief_who_comes_first_is_found_out_by_the_owner(assistant: Assistant) -> None:
    stolen = assistant.sign_in()["refresh_token"]
    thief = assistant.refresh(stolen).json()
    assert assistant.refresh(stolen).status_code == 400
    assert assistant.call(thief["access_token"]).status_code == 401


def test_a_refresh_token_is_its_clients(assistant: Assistant, signed_in: SignIn) -> None:
    token = assistant.sign_in()["refresh_token"]
    other = Assistant(signed_in("author"), redirect_uri="https://other.example/cb")
    assert other.refresh(token).json()["error"] == "invalid_grant"
    assert not _is_ended()
    assert assistant.refresh(token).status_code == 200


@pytest.mark.parametrize("made_up", ["", ".", "x", "x.y", "\x00.\x00", "x" * 5000])
def test_a_made_up_token_changes_nothing(assistant: Assistant, made_up: str) -> None:
    tokens = assistant.sign_in()
    assert assistant.refresh(made_up).json()["error"] == "invalid_grant"
    assert assistant.redeem(made_up).json()["error"] == "invalid_grant"
    assert assistant.call(made_up or "cso_").status_code == 401
    assert assistant.call(tokens["access_token"]).status_code == 200


def test_a_refresh_token_ends_after_a_month_without_use(assistant: Assistant) -> None:
    token = assistant.sign_in()["refresh_token"]
    _pass_time(days=29)
    token = assistant.refresh(token).json()["refresh_token"]
    _pass_time(days=30)
    assert assistant.refresh(token).json()["error"] == "invalid_grant"
    connections.prune(None)()  # type: ignore[arg-type]
    assert _is_ended()


def test_a_token_is_for_this_resource(assistant: Assistant, settings: Any) -> None:
    tokens = assistant.sign_in()
    for sent in (assistant.refresh(tokens["refresh_token"], resource="https://other.example/mcp"),):
        assert sent.json()["error"] == "invalid_target"
    # The registry has another address now: what was made for the one before is good no more.
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = "https://other.example", ["*"]
    assert assistant.call(tokens["access_token"]).status_code == 401
    assert assistant.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_token_opens_nothing_but_mcp(assistant: Assistant, api: Any) -> None:
    publish("alpha")
    headers = {"Authorization": f"Bearer {assistant.sign_in()['access_token']}"}
    addresses = (
        "/api/v1/capability_registry_list", "/api/v1/capability_skill_load?capability_id=alpha",
        "/api/v1/operator/bundle_list", "/.well-known/agent-skills/index.json", "/clawhub/api/v1/whoami",
        "/clawhub/api/v1/search?q=a", "/api/search?q=a", "/metrics", "/api/v1/set_list",
    )  # fmt: skip

    def check(address: str) -> None:
        assert api.call("GET", address, headers=headers).status_code == 401

    check_each(addresses, check)
    page = Browser(headers=headers).get("/capabilities/")
    assert page.status_code == 302


def test_neither_a_refresh_token_nor_a_code_is_an_access_token(assistant: Assistant) -> None:
    code = assistant.get_code()
    tokens = assistant.redeem(code).json()
    for other in (code, f"cso_{code}", tokens["refresh_token"], *tokens["refresh_token"].split(".")):
        assert assistant.call(other).status_code == 401


def test_a_token_in_the_query_is_not_read(assistant: Assistant) -> None:
    token = assistant.sign_in()["access_token"]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    sent = assistant.http.post(f"/mcp?access_token={token}", body, content_type="application/json")
    assert sent.status_code == 401


CHANGES: dict[str, Callable[[], object]] = {
    "role raised": lambda: operators.set_role(username="the-author", role="publisher", by=OLGA),
    "role lowered": lambda: operators.set_role(username="the-author", role="viewer", by=OLGA),
    "deactivated": lambda: operators.disable_operator(username="the-author", by=OLGA),
    "password set": lambda: operators.set_password(username="the-author", password="Correct-horse-10", by=OLGA),
    "password reset": lambda: operators.reset_password(username="the-author", by=OLGA),
    "second factor reset": lambda: second_factors.reset_second_factors(username="the-author", by=OLGA),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_role_password_or_state_ends_it_at_once(assistant: Assistant, change: str) -> None:
    if change == "second factor reset":
        second_factors.add_passkey(username="the-author", name="Key", credential={}, by=OLGA)
    tokens = assistant.sign_in()
    assert assistant.call(tokens["access_token"]).status_code == 200
    CHANGES[change]()
    assert assistant.call(tokens["access_token"]).status_code == 401
    assert assistant.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert _is_ended()
    # Who is let in again is not connected again.
    if change == "deactivated":
        operators.enable_operator(username="the-author", by=OLGA)
        assert assistant.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_a_member_who_was_deactivated_in_the_database_is_out(assistant: Assistant) -> None:
    code = assistant.get_code()
    tokens = assistant.sign_in()
    Operator.objects.filter(username="the-author").update(is_active=False)
    assert assistant.call(tokens["access_token"]).status_code == 401
    assert assistant.refresh(tokens["refresh_token"]).status_code == 400
    assert assistant.redeem(code).status_code == 400


def test_others_keep_their_connections(assistant: Assistant, signed_in: SignIn) -> None:
    other = Assistant(signed_in("viewer"))
    token = other.sign_in()["access_token"]
    assistant.sign_in()
    CHANGES["deactivated"]()
    assert other.call(token).status_code == 200


def test_a_write_reads_the_token_again_in_its_transaction(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    publish("alpha")
    token = assistant.sign_in()["access_token"]
    look_up = connections.find_by_access_token
    # Of a moment before the end; the next look is of the table.
    looks = [look_up(token)]
    connections.end_connection(key=Connection.objects.get().pk, operator=Operator.objects.get(), by=OLGA)
    monkeypatch.setattr(connections, "find_by_access_token", lambda _: looks.pop() if looks else look_up(token))
    refused = assistant.call_tool(token, "capability_feedback", capability_id="alpha", outcome="likely_success")
    assert refused["error"]["code"] == "UNAUTHENTICATED"
    assert not AuditEvent.objects.filter(verb="feedback.record").exists()


def test_the_client_ends_its_connection(assistant: Assistant, signed_in: SignIn) -> None:
    other = Assistant(signed_in("author"), redirect_uri="https://other.example/cb")
    for kind in ("access_token", "refresh_token"):
        tokens = assistant.sign_in()
        # By another client, or with another token, nothing is done; and nobody learns of it.
        others = ((other.client_id, tokens[kind]), (assistant.client_id, "x.y"), ("", ""), ("\x00", tokens[kind]))
        for client_id, token in others:
            done = assistant.http.post("/oauth/revoke", {"token": token, "client_id": client_id})
            assert (done.status_code, done.content) == (200, b"")
        assert assistant.call(tokens["access_token"]).status_code == 200
        sent = {"token": tokens[kind], "client_id": assistant.client_id, "token_type_hint": kind}
        assert assistant.http.post("/oauth/revoke", sent).status_code == 200
        assert assistant.call(tokens["access_token"]).status_code == 401
        assert assistant.refresh(tokens["refresh_token"]).status_code == 400


def test_a_client_with_a_secret_is_refused(assistant: Assistant) -> None:
    code = assistant.get_code()
    for more in ({"client_secret": "x"}, {"client_assertion": "eyJ"}):
        refused = assistant.redeem(code, **more)
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert assistant.redeem(code).status_code == 200


@pytest.mark.parametrize("grant", ["", "password", "client_credentials", "implicit"])
def test_no_other_grant_is_known(assistant: Assistant, grant: str) -> None:
    refused = assistant.redeem(assistant.get_code(), grant_type=grant)
    assert (refused.status_code, refused.json()["error"]) == (400, "unsupported_grant_type")


def test_no_response_with_a_token_is_kept(assistant: Assistant) -> None:
    response = assistant.redeem(assistant.get_code())
    assert response.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in response.headers


def test_tokens_are_asked_for_by_post(assistant: Assistant) -> None:
    assert assistant.http.get("/oauth/token").status_code == 405
    assert Browser(headers={"host": HOST}).get("/oauth/register").status_code == 405


def test_rows_that_the_code_would_not_write_are_refused(assistant: Assistant) -> None:
    assistant.sign_in()
    for columns in ({"ended_at": timezone.now()}, {"refresh_hash": ""}, {"access_until": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Connection.objects.update(**columns)


@pytest.mark.parametrize("address", ["/oauth/token", "/oauth/revoke", "/oauth/register"])
def test_a_flood_of_one_network_waits_and_no_other_does(assistant: Assistant, settings: Any, address: str) -> None:
    from studio.config.parsers import Rate

    settings.RATE_LIMITS = {"write": Rate(count=3, seconds=60)}

    def send(network: str) -> Any:
        return assistant.http.post(address, {"grant_type": "refresh_token"}, REMOTE_ADDR=network)

    # Of IPv6 one customer has a whole /64.
    answers = [send(f"2001:db8:1:2::{number:x}") for number in range(1, 6)]
    assert [one.status_code == 429 for one in answers] == [False] * 3 + [True] * 2
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert send("203.0.113.77").status_code != 429
