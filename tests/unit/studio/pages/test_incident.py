"""Bundles that agents could not be given."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from capability_rules.validation import Finding
from registry.catalog import incidents
from registry.models import Capability, Revision
from tests.factories import publish
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


def _open(
    capability_id: str = "alpha", details: str = "Missing required field 'args_schema'", message: str = "Bad"
) -> None:
    finding = Finding("FIELD_MISSING", "error", "tools.json", "/0", 3, 7, details, "")
    revision = Revision.objects.get(capability__capability_id=capability_id, number=1)
    incidents.open_incident(revision=revision, message=message, details=details, findings=[finding])


def test_an_open_one_shows_cause_and_place(client: Client) -> None:
    publish()
    _open()
    _open()
    page = client.get("/incidents/").content.decode()
    assert "Missing required field" in page
    assert '<td class="num" data-label="Occurrences">2</td>' in page
    assert "/capabilities/alpha/edit/?file=tools.json&amp;line=3&amp;column=7" in page


def test_one_that_is_mended_is_closed(client: Client) -> None:
    publish()
    _open()
    publish(body="Fixed.")
    answer = client.get("/incidents/")
    assert "No open incidents" in answer.content.decode()
    closed = client.get("/incidents/?state=closed")
    assert [incident.display_name for incident in closed.context["page"]] == ["Alpha"]
    assert "Missing required field" in closed.content.decode()


def test_they_are_filtered_and_sorted(client: Client) -> None:
    for name in ("alpha", "beta"):
        publish(name)
        _open(name)
    _open("beta")

    def found(query: str) -> list[str]:
        return [one.capability.capability_id for one in client.get(f"/incidents/?{query}").context["page"]]

    assert found("q=bet") == found("q=BETA") == ["beta"]
    assert found("kind=bundle&q=required") == ["beta", "alpha"]
    assert found("kind=source") == found("q=%25") == []
    assert found("sort=name") == found("sort=count") == ["alpha", "beta"]
    assert found("sort=-name") == found("sort=-count") == found("sort=odd") == found("kind=%00") == ["beta", "alpha"]
    page = client.get("/incidents/?kind=bundle&sort=-count").content.decode()
    assert 'aria-sort="descending"' in page
    assert 'href="?sort=-count"' in page


def test_a_viewer_sees_it_without_the_way_to_the_editor(signed_in: SignIn) -> None:
    publish()
    _open()
    page = signed_in("viewer").get("/incidents/").content.decode()
    assert "tools.json:3:7" in page
    assert "/edit/" not in page


def test_what_an_author_wrote_is_text(client: Client) -> None:
    publish()
    _open(details="`<script>alert(1)</script>`", message="<script>alert(2)</script>")
    for address in ("/incidents/", "/capabilities/alpha/"):
        assert "<script>alert" not in client.get(address).content.decode()


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    counts = []
    for amount in (5, 60):
        for number in range(amount):
            name = f"c{amount}x{number}"
            publish(name)
            _open(name)
        with CaptureQueriesContext(connection) as queries:
            client.get("/incidents/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 8


def test_a_failed_release_leads_to_its_draft_and_not_to_a_text_that_is_right(signed_in: SignIn) -> None:
    publish()
    alpha = Capability.objects.get()
    incidents.open_release_incident(capability=alpha, message="Failed", details="Why", findings=(), scheduled_id=1)
    page = signed_in("author").get("/incidents/").content.decode()
    assert 'href="/capabilities/alpha/publish/"' in page
    assert 'href="/capabilities/alpha/edit/"' not in page
