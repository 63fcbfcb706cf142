"""The list: status, search, pages."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.catalog import drafts, incidents
from registry.models import Capability, Revision
from registry.publishing import publication
from tests.factories import OLGA, bundle, publish, tool
from tests.sweeps import check_each
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import forms_in

pytestmark = pytest.mark.django_db

FRAGMENT = {"HX-Request": "true"}


def _ids(answer: Any) -> list[str]:
    return [one.row.capability_id for one in answer.context["page"].object_list]


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("viewer")


def test_it_lists_every_status_with_what_is_going_on(client: Client) -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    publication.deprecate(capability_id="beta", by=OLGA)
    publication.retire(capability_id="gamma", by=OLGA)
    drafts.save_draft(capability_id="delta", files={"skill.md": ""}, based_on=None, by=OLGA)
    drafts.save_draft(capability_id="alpha", files={"skill.md": ""}, based_on=None, by=OLGA)
    revision = Revision.objects.get(capability__capability_id="beta")
    incidents.open_incident(revision=revision, message="m", details="d", findings=())
    answer = client.get("/capabilities/")
    listed = [one.row for one in answer.context["page"]]
    rows = {row.capability_id: (row.status, row.has_draft, row.open_incidents) for row in listed}
    assert rows == {
        "alpha": ("published", True, 0),
        "beta": ("deprecated", False, 1),
        "delta": ("draft", True, 0),
        "gamma": ("retired", False, 0),
    }
    page = answer.content.decode()
    assert page.count(">Unpublished changes</span>") == 1
    assert page.count("badge--danger badge--dot") == 1


def test_a_tile_shows_the_emoji_of_its_capability_or_the_first_letter_of_its_name(client: Client) -> None:
    publish("alpha", emoji="🦊")
    publish("beta", name="Ärger")
    page = client.get("/capabilities/").content.decode()
    assert re.findall(r'class="tile[^>]*>([^<]+)<', page) == ["🦊", "Ä"]


def test_it_is_filtered_by_status_and_by_words(client: Client) -> None:
    publish("alpha", name="The first of all")
    publish("beta")
    publication.retire(capability_id="beta", by=OLGA)
    assert _ids(client.get("/capabilities/?q=FIRST")) == ["alpha"]
    assert _ids(client.get("/capabilities/?q=bet")) == ["beta"]
    assert _ids(client.get("/capabilities/?status=published")) == ["alpha"]
    assert _ids(client.get("/capabilities/?status=retired&q=alpha")) == []


def test_what_shares_only_some_words_is_said_to_be_no_match(client: Client) -> None:
    publish("alpha", description="Answers messages that feel like a refund.")
    words = "No exact matches in names and descriptions."
    weak = client.get("/capabilities/?q=nothing+like+it")
    assert _ids(weak) == ["alpha"]
    assert words in weak.content.decode()
    for text in ("refund", "refunds", "like a refund", "alp"):
        found = client.get("/capabilities/", {"q": text})
        assert (text, _ids(found)) == (text, ["alpha"])
        assert words not in found.content.decode()
    assert words not in client.get("/capabilities/?q=zzzzqqq").content.decode()


def test_nothing_yet_and_nothing_found_say_different_things(client: Client) -> None:
    assert "Create your first" in client.get("/capabilities/").content.decode()
    assert "Clear filters" in client.get("/capabilities/?q=x").content.decode()


@pytest.mark.parametrize(
    "query", ["status=odd", "q=%00", "status=%00", "q=" + "x" * 5000, "q=%25", "q=_", "q=%F0%9F%8D%8E"]
)
def test_odd_filters_are_no_error(query: str, client: Client) -> None:
    publish()
    assert client.get(f"/capabilities/?{query}").status_code == 200


def test_a_percent_sign_is_no_wildcard(client: Client) -> None:
    publish()
    assert _ids(client.get("/capabilities/?q=%25")) == []


@pytest.fixture
def many(db: None) -> None:
    for number in range(60):
        drafts.save_draft(capability_id=f"c{number:02}", files={"skill.md": ""}, based_on=None, by=OLGA)


@pytest.mark.usefixtures("many")
def test_pages_carry_the_filter_along(client: Client) -> None:
    first = client.get("/capabilities/?status=draft&q=c")
    assert len(_ids(first)) == 50
    assert 'href="?q=c&amp;status=draft&amp;page=2"' in first.content.decode()
    second = client.get("/capabilities/?q=c&status=draft&page=2")
    assert _ids(second)[-1] == "c59"
    assert 'href="?q=c&amp;status=draft&amp;page=1"' in second.content.decode()


@pytest.mark.usefixtures("many")
def test_an_odd_page_number_is_the_nearest_page(client: Client) -> None:
    nearest = {"0": "c50", "-3": "c50", "x": "c00", "": "c00", "999999999999": "c50", "1.5": "c00"}
    nearest |= {"9" * 5000: "c00", "%00": "c00"}

    def check(page: str) -> None:
        assert _ids(client.get(f"/capabilities/?page={page}"))[0] == nearest[page]

    check_each(nearest, check)


def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    def count() -> int:
        # What is new is read once, 500 in a query; from then on it is known.
        client.get("/capabilities/")
        with CaptureQueriesContext(connection) as queries:
            client.get("/capabilities/")
        return len(queries)

    for number in range(5):
        publish(f"c{number:02}")
    few = count()
    for number in range(5, 60):
        drafts.save_draft(capability_id=f"c{number:02}", files={"skill.md": ""}, based_on=None, by=OLGA)
    assert count() == few <= 10


def test_a_fragment_is_the_same_part_of_the_page(client: Client) -> None:
    publish()
    page, fragment = client.get("/capabilities/"), client.get("/capabilities/", headers=FRAGMENT)
    assert fragment.content.strip() in page.content
    assert len(fragment.content) < len(page.content) / 2
    assert b'<div id="rows"' in fragment.content
    for answer in (page, fragment):
        assert "HX-Request" in answer["Vary"]


def test_going_back_in_the_browser_gets_the_whole_page(client: Client) -> None:
    answer = client.get("/capabilities/", headers=FRAGMENT | {"HX-History-Restore-Request": "true"})
    assert b"<html" in answer.content


def test_the_filter_works_without_scripts(client: Client) -> None:
    publish()
    publish("beta")
    form = next(form for form in forms_in(client.get("/capabilities/")) if form.method == "get")
    assert _ids(form.submit(client, q="bet")) == ["beta"]


def test_what_an_author_wrote_is_text(client: Client) -> None:
    name = "<script>alert(1)</script>\u202e evil"
    drafts.save_draft(capability_id="beta", files=bundle("beta", name=name), based_on=None, by=OLGA)
    page = client.get('/capabilities/?q="><script>alert(2)</script>').content.decode()
    assert "<script>alert" not in page
    page = client.get("/capabilities/").content.decode()
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;\u202e evil</bdi>" in page


def test_only_who_may_write_is_offered_a_new_one(signed_in: SignIn) -> None:
    offered = {
        role: b"New capability" in signed_in(role).get("/capabilities/").content for role in ("viewer", "author")
    }
    assert offered == {"viewer": False, "author": True}


@pytest.mark.parametrize(
    "query",
    ["group=nothing", "owner=%00", "profile=odd", "os=%F0%9F%8D%8E", "level=x", "findings=x", "sort=x", "draft=no"],
)
def test_odd_filters_of_every_kind_are_no_error(query: str, client: Client) -> None:
    publish()
    assert client.get(f"/capabilities/?{query}").status_code == 200


def test_filters_are_carried_along_and_unfold(client: Client) -> None:
    publish("alpha", skill_groups=["health"])
    publish("beta")
    answer = client.get("/capabilities/?group=health&profile=capability&sort=name")
    assert _ids(answer) == ["alpha"]
    assert answer.context["query"] == "group=health&profile=capability&sort=name"
    chips = [(str(chip.words), chip.url) for chip in answer.context["chips"]]
    assert chips == [
        ("health", "?profile=capability&sort=name"),
        ("Capability", "?group=health&sort=name"),
    ]
    assert '<details class="filters-more" open>' in answer.content.decode()
    assert re.search(r'<option value="health"\s+selected>\s*health \(1\)', answer.content.decode())
    assert '<details class="filters-more" >' in client.get("/capabilities/").content.decode()


def test_they_are_sorted_by_their_heads_and_filtered_by_what_their_tools_do(client: Client) -> None:
    publish("alpha", [tool("alpha_list"), tool("alpha_save", kind="write")], metadata={"owner": "Ann"})
    publish("beta", [tool("beta_list")], name="Zebra")
    assert _ids(client.get("/capabilities/?access=write")) == ["alpha"]
    assert _ids(client.get("/capabilities/?access=read")) == ["beta"]
    assert _ids(client.get("/capabilities/?access=odd")) == ["alpha", "beta"]
    for key in ("id", "name", "loads"):
        assert _ids(client.get(f"/capabilities/?sort={key}")) == ["alpha", "beta"]
    for key in ("-id", "-name", "owner", "-updated"):
        answer = client.get(f"/capabilities/?sort={key}")
        assert _ids(answer) == ["beta", "alpha"], key
    assert 'aria-sort="descending"' in client.get("/capabilities/?sort=-updated").content.decode()


def _bulk(client: Client, verb: str, *chosen: str, **more: str) -> Any:
    return client.post(f"/bulk/{verb}/", {"chosen": chosen, **more}, follow=True)


def test_several_are_deprecated_after_a_look(signed_in: SignIn) -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    client = signed_in("publisher")
    asked = _bulk(client, "deprecate", "alpha", "beta")
    assert "Deprecate 2 capabilities" in asked.content.decode()
    assert set(Capability.objects.values_list("status", flat=True)) == {"published"}
    form = next(form for form in forms_in(asked) if form.action == "/bulk/deprecate/")
    done = form.submit(client, chosen=["alpha", "beta"], confirmed="yes", replaced_by="gamma", note="old")
    assert done["Location"] == "/capabilities/"
    assert "2 capabilities deprecated." in client.get("/capabilities/").content.decode()
    replaced = Capability.objects.filter(replaced_by__capability_id="gamma").values_list("capability_id", flat=True)
    assert sorted(replaced) == ["alpha", "beta"]


def test_what_is_refused_is_told_by_name(signed_in: SignIn) -> None:
    drafts.save_draft(capability_id="draft", files={"skill.md": ""}, based_on=None, by=OLGA)
    page = _bulk(signed_in("publisher"), "deprecate", "draft", "<b>", confirmed="yes").content.decode()
    assert "draft: " in page
    assert "&lt;b&gt;: " in page


@pytest.mark.parametrize("verb", ["deprecate", "revalidate", "export"])
def test_none_chosen_is_told(verb: str, signed_in: SignIn) -> None:
    assert "Select at least one capability" in _bulk(signed_in("publisher"), verb).content.decode()


def test_several_are_exported_and_checked_again(signed_in: SignIn) -> None:
    publish("alpha")
    publish("beta")
    client = signed_in("publisher")
    answer = client.post("/bulk/export/", {"chosen": ["alpha", "beta"]})
    assert answer["Content-Type"] == "application/zip"
    assert answer["Content-Disposition"] == 'attachment; filename="capabilities.zip"'
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"alpha", "beta"}
    assert "Checks queued: 2 new, 0 waiting" in _bulk(client, "revalidate", "alpha", "beta").content.decode()
    filtered = "http://testserver/capabilities/?q=alp&status=published"
    done = client.post("/bulk/revalidate/", {"chosen": ["alpha"]}, headers={"Referer": filtered})
    assert done["Location"] == "/capabilities/?q=alp&status=published"


def test_only_who_may_publish_is_offered_the_verbs(signed_in: SignIn) -> None:
    publish()
    for role, offered in (("author", False), ("publisher", True)):
        page = signed_in(role).get("/capabilities/").content.decode()
        assert ("/bulk/deprecate/" in page, "/bulk/revalidate/" in page) == (offered, offered)
        assert "/bulk/export/" in page


def test_the_matrix_leads_to_what_it_counts(client: Client) -> None:
    publish("alpha", os=["linux"], dependency_level="external")
    page = client.get("/matrix/").content.decode()
    assert 'href="/capabilities/?os=linux&amp;level=external"' in page
    assert _ids(client.get("/capabilities/?os=linux&level=external")) == ["alpha"]


def test_ids_to_choose_from_are_fetched_and_stand_in_no_page(signed_in: SignIn) -> None:
    publish("alpha")
    publish("beta")
    drafts.save_draft(capability_id="gamma", files=bundle("gamma"), based_on=None, by=OLGA)
    client = signed_in("publisher")
    options = '<option value="alpha"></option><option value="beta"></option>'
    assert client.get("/capability-ids/").content.decode().strip() == options + '<option value="gamma"></option>'
    assert client.get("/capability-ids/?listed=yes").content.decode().strip() == options
    for page in ("/capabilities/alpha/", "/new-capability/copy/", "/playground/?m=alpha+please"):
        assert 'value="gamma"' not in client.get(page).content.decode(), page


def test_a_draft_that_was_never_published_is_called_what_its_draft_says(client: Client) -> None:
    for capability_id, name in (("desks", "Desk Booking"), ("long", "x" * 500), ("odd", 7), ("none", " \n ")):
        files = bundle(capability_id) | {"capability.json": json.dumps({"name": name})}
        drafts.save_draft(capability_id=capability_id, files=files, based_on=None, by=OLGA)
    page = client.get("/capabilities/").content.decode()
    assert "<bdi>Desk Booking</bdi></a>" in page
    assert '<span class="item__id mono">desks</span>' in page
    assert f"<bdi>{'x' * 80}</bdi>" in page
    assert all(f"<bdi>{capability_id}</bdi></a>" in page for capability_id in ("odd", "none"))


def test_a_misspelled_word_still_finds(client: Client) -> None:
    publish("excel_sheets", name="Excel Analyzer")
    assert "Excel Analyzer" in client.get("/capabilities/?q=exel").content.decode()
