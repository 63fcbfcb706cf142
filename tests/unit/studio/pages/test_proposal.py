"""Proposals: what agents hand in, and what becomes of it."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags

from registry.access import operators, teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import AuditEvent, Capability, Draft, Proposal
from registry.publishing import proposals
from tests.factories import OLGA, bundle, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, confirmation_in, form_with

pytestmark = pytest.mark.django_db
AGENT = Actor("agent_key", "<i>bot</i>")


def _propose(capability_id: str = "alpha", body: str = "As the agent would.", note: str = "<b>why</b>") -> Proposal:
    return proposals.propose(files=bundle(capability_id, body=body), by=AGENT, note=note).proposal


def _address(proposal: Proposal) -> str:
    return f"/proposals/{proposal.proposal_id}/"


def test_an_open_proposal_is_on_home_in_the_list_and_has_a_page(signed_in: SignIn) -> None:
    publish()
    proposal = _propose()
    client = signed_in("viewer")
    assert _address(proposal) in signed_in("publisher").get("/").content.decode()
    for address in ("/proposals/", _address(proposal)):
        page = client.get(address).content.decode()
        assert "&lt;b&gt;why&lt;/b&gt;" in page
        assert "&lt;i&gt;bot&lt;/i&gt;" in page
        assert "<i>bot" not in page
    page = client.get(_address(proposal)).content.decode()
    assert "Compared with live" in page
    # The words that differ are marked.
    assert "As the agent would." in strip_tags(page)
    assert "Decline proposal" not in page


def test_accepting_puts_the_other_draft_aside(signed_in: SignIn) -> None:
    publish()
    drafts.save_draft(capability_id="alpha", files=bundle(body="By hand."), based_on=None, by=OLGA)
    proposal = _propose()
    client = signed_in("author")
    page = client.get(_address(proposal))
    assert "The draft of olga is kept for 30 days." in page.content.decode()
    assert "Compared with the draft" in page.content.decode()
    answer = form_with(page, "Accept as draft").submit(client, note="good")
    assert answer["Location"] == "/capabilities/alpha/"
    draft = Draft.objects.get(discarded_at__isnull=True)
    assert draft.proposal == proposal
    assert Draft.objects.filter(discarded_at__isnull=False, saved_by="operator:olga").exists()
    after = client.get(_address(proposal)).content.decode()
    assert "Copied to the draft." in after
    assert "Accept as draft" not in after


def test_declining_needs_a_note_that_the_proposer_reads(signed_in: SignIn) -> None:
    proposal = _propose()
    client = signed_in("author")
    asked = form_with(client.get(_address(proposal)), "Decline proposal").submit(client)
    refused = confirm(client, asked, note="  ")
    assert refused.status_code == 400
    assert "Write a note" in refused.content.decode()
    proposal.refresh_from_db()
    assert proposal.status == "draft"
    assert confirmation_in(refused).submit(client, confirmed="yes", note="Too <long>")["Location"] == "/proposals/"
    proposal.refresh_from_db()
    assert (proposal.status, proposal.decision_note, proposal.decided_by) == (
        "rejected",
        "Too <long>",
        "operator:the-author",
    )
    page = client.get(_address(proposal)).content.decode()
    assert "Too &lt;long&gt;" in page
    assert "Decline proposal" not in page
    assert "Handed in" not in client.get("/proposals/").content.decode()
    assert "Declined" in client.get("/proposals/?status=rejected").content.decode()


def test_deciding_twice_is_told(signed_in: SignIn) -> None:
    proposal = _propose()
    proposals.reject_proposal(proposal_id=proposal.proposal_id, by=OLGA)
    client = signed_in("author")
    for verb in ("accept", "decline"):
        page = client.post(f"{_address(proposal)}{verb}/", {"note": "x"}, follow=True).content.decode()
        assert "was already decided" in page or "was already decided by olga" in page


def test_near_duplicates_lead_to_what_they_are_like(signed_in: SignIn) -> None:
    publish()
    same = proposals.propose(files=bundle("beta", name="Alpha", body="Answer in one sentence."), by=AGENT).proposal
    Proposal.objects.filter(pk=same.pk).update(near_duplicates=[{"capability_id": "alpha", "likeness": 0.99}])
    page = signed_in("viewer").get(_address(same)).content.decode()
    assert '<a href="/capabilities/alpha/">alpha</a>' in page
    assert "0.99" in page


def test_who_is_not_in_the_team_reads_and_decides_nothing(signed_in: SignIn) -> None:
    publish()
    proposal = _propose()
    team = teams.create_team(name="Owners", by=OLGA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    client = signed_in("author")
    assert "Decline proposal" not in client.get(_address(proposal)).content.decode()
    written = AuditEvent.objects.count()
    for verb in ("accept", "decline"):
        page = client.post(f"{_address(proposal)}{verb}/", {"note": "x"}, follow=True).content.decode()
        assert "Only members of the team" in page
    assert AuditEvent.objects.count() == written
    teams.add_member(key=team.pk, username="the-author", by=OLGA)
    assert "Decline proposal" in client.get(_address(proposal)).content.decode()
    assert operators.list_operators()[0].teams == ("Owners",)


@pytest.mark.parametrize("against", ["draft", "published", "odd", ""])
def test_against_what_is_not_there_breaks_nothing(against: str, signed_in: SignIn) -> None:
    proposal = _propose("gamma")
    assert Capability.objects.get().status == "draft"
    assert signed_in("viewer").get(f"{_address(proposal)}?against={against}").status_code == 200


def test_what_is_not_there_is_no_page(signed_in: SignIn) -> None:
    assert signed_in("viewer").get(f"/proposals/{uuid4()}/").status_code == 404
    assert signed_in("viewer").get("/proposals/?status=odd&page=x").status_code == 200


def test_the_number_of_queries_does_not_grow(signed_in: SignIn) -> None:
    client = signed_in()
    counts = []
    for amount in (2, 20):
        for number in range(amount):
            _propose(f"c{amount}_{number}")
        with CaptureQueriesContext(connection) as queries:
            client.get("/proposals/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 9


def test_a_superseded_one_says_that_its_texts_are_not_kept(signed_in: SignIn) -> None:
    publish()
    first = _propose()
    _propose(body="Better.")
    page = signed_in("viewer").get(_address(first)).content.decode()
    assert "The texts of this one are not kept" in page
    assert "No issues" not in page
