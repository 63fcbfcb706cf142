"""Teams in the Studio: made by admins, and felt on every page of what they own."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.access import teams
from registry.catalog import drafts
from registry.common.actors import SYSTEM
from registry.models import Draft, Team
from registry.publishing import scheduled_releases
from tests.factories import OLGA, bundle, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm, confirm, form_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in()


def _owners() -> Team:
    publish()
    team = teams.create_team(name="<b>Owners</b>", by=OLGA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    return team


def test_a_team_is_made_filled_and_deleted(client: Client) -> None:
    publish()
    answer = form_with(client.get("/teams/"), "Create team").submit(client, name="Billing", description="Money")
    address = answer["Location"]
    assert address == f"/teams/{Team.objects.get().pk}/"
    form_with(client.get(address), "Add member").submit(client)
    form_with(client.get(address), "Add capability").submit(client, owned="alpha")
    page = client.get(address)
    assert "alpha was added to the team." in page.content.decode()
    assert '<a href="/capabilities/alpha/">alpha</a>' in page.content.decode()
    assert "Owner:" in client.get("/capabilities/alpha/").content.decode()
    form_with(page, "Save").submit(client, name="Payments")
    ask_and_confirm(client, f"{address}disown/", {"owned": "alpha"})
    ask_and_confirm(client, f"{address}remove-member/", {"username": "the-admin"})
    asked = form_with(client.get(address), "Delete team").submit(client)
    assert confirm(client, asked)["Location"] == "/teams/"
    assert not Team.objects.exists()


def test_others_read_the_pages_of_what_a_team_owns_and_change_nothing(signed_in: SignIn) -> None:
    team = _owners()
    drafts.save_draft(capability_id="alpha", files=bundle(body="Two."), based_on=None, by=SYSTEM)
    client = signed_in("publisher")
    page = client.get("/capabilities/alpha/").content.decode()
    assert "&lt;b&gt;Owners&lt;/b&gt;" in page
    assert "View only" in page
    assert "Edit draft" not in page
    assert client.get("/capabilities/alpha/history/1/").status_code == 200
    refused = client.get("/capabilities/alpha/edit/")
    assert refused.status_code == 403
    assert "Only members of the team" in refused.content.decode()
    for verb in ("draft/discard", "publish", "retire", "history/1/rollback"):
        assert client.post(f"/capabilities/alpha/{verb}/", {"note": "x"}).status_code == 403, verb
    assert Draft.objects.get().discarded_at is None
    # Elsewhere the role is whole.
    assert client.get("/new-capability/").status_code == 200
    teams.add_member(key=team.pk, username="the-publisher", by=OLGA)
    assert client.get("/capabilities/alpha/edit/").status_code == 200


def test_actions_that_name_what_a_team_owns_in_a_field_are_refused_as_its_pages_are(signed_in: SignIn) -> None:
    _owners()
    draft = drafts.save_draft(capability_id="alpha", files=bundle(body="Two."), based_on=None, by=SYSTEM)
    planned = scheduled_releases.schedule_release(
        capability_id="alpha",
        draft_version=draft.version,
        due_at=timezone.now() + timedelta(days=1),
        by=SYSTEM,
        note="x",
    ).release
    assert planned is not None
    client = signed_in("publisher")
    later = (timezone.now() + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M")
    asked = {
        "/sentences/add/": {"capability_id": "alpha", "sentence": "Hello"},
        "/releases/change/": {"release": planned.pk, "due_at": later},
        "/releases/cancel/": {"release": planned.pk, "confirmed": "yes"},
    }
    assert {path: client.post(path, sent).status_code for path, sent in asked.items()} == dict.fromkeys(asked, 403)
    planned.refresh_from_db()
    assert planned.state == "waiting"


def test_viewers_see_teams_and_no_forms(signed_in: SignIn) -> None:
    team = _owners()
    client = signed_in("viewer")
    assert "New team" not in client.get("/teams/").content.decode()
    page = client.get(f"/teams/{team.pk}/").content.decode()
    assert "Remove" not in page
    assert "Delete team" not in page
    assert "&lt;b&gt;Owners&lt;/b&gt;" in page


@pytest.mark.both_databases
@pytest.mark.parametrize("name", ["", "x" * 81, "a\0b", "taken"])
def test_an_odd_name_is_refused_beside_its_field(name: str, client: Client) -> None:
    teams.create_team(name="taken", by=OLGA)
    answer = client.post("/new-team/", {"name": name})
    assert answer.status_code == 400
    assert 'class="field__error"' in answer.content.decode()
    assert Team.objects.count() == 1


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("verb", "values", "words"),
    [
        ("own", {"owned": "nowhere"}, "No capability found"),
        ("own", {"owned": "a\0<b>"}, "No capability found"),
        ("add-member", {"username": "nobody"}, "There is no operator"),
        ("delete", {}, "owns 1 capability."),
    ],
)
def test_what_cannot_be_done_is_told(verb: str, values: dict[str, str], words: str, client: Client) -> None:
    team = _owners()
    assert words in client.post(f"/teams/{team.pk}/{verb}/", values, follow=True).content.decode()


def test_what_is_not_there_is_no_page(client: Client) -> None:
    assert client.get("/teams/77/").status_code == 404
    assert client.post("/teams/77/own/", {"owned": "alpha"}).status_code == 404


def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    counts = []
    for amount in (2, 20):
        for number in range(amount):
            teams.create_team(name=f"{amount} {number}", by=OLGA)
        with CaptureQueriesContext(connection) as queries:
            client.get("/teams/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 7
