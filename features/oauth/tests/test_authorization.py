"""The page that asks the member: what leads to it, what it refuses, and where its answer goes."""

from __future__ import annotations

from typing import Any

import pytest

from features.oauth.models import Connection
from features.oauth.tests.assistant import CALLBACK, ISSUER, Assistant, answer_of
from registry.access import operators
from registry.models import AuditEvent
from tests.factories import OLGA
from tests.sessions import confirm_identity
from tests.sweeps import check_each
from tests.unit.studio.conftest import PASSWORD, SignIn
from tests.unit.studio.forms import form_with, forms_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("issuer")]


def _policy(response: Any) -> dict[str, str]:
    rows = (row.strip().partition(" ") for row in response.headers["Content-Security-Policy"].split(";"))
    return {name: values for name, _, values in rows}


def test_who_is_not_signed_in_comes_back_to_the_same_question(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    assistant.browser.logout()
    to_sign_in = assistant.ask()
    assert to_sign_in.status_code == 302
    assert to_sign_in.headers["Location"].startswith("/sign-in/?next=/oauth/authorize%3Fresponse_type")


def test_an_unknown_client_leads_nowhere(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    for changes in (
        {"client_id": "nobody"}, {"client_id": ""}, {"client_id": None}, {"redirect_uri": None},
        {"redirect_uri": "https://evil.example/"}, {"client_id": "x\x00"}, {"client_id": "x" * 5000},
    ):  # fmt: skip
        page = assistant.ask(**changes)
        assert page.status_code == 400
        assert "Location" not in page.headers
        assert not any("authorize" in form.action for form in forms_in(page))


def test_no_hostile_address_is_redirected_to(signed_in: SignIn) -> None:
    from features.oauth.tests.test_redirect_uris import HOSTILE

    assistant = Assistant(signed_in("author"))

    def check(uri: str) -> None:
        for answer in (assistant.ask(redirect_uri=uri, response_type="token"), assistant.ask(redirect_uri=uri)):
            assert answer.status_code == 400
            assert "Location" not in answer.headers
        sent = assistant.browser.post("/oauth/authorize", assistant.query(redirect_uri=uri) | {"decision": "deny"})
        assert sent.status_code == 400
        assert "evil.example" not in _policy(sent)["form-action"]

    check_each(HOSTILE, check, name=repr)
    assert not Connection.objects.exists()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": ISSUER}, "invalid_target"),
        ({"resource": ""}, "invalid_target"),
        ({"state": "x" * 2001}, "invalid_request"),
        ({"request": "eyJ"}, "request_not_supported"),
        ({"request_uri": "https://evil.example/"}, "request_not_supported"),
    ],
)
def test_what_else_is_wrong_is_said_to_the_client(signed_in: SignIn, changes: dict[str, Any], error: str) -> None:
    assistant = Assistant(signed_in("author"))
    answer = answer_of(assistant.ask(**changes))
    assert (answer["error"], answer["iss"]) == (error, ISSUER)
    assert answer.get("state") == (None if "state" in changes else "a state")
    sent = assistant.browser.post("/oauth/authorize", assistant.query(**changes) | {"decision": "allow"})
    assert answer_of(sent)["error"] == error
    assert not Connection.objects.exists()


def test_a_parameter_that_comes_twice_is_refused(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    for name in ("client_id", "redirect_uri", "state", "code_challenge", "resource"):
        given = assistant.query()
        page = assistant.ask(**{name: [given[name], given[name]]})
        assert page.status_code == 400


def test_the_member_says_no(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    answer = answer_of(assistant.allow(decision="deny"))
    assert answer == {"error": "access_denied", "state": "a state", "iss": ISSUER}
    assert not Connection.objects.exists()


def test_each_answer_names_this_server_so_that_a_client_of_two_is_not_mixed_up(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    answers = [assistant.ask(response_type="token"), assistant.allow(decision="deny"), assistant.allow()]
    assert {answer_of(one)["iss"] for one in answers} == {ISSUER}


def test_the_answer_is_a_303_that_nobody_keeps(signed_in: SignIn) -> None:
    answer = Assistant(signed_in("author")).allow()
    assert answer.status_code == 303
    assert "no-store" in answer.headers["Cache-Control"]
    assert answer.headers["Referrer-Policy"] == "same-origin"


def test_the_page_is_in_no_frame_and_its_form_leads_to_the_client_alone(signed_in: SignIn) -> None:
    page = Assistant(signed_in("author")).ask()
    assert page.headers["X-Frame-Options"] == "DENY"
    policy = _policy(page)
    assert policy["frame-ancestors"] == "'none'"
    assert policy["form-action"] == "'self' https://assistant.example"
    other = signed_in("author").get("/security/")
    assert "assistant.example" not in str(other.headers)


def test_a_program_on_this_computer_is_said_to_be_one(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"), redirect_uri="http://127.0.0.1/callback")
    page = assistant.ask(redirect_uri="http://127.0.0.1:51999/callback")
    assert "http://127.0.0.1:51999" in page.content.decode()
    assert _policy(page)["form-action"] == "'self' http://127.0.0.1:51999"
    answer = assistant.allow(page)
    assert answer.headers["Location"].startswith("http://127.0.0.1:51999/callback?code=")
    # The code is bound to the port, too.
    code = answer_of(answer)["code"]
    assert assistant.redeem(code, redirect_uri="http://127.0.0.1/callback").json()["error"] == "invalid_grant"


def test_a_form_of_another_site_allows_nothing(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author", enforce_csrf_checks=True))
    refused = assistant.browser.post("/oauth/authorize", assistant.query() | {"decision": "allow", "allowed": "read"})
    assert refused.status_code == 403
    assert not Connection.objects.exists()


def test_opening_the_page_allows_nothing(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    assert assistant.ask(decision="allow", allowed="read", confirmed="yes").status_code == 200
    assert assistant.ask(prompt="none").status_code == 200
    assert not Connection.objects.exists()


def test_an_open_browser_is_not_enough(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    confirm_identity(assistant.browser, seconds_ago=3600)
    asked = assistant.allow()
    assert asked.status_code == 403
    assert not Connection.objects.exists()
    # The browser goes from this page to the client, too.
    assert "https://assistant.example" in _policy(asked)["form-action"]
    answer = form_with(asked, "Continue").submit(assistant.browser, identity_password=PASSWORD)
    assert assistant.redeem(answer_of(answer)["code"]).status_code == 200


def test_to_say_no_asks_nobody_who_they_are(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    confirm_identity(assistant.browser, seconds_ago=3600)
    assert answer_of(assistant.allow(decision="deny"))["error"] == "access_denied"


def test_a_password_to_be_changed_comes_first(signed_in: SignIn) -> None:
    operators.create_operator(
        username="new", password=PASSWORD, role="author", by=OLGA, must_change_password=True
    )  # fmt: skip
    browser = signed_in("author")
    browser.login(username="new", password=PASSWORD)
    assistant = Assistant(browser)
    assert assistant.ask().headers["Location"] == "/password/"


def test_what_a_client_calls_itself_is_shown_as_text(signed_in: SignIn) -> None:
    from features.oauth.clients import register_client

    name = "<script>alert(1)</script>\u202eegalC\x00" + "x" * 500
    made = register_client({"redirect_uris": [CALLBACK], "client_name": name}, address="203.0.113.9")
    assert (len(made.name), made.name.isprintable()) == (80, True)
    page = Assistant(signed_in("author"), client_id=made.client_id).ask().content.decode()
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_nobody_has_more_than_a_hundred(signed_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    from features.oauth import connections

    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 2)
    assistant = Assistant(signed_in("author"))
    for _ in range(2):
        assistant.sign_in()
    assert assistant.allow().status_code == 400
    Connection.objects.update(ended_at=None)
    assert Connection.objects.count() == 2


def test_a_connection_is_in_the_audit_log_with_what_it_may(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    assistant.get_code(allowed=["propose"])
    event = AuditEvent.objects.get(verb="connection.create")
    assert (event.actor_kind, event.actor_name, event.subject) == ("operator", "the-author", "the-author")
    assert event.detail["scopes"] == ["read", "propose"]
    assert (event.detail["via"], event.detail["client"]) == ("assistant.example", assistant.client_id)
