"""Revisions, and the way back."""

from __future__ import annotations

import io
import zipfile
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import AuditEvent, Capability, Revision
from registry.publishing import publication, reviews
from tests.factories import OLGA, bundle, damage, publish, tool
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db

HISTORY = "/capabilities/alpha/history/"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("publisher")


def _roll_back(client: Client, number: int = 1, **changes: Any) -> Any:
    form = form_with(client.get(f"{HISTORY}{number}/"), "Roll back")
    return form.submit(client, **{"note": "Too early"} | changes)


def _revision() -> int:
    revision = Capability.objects.get(capability_id="alpha").published_revision
    assert revision is not None
    return revision.number


def test_the_newest_is_first_and_the_published_one_is_marked(client: Client) -> None:
    publish()
    publish(body="Second.")
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    answer = client.get(HISTORY)
    assert [revision.number for revision in answer.context["page"]] == [2, 1]
    page = answer.content.decode()
    assert page.count("Live</span>") == 1
    rows = page[page.index("<tbody>") :]
    assert rows.index(f"{HISTORY}2/") < rows.index(f"{HISTORY}1/") < rows.index("Live</span>")


def test_author_reviewer_and_publisher_are_told_apart(client: Client, signed_in: SignIn) -> None:
    publish()
    save = partial(drafts.save_draft, capability_id="alpha")
    save(files=bundle(body="One."), based_on=None, by=Actor("operator", "ann"))
    save(files=bundle(body="Two."), based_on=1, by=Actor("agent_key", "helper"))
    review = reviews.request_review(capability_id="alpha", draft_version=2, by=Actor("operator", "ann"), note="x")
    asked = client.get(f"/reviews/{review.pk}/").content.decode()
    assert "<bdi>ann</bdi> submitted round 1" in asked
    assert "Written by <bdi>ann, API key helper</bdi>" in asked
    reviews.approve(review_id=review.pk, round_seen=1, by=Actor("operator", "vera"))
    publication.publish_draft(capability_id="alpha", by=Actor("operator", "paul"))
    for address in (HISTORY, f"{HISTORY}2/", f"{HISTORY}compare/?from=1&to=2", "/capabilities/alpha/"):
        page = client.get(address).content.decode()
        for words in (
            "Written by <bdi>ann, API key helper</bdi>",
            "Approved by <bdi>vera</bdi>",
            "Published by <bdi>paul</bdi>",
        ):
            assert words in page, (address, words)


def test_one_person_is_named_once_and_an_author_who_was_not_kept_is_not_invented(client: Client) -> None:
    publish()
    publish(body="Second.")
    damage(Revision.objects.get(number=1), editors=None)
    page = client.get(HISTORY).content.decode()
    rows = page.partition("<tbody>")[2].partition("</tbody>")[0]
    assert rows.count("<bdi>olga</bdi>") == 2
    assert "Written by" not in page


def test_its_queries_do_not_grow_and_read_no_texts_of_old_revisions(client: Client) -> None:
    counts = []
    for amount in (2, 12):
        for number in range(amount):
            publish(body=f"Text {amount} {number}.")
        with CaptureQueriesContext(connection) as queries:
            client.get(HISTORY)
        counts.append(len(queries))
        listed = [
            query["sql"] for query in queries.captured_queries if "LIMIT" in query["sql"] and '"note"' in query["sql"]
        ]
        assert len(listed) == 2, "the capability with its published revision, and the list"
        assert "skill_md" not in listed[1]
    # One of them asks whether a team keeps the reader from changing it, two are of the head.
    assert counts[0] == counts[1] <= 12


def test_an_older_revision_is_held_against_the_published_one(client: Client) -> None:
    publish(body="First.")
    publish(body="Second.")
    page = client.get(f"{HISTORY}1/").content.decode()
    assert "<ins><b>First</b>.</ins>" in page
    assert "<del><b>Second</b>.</del>" in page


def test_the_published_revision_shows_its_texts_and_no_button(client: Client) -> None:
    publish(body="First.")
    page = client.get(f"{HISTORY}1/").content.decode()
    assert "First." in page
    assert "Roll back" not in page


def test_rolling_back_without_scripts(client: Client) -> None:
    publish(body="First.")
    publish(body="Second.")
    assert _roll_back(client)["Location"] == "/capabilities/alpha/"
    assert "Revision 1 is live again." in client.get("/capabilities/alpha/").content.decode()
    assert _revision() == 1
    assert AuditEvent.objects.get(verb="capability.rollback").detail["note"] == "Too early"
    assert _roll_back(client, 2).status_code == 302
    assert _revision() == 2


@pytest.mark.both_databases
@pytest.mark.parametrize("note", ["", "  ", "\0"])
def test_a_note_is_asked_for(note: str, client: Client) -> None:
    publish(body="First.")
    publish(body="Second.")
    answer = _roll_back(client, note=note)
    assert answer.status_code == 400
    assert "Enter a reason" in answer.content.decode()
    assert _revision() == 2


def test_a_policy_that_gets_looser_by_it_needs_the_tick(client: Client) -> None:
    publish("alpha", [tool("alpha_save", "write", requires_approval=False)])
    publish("alpha", [tool("alpha_save", "write")])
    page = client.get(f"{HISTORY}1/").content.decode()
    assert "<code>alpha_save</code> no longer needs approval" in page
    refused = _roll_back(client)
    assert refused.status_code == 422
    assert form_with(refused, "Roll back").values["note"] == "Too early"
    assert _revision() == 2
    assert _roll_back(client, acknowledge=["POLICY_LOOSENED"]).status_code == 302
    assert _revision() == 1


def test_what_todays_rules_refuse_cannot_come_back(client: Client) -> None:
    publish("alpha", [tool("list_things")])
    publish("alpha")
    publish("beta", [tool("list_things")])
    page = client.get(f"{HISTORY}1/").content.decode()
    assert "TOOL_NAME_COLLISION" in page
    assert "disabled>Roll back" in page
    assert "/edit/?file" not in page, "the editor holds another text"
    assert _roll_back(client).status_code == 422
    assert _revision() == 2


def test_a_retired_one_is_not_rolled_back(client: Client) -> None:
    publish(body="First.")
    publish(body="Second.")
    publication.retire(capability_id="alpha", by=OLGA)
    assert "Roll back" not in client.get(f"{HISTORY}1/").content.decode()
    answer = client.post(f"{HISTORY}1/rollback/", {"note": "x"}, follow=True)
    assert "there is nothing to roll back" in answer.content.decode()
    assert "Live</span>" not in client.get(HISTORY).content.decode()


def test_to_where_it_is_already(client: Client) -> None:
    publish()
    answer = client.post(f"{HISTORY}1/rollback/", {"note": "x"}, follow=True)
    assert "Revision 1 is already live." in answer.content.decode()


@pytest.mark.parametrize("number", ["0", "3", "-1", "x", "9" * 30, "9" * 5000, "1.5", "%00"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_unknown_revision_is_a_page_that_says_so(number: str, method: str, client: Client) -> None:
    publish()
    rest = "rollback/" if method == "post" else ""
    answer = getattr(client, method)(f"{HISTORY}{number}/{rest}", {"note": "x"})
    assert answer.status_code == 404
    assert b"Page not found" in answer.content


@pytest.mark.parametrize("page", ["0", "-1", "x", "99"])
def test_an_odd_page_number_is_the_nearest_page(page: str, client: Client) -> None:
    publish()
    assert client.get(f"{HISTORY}?page={page}").status_code == 200


@pytest.mark.parametrize("role", ["viewer", "author"])
def test_who_may_not_publish_may_look(role: str, signed_in: SignIn) -> None:
    publish(body="First.")
    publish(body="Second.")
    client = signed_in(role)
    assert "Roll back" not in client.get(f"{HISTORY}1/").content.decode()
    assert client.post(f"{HISTORY}1/rollback/", {"note": "x"}).status_code == 403


def test_what_an_author_wrote_is_text(client: Client) -> None:
    nasty = "</pre><button>alert(1)</button>"
    publish(body=nasty, name=nasty)
    publish(body="Second.")
    for address in (HISTORY, f"{HISTORY}1/", f"{HISTORY}2/"):
        assert "<button>alert" not in client.get(address).content.decode()


def test_any_two_revisions_are_compared_in_words_and_texts(client: Client) -> None:
    publish("alpha", [tool("alpha_list")], body="First.")
    publish("alpha", [tool("alpha_list")], body="Second.")
    publish("alpha", body="Third.")
    page = client.get(f"{HISTORY}compare/").content.decode()
    assert "The tool <code>alpha_list</code> is gone" in page
    assert "<del><b>Second</b>.</del>" in page
    page = client.get(f"{HISTORY}compare/?from=3&to=1").content.decode()
    assert "tool <code>alpha_list</code> is new" in page
    assert "<ins><b>First</b>.</ins>" in page
    assert "No changes" in client.get(f"{HISTORY}compare/?from=2&to=2").content.decode()


@pytest.mark.parametrize("query", ["?from=9", "?to=9", "?from=0&to=1"])
def test_a_revision_that_is_not_there_cannot_be_compared(query: str, client: Client) -> None:
    publish()
    assert client.get(f"{HISTORY}compare/{query}").status_code == 404


@pytest.mark.parametrize("query", ["?from=x&to=y", "?from=&to=", "?from=99999999999999"])
def test_odd_numbers_are_passed_over(query: str, client: Client) -> None:
    publish()
    assert client.get(f"{HISTORY}compare/{query}").status_code == 200


def test_a_damaged_revision_is_compared_as_text(client: Client) -> None:
    publish("alpha", [tool("alpha_list")])
    publish(body="New.")
    damage(Revision.objects.get(number=1), tools_json='[{"name": 7}, 7', capability_json="[")
    assert client.get(f"{HISTORY}compare/?from=2&to=1").status_code == 200
    damage(Revision.objects.get(number=1), tools_json="[{}]", ui_schemas_json="[7]")
    assert client.get(f"{HISTORY}compare/?from=2&to=1").status_code == 200


def test_the_files_of_a_revision_are_a_zip(client: Client) -> None:
    publish(body="First.")
    publish(body="Second.")
    answer = client.get(f"{HISTORY}1/download/")
    assert answer["Content-Disposition"] == 'attachment; filename="alpha-revision-1.zip"'
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert "First." in archive.read("alpha/skill.md").decode()
    again = client.get(f"{HISTORY}1/download/")
    assert b"".join(again.streaming_content) == content  # type: ignore[attr-defined]
    assert client.get(f"{HISTORY}9/download/").status_code == 404


def test_what_happened_is_told_in_order(client: Client) -> None:
    publish()
    publish(body="New.")
    publication.rollback(capability_id="alpha", to=1, by=OLGA, note="Too <b>early</b>")
    publication.retire(capability_id="alpha", by=OLGA)
    page = client.get(HISTORY).content.decode().partition('class="timeline"')[2]
    places = [page.index(words) for words in ("Retired", "Rolled back to revision 1", "Published as revision 2")]
    assert places == sorted(places)
    assert "Too &lt;b&gt;early&lt;/b&gt;" in page
