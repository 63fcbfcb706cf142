"""An assistant signs a member in and acts for them: the whole way, and who may allow what."""

from __future__ import annotations

import json
from typing import Any

import pytest

from features.oauth.models import Connection, OAuthClient
from features.oauth.tests.assistant import CALLBACK, ISSUER, Assistant, answer_of
from registry.access import operators, teams
from registry.models import AuditEvent, FeedbackEvent, LoadCount, Operator, Proposal
from registry.usage import usage_counters
from tests.bundle_files import bundle
from tests.factories import OLGA, publish
from tests.unit.studio.conftest import SignIn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("issuer")]


def _error(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]


def test_metadata_and_the_401_lead_to_the_sign_in(api: Any) -> None:
    refused = api.call("POST", "/mcp", data=b"{}", content_type="application/json")
    assert refused.status_code == 401
    challenge = refused.headers["WWW-Authenticate"]
    assert f'resource_metadata="{ISSUER}/.well-known/oauth-protected-resource/mcp"' in challenge
    assert "error=" not in challenge
    for address in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        resource = api.call("GET", address).json()
        assert resource["resource"] == f"{ISSUER}/mcp"
        assert resource["authorization_servers"] == [ISSUER]
    server = api.call("GET", "/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == ISSUER
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["token_endpoint_auth_methods_supported"] == ["none"]
    assert server["authorization_response_iss_parameter_supported"]
    assert server["client_id_metadata_document_supported"]


def test_other_addresses_say_nothing_of_it(api: Any) -> None:
    refused = api.get("capability_registry_list")
    assert refused.headers["WWW-Authenticate"] == 'Bearer realm="capability registry"'


@pytest.mark.parametrize("address", [None, "http://studio.example", "http://10.0.0.1:8000"])
def test_it_is_not_there_where_tokens_would_travel_in_the_clear(
    api: Any, settings: Any, signed_in: SignIn, address: str | None
) -> None:
    settings.PUBLIC_URL = address
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"):
        api.error(api.call("GET", path), 404, "NOT_FOUND")
    for path in ("/oauth/token", "/oauth/register", "/oauth/revoke"):
        api.error(api.call("POST", path, data=b"{}", content_type="application/json"), 404, "NOT_FOUND")
    assert signed_in("author").get("/oauth/authorize", {"client_id": "x"}).status_code == 404
    refused = api.call("POST", "/mcp", data=b"{}", content_type="application/json")
    assert refused.headers["WWW-Authenticate"] == 'Bearer realm="capability registry"'
    assert "public HTTPS address" in signed_in("admin").get("/connections/").content.decode()


def test_it_is_there_on_loopback(api: Any, settings: Any) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    assert api.call("GET", "/.well-known/oauth-authorization-server").json()["issuer"] == "http://127.0.0.1:8000"


def test_a_member_signs_in_by_way_of_registration_and_acts_under_their_name(api: Any, signed_in: SignIn) -> None:
    publish("alpha", triggers=["water the plants"])
    document = {
        "redirect_uris": [CALLBACK],
        "client_name": "Helper",
        "token_endpoint_auth_method": "client_secret_post",
    }
    made = api.call("POST", "/oauth/register", data=json.dumps(document), content_type="application/json")
    assert (made.status_code, made.json()["token_endpoint_auth_method"]) == (201, "none")
    assert "client_secret" not in made.json()

    assistant = Assistant(signed_in("author"), client_id=made.json()["client_id"])
    page = assistant.ask()
    assert page.status_code == 200
    words = page.content.decode()
    assert "assistant.example" in words
    assert "Helper" in words
    back = assistant.allow(page)
    assert back.headers["Location"].startswith(f"{CALLBACK}?")
    answer = answer_of(back)
    assert (answer["state"], answer["iss"]) == ("a state", ISSUER)
    tokens = assistant.redeem(answer["code"]).json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 600, "read feedback propose")

    token = tokens["access_token"]
    found = assistant.call_tool(token, "capability_match", message="please water the plants")
    assert found["needed"] == ["alpha"]
    assistant.call_tool(token, "capability_skill_load", capability_id="alpha")
    assistant.call_tool(token, "capability_feedback", capability_id="alpha", outcome="likely_success")
    sent = assistant.call_tool(token, "capability_propose", files=bundle("beta"))
    assert sent["status"] == "draft"

    events = {event.verb: event for event in AuditEvent.objects.filter(actor_name="the-author")}
    assert {"connection.create", "feedback.record", "proposal.create"} <= set(events)
    assert {event.detail["via"] for event in events.values()} == {"assistant.example"}
    assert {event.actor_kind for event in events.values()} == {"operator"}
    usage_counters.flush()
    assert LoadCount.objects.get().key_name == "the-author · assistant.example"
    assert FeedbackEvent.objects.get().key_name == "the-author"
    assert Proposal.objects.get().key_name == "the-author · assistant.example"


def test_no_code_and_no_token_is_stored(signed_in: SignIn) -> None:
    from django.core.serializers import serialize

    assistant = Assistant(signed_in("author"))
    code = assistant.get_code()
    tokens = assistant.redeem(code).json()
    stored = serialize("json", [*Connection.objects.all(), *OAuthClient.objects.all(), *AuditEvent.objects.all()])
    for secret in (code, tokens["access_token"], *tokens["refresh_token"].split(".")):
        assert secret not in stored


def test_the_member_may_allow_less(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    tokens = assistant.sign_in(allowed=["feedback"])
    assert tokens["scope"] == "read feedback"
    names = {tool["name"] for tool in assistant.call(tokens["access_token"]).json()["result"]["tools"]}
    assert "capability_feedback" in names
    assert "capability_propose" not in names


def test_more_than_was_asked_is_not_given(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    page = assistant.ask(scope="read offline_access")
    tokens = assistant.redeem(answer_of(assistant.allow(page, allowed=["propose", "publish", "feedback"]))["code"])
    assert tokens.json()["scope"] == "read"


@pytest.mark.parametrize("asked", [None, "", "openid profile"])
def test_without_a_scope_of_ours_it_is_that_of_a_key(signed_in: SignIn, asked: str | None) -> None:
    assistant = Assistant(signed_in("author"))
    tokens = assistant.redeem(answer_of(assistant.allow(assistant.ask(scope=asked)))["code"])
    assert tokens.json()["scope"] == "read feedback"


def test_nothing_goes_beyond_the_role(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("viewer"))
    page = assistant.ask()
    assert 'value="propose"' not in page.content.decode()
    tokens = assistant.redeem(answer_of(assistant.allow(page, allowed=["feedback", "propose"]))["code"]).json()
    assert tokens["scope"] == "read feedback"
    refused = assistant.call_tool(tokens["access_token"], "capability_propose", files=bundle("beta"))
    assert refused["error"]["code"] == "FORBIDDEN"
    assert not Proposal.objects.exists()


def test_a_role_that_was_lowered_in_the_database_lowers_the_token(signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    token = assistant.sign_in()["access_token"]
    Operator.objects.filter(username="the-author").update(role="viewer")
    refused = assistant.call_tool(token, "capability_propose", files=bundle("beta"))
    assert refused["error"]["code"] == "FORBIDDEN"


def test_rights_of_teams_are_followed(signed_in: SignIn) -> None:
    publish("alpha")
    team = teams.create_team(name="Health", by=OLGA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    assistant = Assistant(signed_in("author"))
    token = assistant.sign_in()["access_token"]
    refused = assistant.call_tool(token, "capability_propose", files=bundle("alpha", body="Other words."))
    assert refused["error"]["code"] == "FORBIDDEN"
    teams.add_member(key=team.pk, username="the-author", by=OLGA)
    sent = assistant.call_tool(token, "capability_propose", files=bundle("alpha"))
    assert sent["status"] == "draft"


def test_a_second_proposal_of_a_member_deletes_no_draft_of_theirs(signed_in: SignIn) -> None:
    from registry.catalog import drafts
    from registry.common.actors import Actor

    assistant = Assistant(signed_in("author"))
    token = assistant.sign_in()["access_token"]
    assistant.call_tool(token, "capability_propose", files=bundle("beta"))
    edited = {**bundle("beta"), "skill.md": bundle("beta")["skill.md"] + "\nBe brief.\n"}
    version = drafts.get_draft("beta").version
    drafts.save_draft(capability_id="beta", files=edited, based_on=version, by=Actor("operator", "the-author"))
    assistant.call_tool(token, "capability_propose", files=bundle("beta"))
    assert "Be brief." in drafts.get_draft("beta").files["skill.md"]


def test_limits_count_the_member_by_the_client(signed_in: SignIn, settings: Any) -> None:
    from studio.config.parsers import Rate

    publish("alpha")
    settings.RATE_LIMITS = {"write": Rate(count=3, seconds=60)}
    browser = signed_in("author")
    first, second = Assistant(browser), Assistant(browser, redirect_uri="https://other.example/cb")
    tokens = [one.sign_in()["access_token"] for one in (first, second)]
    said = {"capability_id": "alpha", "outcome": "likely_success"}
    for _ in range(3):
        first.call_tool(tokens[0], "capability_feedback", **said)
    assert first.call_tool(tokens[0], "capability_feedback", **said)["error"]["code"] == "RATE_LIMITED"
    assert "error" not in second.call_tool(tokens[1], "capability_feedback", **said)


def test_a_long_name_fits_the_columns(signed_in: SignIn) -> None:
    publish("alpha")
    name = "n" * 150
    operators.create_operator(username=name, password="Correct-horse-battery-9", role="author", by=OLGA)
    browser = signed_in("author")
    browser.force_login(Operator.objects.get(username=name))
    from tests.sessions import confirm_identity

    confirm_identity(browser)
    assistant = Assistant(browser, redirect_uri=f"https://{'h' * 60}.{'i' * 60}.example/cb")
    token = assistant.sign_in()["access_token"]
    assistant.call_tool(token, "capability_feedback", capability_id="alpha", outcome="likely_success")
    assistant.call_tool(token, "capability_propose", files=bundle("beta"))
    assert len(Proposal.objects.get().key_name) <= 80
    assert AuditEvent.objects.get(verb="proposal.create").actor_name == name
