"""The gate: everything to know before publishing, and the button."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import AuditEvent, Capability, Revision, ScheduledRelease
from registry.publishing import publication, reviews
from tests.factories import OLGA, Files, bundle, publish, to_json, tool
from tests.unit.registry.publishing.test_release_rules import set_rule
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with, is_publish_blocked

pytestmark = pytest.mark.django_db

GATE = "/capabilities/alpha/publish/"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("publisher")


def _draft(files: Files, based_on: int | None = None) -> None:
    drafts.save_draft(capability_id="alpha", files=files, based_on=based_on, by=OLGA)


def _publish(client: Client, **changes: Any) -> Any:
    return form_with(client.get(GATE), "Publish").submit(client, **{"note": "Why not"} | changes)


def _revision() -> int | None:
    revision = Capability.objects.get(capability_id="alpha").published_revision
    return revision.number if revision else None


def test_it_publishes_with_a_note(client: Client) -> None:
    _draft(bundle())
    answer = _publish(client, note="  The first.  ")
    assert answer["Location"] == "/capabilities/alpha/live/"
    assert "Revision 1 is live." in client.get("/capabilities/alpha/live/").content.decode()
    revision = Revision.objects.get()
    assert (revision.note, revision.created_by) == ("The first.", "operator:the-publisher")


def test_it_shows_findings_changes_in_words_and_the_diff(client: Client) -> None:
    publish("alpha", [tool("alpha_list")])
    changed = tool("alpha_list", properties={"day": {"type": "string"}}, required=["day"])
    _draft(bundle("alpha", [changed], body="Two\nlines."))
    page = client.get(GATE).content.decode()
    assert "CONTRACT_BROKEN" in page
    assert "<code>day</code> of <code>alpha_list</code> became required" in page
    assert "<ins>Two</ins>" in page
    assert "<del>Answer in one sentence.</del>" in page


def test_a_first_release_says_what_agents_get(client: Client) -> None:
    _draft(bundle("alpha", [tool("alpha_save", "write")]))
    page = client.get(GATE).content.decode()
    assert "Agent-facing" in page
    assert "The tool <code>alpha_save</code> is new: it writes, and each call needs approval" in page
    assert "Wider reach" not in page
    publish("alpha", [tool("alpha_save", "write")])
    assert "Agent-facing" not in client.get(GATE).content.decode()


def test_a_first_release_is_drawn_and_its_files_are_folded(client: Client) -> None:
    _draft(bundle("alpha", [tool("alpha_save", "write")]))
    page = client.get(GATE).content.decode()
    assert "What agents get with this first release." in page
    assert "Revision 1" in page
    assert 'id="skill-doc"' in page
    assert '<span class="mono tool-name">alpha_save</span>' in page
    assert '<details class="more" id="diff">' in page
    publish("alpha", [tool("alpha_save", "write")])
    _draft(bundle("alpha", [tool("alpha_save", "write")], body="Another."))
    page = client.get(GATE).content.decode()
    assert "between revision 1 and this draft" in page
    assert 'id="skill-doc"' not in page
    assert "You can roll back to revision 1 at any time." in page


def test_steps_before_publishing_are_counted(client: Client) -> None:
    publish("alpha", [tool("alpha_save", "write")])
    _draft(bundle("alpha", [tool("alpha_save", "write", requires_approval=False)]))
    page = client.get(GATE).content.decode()
    assert "1 of 2 done" in page
    assert 'form="release"' in page
    _draft(bundle("alpha", [tool("alpha_save", "write")], body="Another."), based_on=1)
    assert "1 of 1 done" in client.get(GATE).content.decode()


def test_a_finding_leads_to_the_editor_at_its_place(client: Client, signed_in: SignIn) -> None:
    _draft(bundle() | {"tools.json": "[\n  1,\n]"})
    link = 'href="/capabilities/alpha/edit/?file=tools.json&amp;line=3&amp;column=1#file-toolsjson"'
    assert link in client.get(GATE).content.decode()
    viewer = signed_in("viewer").get(GATE).content.decode()
    assert "tools.json:3:1" in viewer
    assert "/edit/" not in viewer


def test_an_error_blocks_the_button_and_the_verb(client: Client) -> None:
    _draft(bundle() | {"skill.md": "# A\n"})
    page = client.get(GATE).content.decode()
    assert is_publish_blocked(page)
    assert "Fix 3 errors to publish." in page
    answer = _publish(client)
    assert answer.status_code == 422
    assert "Not published. The reasons are below." in answer.content.decode()
    assert _revision() is None


def test_an_author_is_told_that_errors_come_before_a_review(signed_in: SignIn) -> None:
    _draft(bundle() | {"skill.md": "# A\n"})
    page = signed_in("author").get(GATE).content.decode()
    assert "Fix 3 errors to submit for review." in page
    assert 'name="note"' not in page
    assert "Submit for review" not in page


@pytest.mark.both_databases
@pytest.mark.parametrize("note", ["", "   ", "\0", "\t\n"])
def test_a_note_is_asked_for_and_a_tick_is_kept(note: str, client: Client) -> None:
    publish("alpha", [tool("alpha_save", "write")])
    _draft(bundle("alpha", [tool("alpha_save", "write", requires_approval=False)]))
    answer = _publish(client, note=note, acknowledge=["POLICY_LOOSENED"])
    assert answer.status_code == 400
    assert "Enter a release note" in answer.content.decode()
    assert form_with(answer, "Publish").values["acknowledge"] == ["POLICY_LOOSENED"]
    assert _revision() == 1


def test_a_loosened_policy_needs_the_tick(client: Client) -> None:
    publish("alpha", [tool("alpha_save", "write")])
    _draft(bundle("alpha", [tool("alpha_save", "write", requires_approval=False)]))
    refused = _publish(client, note="Faster")
    assert refused.status_code == 422
    assert form_with(refused, "Publish").values["note"] == "Faster"
    assert _revision() == 1
    assert _publish(client, acknowledge=["POLICY_LOOSENED"]).status_code == 302
    assert _revision() == 2
    assert AuditEvent.objects.filter(verb="capability.publish").last().detail["acknowledged"] == ["POLICY_LOOSENED"]  # type: ignore[union-attr]


def _loosen() -> None:
    publish("alpha", [tool("alpha_save", "write")])
    _draft(bundle("alpha", [tool("alpha_save", "write", requires_approval=False)]))


def test_an_author_is_told_who_confirms_a_loosened_policy_and_can_go_on(signed_in: SignIn) -> None:
    _loosen()
    client = signed_in("author")
    answer = client.get(GATE)
    page = answer.content.decode()
    assert page.count("This release is less restrictive. A publisher must confirm it.") == 1
    assert "1 error" not in page
    assert '<li class="issue' not in page
    assert "tools.json:" not in page.partition('id="powers"')[0]
    assert 'name="acknowledge"' not in page
    assert page.count("<code>alpha_save</code> no longer needs approval") == 1
    form = form_with(answer, "Submit for review")
    form.action = f"{GATE}review/"
    assert form.submit(client, note="Faster").status_code == 302


def test_a_publisher_is_asked_once_to_confirm_a_loosened_policy(client: Client) -> None:
    _loosen()
    page = client.get(GATE).content.decode()
    assert page.count('name="acknowledge"') == 1
    assert "I understand that this release is less restrictive" in page
    assert "A publisher has to confirm it" not in page
    assert page.count("no longer needs approval") == 1
    assert "1 error" not in page
    assert 'data-code="POLICY_LOOSENED"' in page
    assert not is_publish_blocked(page)
    refused = _publish(client, note="Faster").content.decode()
    assert "Confirm before publishing: this release is less restrictive." in refused


def test_what_needs_a_second_person_says_who_that_can_be_and_leads_to_no_line(
    client: Client, signed_in: SignIn
) -> None:
    set_rule(four_eyes=True)
    _draft(bundle())
    for each in (client, signed_in("author")):
        page = each.get(GATE).content.decode()
        assert "a publisher or an admin who didn&#x27;t edit this version." in page
        assert "capability.json:1:1" not in page
        assert "1 error" not in page
        assert "Submit for review" in page
    assert is_publish_blocked(client.get(GATE).content.decode())


def test_where_only_an_admin_may_loosen_nobody_else_is_offered_the_tick(client: Client, signed_in: SignIn) -> None:
    set_rule(loosening="admin")
    _loosen()
    page = client.get(GATE).content.decode()
    assert page.count("This release is less restrictive. Only admins can publish it.") == 1
    assert "A publisher has to confirm it" not in page
    assert 'name="acknowledge"' not in page
    assert is_publish_blocked(page)
    page = signed_in("admin").get(GATE).content.decode()
    assert 'name="acknowledge"' in page
    assert "Only an admin" not in page


def test_a_fault_of_the_texts_is_still_an_error_with_its_place(client: Client) -> None:
    publish("alpha", [tool("alpha_save", "write")])
    _draft(bundle() | {"skill.md": "# A\n"})
    page = client.get(GATE).content.decode()
    assert "3 errors" in page
    assert "skill.md:1:1" in page


@pytest.mark.both_databases
@pytest.mark.parametrize("codes", [["JSON_INVALID"], ["a\0b"], ["x" * 100_000], ["\ud800"]])
def test_a_tick_that_was_never_offered_lifts_nothing_and_is_not_kept(codes: list[str], client: Client) -> None:
    _draft(bundle())
    codes = [code.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for code in codes]
    assert _publish(client, acknowledge=codes).status_code == 302
    assert AuditEvent.objects.get(verb="capability.publish").detail["acknowledged"] == []


@pytest.mark.both_databases
@pytest.mark.parametrize("version", ["", "0", "2", "x", "9" * 400, "\0"])
def test_another_version_than_the_one_looked_at_is_not_published(version: str, client: Client) -> None:
    _draft(bundle())
    answer = _publish(client, draft_version=version)
    assert answer.status_code == 409
    assert "Check the changes again" in answer.content.decode()
    assert form_with(answer, "Publish").values["draft_version"] == "1"
    assert _revision() is None


def test_a_draft_that_moves_on_meanwhile_is_not_published(client: Client) -> None:
    _draft(bundle())
    form = form_with(client.get(GATE), "Publish")
    _draft(bundle(body="Something else."), 1)
    assert form.submit(client, note="x").status_code == 409
    assert _revision() is None


def test_the_button_pressed_twice_publishes_once(client: Client) -> None:
    _draft(bundle())
    form = form_with(client.get(GATE), "Publish")
    assert [form.submit(client, note="x").status_code for _ in range(2)] == [302, 302]
    assert "Nothing to publish." in client.get("/capabilities/alpha/").content.decode()
    assert Revision.objects.count() == 1


def test_without_a_draft_there_is_no_gate(client: Client) -> None:
    publish()
    answer = client.get(GATE, follow=True)
    assert answer.redirect_chain == [("/capabilities/alpha/", 302)]
    assert "Nothing to publish." in answer.content.decode()


def test_nothing_new_says_so_and_offers_no_button(client: Client) -> None:
    publish()
    _draft(bundle() | {"capability.json": bundle()["capability.json"].replace("\n", " \n")})
    page = client.get(GATE).content.decode()
    assert "Nothing to publish. This draft matches" in page
    assert 'name="note"' not in page


def test_it_says_what_publishing_does_to_one_that_is_retired(client: Client) -> None:
    publish()
    publication.retire(capability_id="alpha", by=OLGA)
    _draft(bundle(body="New."))
    assert "Publishing makes this retired capability available again" in client.get(GATE).content.decode()
    assert _publish(client).status_code == 302
    assert Capability.objects.get().status == "published"


@pytest.mark.parametrize("role", ["viewer", "author"])
def test_who_may_not_publish_may_look(role: str, signed_in: SignIn) -> None:
    _draft(bundle())
    client = signed_in(role)
    page = client.get(GATE).content.decode()
    assert "Only publishers can publish" in page
    assert ('name="note"' in page) == (role == "author")
    assert ">Publish</button>" not in page
    assert client.post(GATE, {"draft_version": "1", "note": "x"}).status_code == 403
    assert _revision() is None


def test_two_hundred_findings_leave_the_rest_in_reach(client: Client) -> None:
    _draft(bundle() | {"tools.json": to_json([{} for _ in range(70)])})
    page = client.get(GATE).content.decode()
    shown, _, folded = page.partition('<details class="more">')
    assert shown.count('<li class="issue') <= 20
    # What is said of 70 places is said once, with the places behind a fold.
    assert re.search(r"args_schema[^<]*</span> <span class=\"count\">70</span>", page)
    assert folded.count('<li class="issue') > 180


PLACEHOLDER_BODY = "**User:** what a user would say"


def test_placeholder_text_goes_live_only_with_a_tick(client: Client) -> None:
    _draft(bundle(body=PLACEHOLDER_BODY))
    page = client.get(GATE).content.decode()
    assert "PLACEHOLDER_LEFT" in page
    assert "Publish with the placeholder text listed under Issues." in page
    refused = _publish(client, note="First")
    assert refused.status_code == 422
    assert "Replace the placeholder text, or confirm that you publish with it." in refused.content.decode()
    assert form_with(refused, "Publish").values["note"] == "First"
    assert _revision() is None
    assert _publish(client, acknowledge=["PLACEHOLDER_LEFT"]).status_code == 302
    assert AuditEvent.objects.get(verb="capability.publish").detail["acknowledged"] == []


def test_placeholder_text_is_scheduled_only_with_a_tick(client: Client) -> None:
    _draft(bundle(body=PLACEHOLDER_BODY))
    form = form_with(client.get(GATE), "Publish")
    form.action = f"{GATE}later/"
    given = {"note": "Later", "due_at": f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%dT%H:%M}"}
    assert form.submit(client, **given).status_code == 422
    assert not ScheduledRelease.objects.exists()
    assert form.submit(client, **given, acknowledge=["PLACEHOLDER_LEFT"]).status_code == 302
    assert ScheduledRelease.objects.exists()


def test_a_changed_draft_with_placeholders_is_told_as_changed_first(client: Client) -> None:
    _draft(bundle())
    form = form_with(client.get(GATE), "Publish")
    _draft(bundle(body=PLACEHOLDER_BODY), 1)
    assert form.submit(client, note="x").status_code == 409


def test_a_text_without_placeholders_asks_for_no_tick(client: Client) -> None:
    _draft(bundle())
    assert "Publish with the placeholder text" not in client.get(GATE).content.decode()


def test_very_long_and_very_many_lines_are_no_error(client: Client) -> None:
    publish()
    _draft(bundle(body="x" * 200_000))
    assert client.get(GATE).status_code == 200
    _draft(bundle(body="x\n" * 30_000), 1)
    assert "lines replaced by" in client.get(GATE).content.decode()


def test_what_an_author_wrote_is_text(client: Client) -> None:
    nasty = "`<script>alert(1)</script>`"
    publish("alpha", [tool("alpha_list")], intent_triggers=["one"])
    changed = tool("alpha_list", properties={nasty: {"type": "string"}}, required=[nasty])
    _draft(bundle("alpha", [changed], body=nasty, intent_triggers=[nasty]))
    page = client.get(GATE).content.decode()
    assert "<script>alert" not in page
    assert "<code>&lt;script&gt;alert(1)&lt;/script&gt;</code>" in page


def test_an_author_whose_draft_waits_is_offered_no_note_that_nobody_takes(signed_in: SignIn) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle("alpha"), based_on=None, by=OLGA)
    client = signed_in("author")
    assert 'id="note"' in client.get("/capabilities/alpha/publish/").content.decode()
    reviews.request_review(capability_id="alpha", draft_version=1, note="Please", by=OLGA)
    page = client.get("/capabilities/alpha/publish/").content.decode()
    assert 'id="note"' not in page
    assert "Open review" in page
    assert "Only publishers can publish." in page


def test_an_author_who_submits_again_finds_the_note_of_before(signed_in: SignIn) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle("alpha"), based_on=None, by=OLGA)
    review = reviews.request_review(capability_id="alpha", draft_version=1, note="For the front desk", by=OLGA)
    reviews.request_changes(review_id=review.pk, round_seen=1, by=Actor("operator", "paul"), words="Shorter, please")
    drafts.save_draft(capability_id="alpha", files=bundle("alpha", body="Be short."), based_on=1, by=OLGA)
    assert ">For the front desk</textarea>" in signed_in("author").get("/capabilities/alpha/publish/").content.decode()
    publisher = signed_in("publisher").get("/capabilities/alpha/publish/").content.decode()
    assert "For the front desk</textarea>" not in publisher


def test_it_lists_what_the_bundle_may_do_and_marks_what_is_new(client: Client) -> None:
    publish("alpha", body="See https://old.example/ first.")
    saves = tool("alpha_save", "write", requires_approval=False)
    _draft(bundle("alpha", [saves], body="See https://new.example/ first."))
    page = " ".join(client.get(GATE).content.decode().split())
    assert "What it may do" in page
    assert '<span class="badge badge--warning">New</span> <code><bdi>new.example</bdi></code>' in page
    assert '<span class="badge">Removed</span> <code><bdi>old.example</bdi></code>' in page
    assert '<code><bdi>alpha_save</bdi></code> <span class="badge badge--danger">No approval</span>' in page
