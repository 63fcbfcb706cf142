"""Deciding about held passages in the Studio: from where it is met, one or several at once, and who cannot."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from capability_rules.bundles.bundle_reader import SourceBundle
from features.acceptances.held_passages import accept_passages, decline_passages
from features.acceptances.models import Acceptance
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import Forbidden
from registry.models import AuditEvent, Capability, Review, Revision
from registry.publishing import batch, publication, reviews
from registry.publishing.quarantine import quarantine
from tests.factories import DOUBT, OLGA, bundle
from tests.sessions import confirm_identity
from tests.unit.studio.conftest import SignIn, make_operator
from tests.unit.studio.forms import forms_in, is_publish_blocked

pytestmark = pytest.mark.django_db

KEY = Actor("agent_key", "ci")
TERMINAL = Actor("command_line", "root")
GATE, DECISIONS = "/capabilities/alpha/publish/", "/capabilities/alpha/decisions/"


def _draft(by: Actor = OLGA, body: str = DOUBT) -> None:
    drafts.replace_draft(capability_id="alpha", files=bundle(body=body), by=by)


def _links(page: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="(/capabilities/alpha/decisions/[^"]*)"', page)]


def _keys(page: str, *, checked: bool = False) -> list[str]:
    ticks = [tick for tick in re.findall(r"<input[^>]*name=\"chosen\"[^>]*>", page) if not checked or "checked" in tick]
    return [found[1] for tick in ticks if (found := re.search(r'value="([^"]*)"', tick))]


def test_publisher_decides_from_the_publish_page_and_comes_back_to_it(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("publisher")
    page = client.get(GATE).content.decode()
    assert "aren&#x27;t sure about some passages" in page
    assert is_publish_blocked(page)
    _all, one = _links(page)
    page = client.get(one, headers={"Referer": f"http://testserver{GATE}"}).content.decode()
    assert DOUBT in page
    (key,) = _keys(page, checked=True)
    back = re.search(r'name="back" value="([^"]*)"', page)
    assert back is not None
    form = {"chosen": key, "note": "It quotes <b>our</b> policy.", "back": back[1]}
    done = client.post(DECISIONS, form, follow=True)
    assert done.redirect_chain == [(GATE, 302)]
    page = done.content.decode()
    assert "1 accepted" in page
    assert "Accepted by <bdi>the-publisher</bdi>: <bdi>It quotes &lt;b&gt;our&lt;/b&gt; policy.</bdi>" in page
    draft = drafts.get_active_draft(Capability.objects.get())
    assert draft is not None
    published = client.post(GATE, {"draft_version": draft.version, "note": "First"}, follow=True)
    assert "Revision 1 is live." in published.content.decode()
    page = client.get("/capabilities/alpha/history/1/").content.decode()
    assert "by <bdi>the-publisher</bdi>: <bdi>It quotes &lt;b&gt;our&lt;/b&gt; policy.</bdi>" in page


def test_editor_is_told_who_decides_and_can_hand_it_in(signed_in: SignIn) -> None:
    make_operator("admin")
    client = signed_in("publisher")
    _draft(Actor("operator", "the-publisher"))
    page = client.get(GATE).content.decode()
    assert "somebody else has to decide about this passage: the-admin" in page
    assert re.search(r'class="btn btn--block btn--primary"\s+formaction="/capabilities/alpha/publish/review/"', page)
    page = client.get(DECISIONS).content.decode()
    assert "somebody else has to decide about this passage: the-admin" in page
    assert _keys(page) == []
    assert "This is fine" not in page


@pytest.mark.parametrize("role", ["viewer", "author"])
def test_who_may_not_publish_reads_what_waits_and_decides_nothing(role: str, signed_in: SignIn) -> None:
    _draft()
    make_operator("admin")
    client = signed_in(role)
    assert DOUBT in client.get(DECISIONS).content.decode()
    key = f"alpha:{_fingerprint()}"
    answer = client.post(DECISIONS, {"chosen": key, "note": "Fine"})
    assert answer.status_code == 403
    assert "You cannot publish it" in answer.content.decode()
    assert not Acceptance.passages.filter(accepted_at__isnull=False).exists()


def _fingerprint() -> str:
    from features.acceptances.held_passages import list_waiting

    return list_waiting("alpha")[0].fingerprint


@pytest.mark.both_databases
def test_sole_admin_confirms_who_they_are_and_decides_alone(signed_in: SignIn) -> None:
    client = signed_in("admin")
    _draft(Actor("operator", "the-admin"))
    page = client.get(DECISIONS).content.decode()
    assert "nobody else can decide. The history says so" in page
    (key,) = _keys(page, checked=True)
    confirm_identity(client, seconds_ago=3600)
    form: dict[str, Any] = {"chosen": key, "note": "It quotes our policy"}
    asked = client.post(DECISIONS, form)
    assert (asked.status_code, "Confirm that it" in asked.content.decode()) == (403, True)
    assert not Acceptance.passages.filter(accepted_at__isnull=False).exists()
    done = client.post(DECISIONS, {**form, "identity_password": "Correct-horse-battery-9"}, follow=True)
    assert "1 passage is accepted." in done.content.decode()
    assert Acceptance.passages.get().is_alone
    page = client.get("/decisions/?show=accepted").content.decode()
    assert "Alone: about their own text" in page


@pytest.mark.parametrize(
    ("form", "words"),
    [({"note": "Fine"}, "Choose at least one passage"), ({"chosen": "", "note": "Fine"}, "Choose at least one passage"),
     ({"note": ""}, "Say why it is fine"), ({"note": "x" * 1001}, "at most 1,000 characters")],
)  # fmt: skip
def test_form_that_lacks_something_keeps_what_was_typed(form: dict[str, str], words: str, signed_in: SignIn) -> None:
    _draft()
    client = signed_in("publisher")
    keys = {"chosen": f"alpha:{_fingerprint()}"} if "Choose" not in words else {}
    answer = client.post(DECISIONS, {**keys, **form})
    assert (answer.status_code, words in answer.content.decode()) == (400, True)
    assert form["note"][:900] in answer.content.decode()


def test_passage_that_is_gone_says_so(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("publisher")
    answer = client.post(DECISIONS, {"chosen": "alpha:nothing", "note": "Fine"})
    assert (answer.status_code, "No passage of &#x27;alpha&#x27; waits" in answer.content.decode()) == (409, True)


def test_texts_of_a_key_wait_on_the_page_of_all_without_a_capability(signed_in: SignIn) -> None:
    publication.publish(files=bundle("refund_rules", body=DOUBT), by=KEY)
    client = signed_in("publisher")
    home = client.get("/").content.decode()
    assert "1 passage of Refund rules needs a decision" in home
    assert "“&quot;" not in home
    page = client.get("/capabilities/refund_rules/decisions/").content.decode()
    assert "Decisions about Refund rules" in page
    assert "API key ci" in page
    assert re.search(r"<pre[^>]*><bdi>[^<]*#", page)
    page = client.get("/decisions/").content.decode()
    (key,) = _keys(page, checked=True)
    done = client.post("/decisions/", {"chosen": key, "note": "Fine"}, follow=True)
    assert "Nothing waits for a decision." in done.content.decode()
    assert ">Refund rules</span>" in client.get("/decisions/?show=accepted").content.decode()
    assert client.get("/capabilities/gamma/decisions/").status_code == 404


@pytest.mark.parametrize("deed", ["accept", "decline"])
def test_the_last_of_an_id_without_a_capability_leads_to_the_list_of_all(deed: str, signed_in: SignIn) -> None:
    publication.publish(files=bundle("beta", body=DOUBT), by=KEY)
    client, page = signed_in("publisher"), "/capabilities/beta/decisions/"
    (key,) = _keys(client.get(page).content.decode())
    done = client.post(page, {"chosen": key, "note": "Ours", "deed": deed}, follow=True)
    assert done.redirect_chain == [("/decisions/", 302)]
    assert f"1 passage is {deed.rstrip('e')}ed." in done.content.decode()


def test_several_of_an_import_are_decided_with_one_reason(signed_in: SignIn) -> None:
    sources = [SourceBundle(name, bundle(name, body=DOUBT)) for name in ("alpha", "beta", "gamma")]
    batch.import_all(sources, by=Actor("operator", "somebody"), mode="draft")
    client = signed_in("publisher")
    keys = _keys(client.get("/decisions/").content.decode())
    assert [key.partition(":")[0] for key in keys] == ["alpha", "beta", "gamma"]
    done = client.post("/decisions/", {"chosen": keys[:2], "note": "All quote the policy"}, follow=True)
    page = done.content.decode()
    assert "2 passages are accepted." in page
    assert _keys(page, checked=True) == keys[2:]
    for name in ("alpha", "beta"):
        assert publication.publish_draft(capability_id=name, by=OLGA).status == "published"
    assert {row["reason"] for one in Revision.objects.all() for row in one.held_decisions} == {"All quote the policy"}


@pytest.mark.both_databases
def test_one_that_is_refused_does_not_stop_the_rest(signed_in: SignIn) -> None:
    make_operator("admin")
    client = signed_in("publisher")
    publication.publish(files=bundle("alpha", body=DOUBT), by=Actor("operator", "the-publisher"))
    publication.publish(files=bundle("beta", body=DOUBT), by=KEY)
    keys = [f"{row.capability_id}:{row.fingerprint}" for row in Acceptance.passages.all()]
    answer = client.post("/decisions/", {"chosen": keys, "note": "Fine"})
    page = answer.content.decode()
    assert answer.status_code == 403
    assert "1 passage is accepted." in page
    assert "somebody else has to decide about this passage: the-admin" in page


def test_review_leads_to_the_decision(signed_in: SignIn) -> None:
    _draft()
    review = reviews.request_review(capability_id="alpha", draft_version=1, by=OLGA, note="Please look")
    page = signed_in("publisher").get(f"/reviews/{review.pk}/").content.decode()
    assert any("passage=" in link for link in _links(page))
    assert "1 to decide" in page


def test_editor_lists_what_is_held_with_its_decision(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("publisher")
    page = client.get("/capabilities/alpha/edit/").content.decode()
    assert "1 to decide" in page
    assert len(_links(page)) == 1
    accept_passages(capability_id="alpha", by=TERMINAL, reason="Known")
    page = client.get("/capabilities/alpha/edit/").content.decode()
    assert "1 accepted" in page
    assert "Accepted by <bdi>root (CLI)</bdi>: <bdi>Known</bdi>" in page


def test_restoring_what_was_quarantined_leads_to_the_decision(signed_in: SignIn) -> None:
    publication.publish(files=bundle(body=DOUBT), by=KEY)
    accept_passages(capability_id="alpha", by=TERMINAL, reason="Known")
    publication.publish(files=bundle(body=DOUBT), by=KEY)
    quarantine(capability_id="alpha", by=OLGA)
    client = signed_in("publisher")
    asked = client.get("/capabilities/alpha/restore/").content.decode()
    state = re.search(r'name="seen_state" value="([^"]*)"', asked)
    assert state is not None
    form = {"confirmed": "yes", "seen_state": state[1], "note": "Harmless"}
    answer = client.post("/capabilities/alpha/restore/", form, follow=True)
    assert answer.redirect_chain == [(DECISIONS, 302)]
    assert DOUBT in answer.content.decode()


@pytest.mark.both_databases
def test_accepted_ones_are_listed_and_found(signed_in: SignIn) -> None:
    _draft()
    accept_passages(capability_id="alpha", by=TERMINAL, reason="Our policy")
    client = signed_in("viewer")
    page = client.get("/decisions/?show=accepted&q=policy").content.decode()
    assert DOUBT[:60] in page
    assert "root (CLI)" in page
    assert "No results" in client.get("/decisions/?show=accepted&q=nothing-like-it").content.decode()
    quarantined = Acceptance.passages.get()
    quarantined.ended_at = quarantined.accepted_at
    quarantined.save()
    assert "Ended by a quarantine" in client.get("/decisions/?show=accepted").content.decode()


def test_draft_with_a_held_passage_is_sent_back_to_its_author(signed_in: SignIn) -> None:
    author = Actor("operator", make_operator("author").username)
    _draft(author, body=f"The line before it.\n\n{DOUBT}")
    client = signed_in("publisher")
    page = client.get(DECISIONS).content.decode()
    assert "The line before it." in page
    assert page.count(DOUBT) == 2  # the lines, and the doubt that quotes the sentence
    sent = client.post(DECISIONS, {"deed": "send_back", "note": "Say who gets the report"})
    assert sent.status_code == 302
    review = Review.objects.get()
    assert (review.state, review.requested_by, review.decided_by) == (
        "sent_back", str(author), "operator:the-publisher",
    )  # fmt: skip
    assert client.post(DECISIONS, {"deed": "send_back", "note": " "}).status_code == 400
    assert review.note == ""
    assert {form.values["note"] for form in forms_in(signed_in("author").get(GATE)) if "note" in form.values} == {""}


@pytest.mark.both_databases
def test_texts_that_a_key_sent_are_declined_with_a_reason(signed_in: SignIn) -> None:
    publication.publish(files=bundle("beta", body=DOUBT), by=KEY)
    client = signed_in("publisher")
    (key,) = _keys(client.get("/capabilities/beta/decisions/").content.decode())
    page = "/capabilities/beta/decisions/"
    assert client.post(page, {"chosen": key, "note": " ", "deed": "decline"}).status_code == 400
    form = {"chosen": key, "note": "Not ours", "deed": "decline", "back": "/decisions/"}
    done = client.post(page, form, follow=True)
    assert "Nothing waits for a decision." in done.content.decode()
    assert AuditEvent.objects.get(verb="passage.decline").detail["reason"] == "Not ours"
    assert publication.publish(files=bundle("beta", body=DOUBT), by=KEY).status == "refused"
    assert Acceptance.passages.count() == 1
    with pytest.raises(Forbidden):
        decline_passages(capability_id="beta", by=KEY, reason="x", fingerprints=[key.partition(":")[2]])


def test_import_that_is_held_keeps_its_draft() -> None:
    source = SourceBundle("alpha", {name: text.encode() for name, text in bundle(body=DOUBT).items()})
    (result,) = batch.import_all([source], by=TERMINAL, mode="publish")
    assert result.status == "refused"
    accept_passages(capability_id="alpha", by=TERMINAL, reason="Ours")
    assert publication.publish_draft(capability_id="alpha", by=TERMINAL).status == "published"
