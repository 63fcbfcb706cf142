"""Feedback: the list, one capability, and the way to the rollback."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.common.actors import Actor
from registry.models import Capability
from registry.usage.feedback import record_outcome
from tests.factories import publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db
HOSTILE = Actor("agent_key", "<b>agent</b>")


def _tell(outcome: str, times: int = 1, capability_id: str = "alpha") -> None:
    for _ in range(times):
        record_outcome(capability_id=capability_id, outcome=outcome, by=HOSTILE)


def _worse() -> None:
    publish()
    _tell("confirmed_success", 8)
    publish(body="Two.")
    _tell("confirmed_failure", 6)


def test_nothing_told_says_so(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    assert "once agents report them" in client.get("/feedback/").content.decode()
    publish()
    assert "No feedback yet" in client.get("/capabilities/alpha/feedback/").content.decode()


def test_a_worse_revision_is_offered_for_a_rollback_that_says_why(signed_in: SignIn) -> None:
    _worse()
    client = signed_in("publisher")
    assert "Worse than revision 1" in client.get("/feedback/").content.decode()
    home = client.get("/").content.decode()
    assert "fails more often" in home
    assert "Only the API key" in home
    page = client.get("/capabilities/alpha/feedback/").content.decode()
    assert "All of it was reported by one API key, <bdi>" in page
    assert "One key" in client.get("/feedback/").content.decode()
    record_outcome(capability_id="alpha", outcome="used", by=Actor("agent_key", "another"))
    assert "reported by one API key" not in client.get("/capabilities/alpha/feedback/").content.decode()
    assert "One key" not in client.get("/feedback/").content.decode()
    assert "fails more often" in client.get("/").content.decode()
    page = client.get("/capabilities/alpha/feedback/").content.decode()
    assert "Regression since revision 1" in page
    assert "fails more often: 100% (6 of 6)" in page
    address = page.split('href="/capabilities/alpha/history/1/?note=')[1].split('"')[0]
    offered = form_with(client.get(f"/capabilities/alpha/history/1/?note={unquote(address)}"), "Roll back")
    assert offered.values["note"] == "Revision 2 failed in 6 of 6 uses"
    offered.submit(client)
    revision = Capability.objects.get().published_revision
    assert revision is not None
    assert revision.number == 1
    assert "Regression since" not in client.get("/capabilities/alpha/feedback/").content.decode()
    assert "fails more often" not in client.get("/").content.decode()


def test_who_may_not_publish_is_offered_to_look(signed_in: SignIn) -> None:
    _worse()
    page = signed_in("author").get("/capabilities/alpha/feedback/").content.decode()
    assert "Roll back to revision" not in page
    assert "View revision 1" in page


def test_names_are_text_and_one_revision_stands_by_itself(signed_in: SignIn) -> None:
    _worse()
    client = signed_in("viewer")
    page = client.get("/capabilities/alpha/feedback/").content.decode()
    assert "&lt;b&gt;agent&lt;/b&gt;" in page
    assert "<b>agent" not in page
    page = client.get("/capabilities/alpha/feedback/?revision=1").content.decode()
    assert "Confidence of revision 1" in page
    assert 'class="end-bad"' not in page


@pytest.mark.parametrize("odd", ["revision=x", "revision=-1", "revision=٣", "revision=999999999999", "revision=77"])
def test_an_odd_revision_breaks_nothing(odd: str, signed_in: SignIn) -> None:
    _worse()
    assert signed_in("viewer").get(f"/capabilities/alpha/feedback/?{odd}").status_code == 200


def test_what_is_not_there_is_no_page(signed_in: SignIn) -> None:
    assert signed_in("viewer").get("/capabilities/nowhere/feedback/").status_code == 404
    assert signed_in("viewer").get("/feedback/?kind=odd&sort=odd&page=x").status_code == 200


def test_the_number_of_queries_does_not_grow(signed_in: SignIn) -> None:
    client = signed_in()
    counts = []
    for amount in (2, 20):
        for number in range(amount):
            publish(f"c{amount}_{number}")
            _tell("used", capability_id=f"c{amount}_{number}")
        client.get("/feedback/")
        with CaptureQueriesContext(connection) as queries:
            client.get("/feedback/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 15
