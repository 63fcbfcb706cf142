"""One capability: what agents get of it, and the verbs that change its status."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from registry.catalog import drafts, incidents
from registry.common.actors import Actor
from registry.models import AuditEvent, Capability, Revision
from registry.publishing import publication
from registry.publishing.quarantine import quarantine
from tests.factories import OLGA, bundle, damage, publish, tool
from tests.sessions import confirm_identity
from tests.unit.studio.conftest import PASSWORD, SignIn, make_operator
from tests.unit.studio.forms import ask_and_confirm, confirm, form_with, forms_in

pytestmark = pytest.mark.django_db

PAGE = "/capabilities/alpha/"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("publisher")


def _status() -> str:
    return Capability.objects.get(capability_id="alpha").status


def _press(client: Client, button: str, **changes: Any) -> str:
    page = client.get(PAGE)
    # It is in the banner and in the menu.
    restores = [form for form in forms_in(page) if form.action == f"{PAGE}restore/"]
    form = restores[0] if button == "Restore" else form_with(page, button)
    # What takes it from agents is asked about first.
    answer = (
        form.submit(client, **changes) if form.method == "post" else confirm(client, form.submit(client), **changes)
    )
    assert answer["Location"] == PAGE
    return str(client.get(PAGE).content.decode())


def _words(client: Client) -> str:
    """The words of the page's main part, spaces folded."""
    main = client.get(PAGE).content.decode().partition("<main")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split()).replace("“ ", "“").replace(" ”", "”")


@pytest.mark.parametrize(
    ("status", "rest"),
    [
        ("deprecated", "Agents can still load it, and see that it is deprecated. Replacement: beta"),
        ("retired", "Agents can't find or load it."),
    ],
)
def test_what_is_deprecated_or_retired_says_by_whom_when_and_why(status: str, rest: str, client: Client) -> None:
    publish()
    publish("beta")
    if status == "deprecated":
        publication.deprecate(capability_id="alpha", by=OLGA, replaced_by="beta", note="Use <b>beta</b>")
    else:
        publication.retire(capability_id="alpha", by=OLGA, note="Use <b>beta</b>")
    assert f"{status.title()} by olga just now “Use <b>beta</b>” {rest} Restore" in _words(client)
    assert "Use &lt;b&gt;beta&lt;/b&gt;" in client.get(PAGE).content.decode()


def test_what_is_retired_is_not_called_live(client: Client) -> None:
    publish()
    assert "Live revision 1" in _words(client)
    publication.retire(capability_id="alpha", by=OLGA)
    assert "Live revision" not in _words(client)
    assert "Last published 1" in _words(client)


@pytest.mark.parametrize("verb", [publication.deprecate, publication.retire])
def test_restore_in_the_banner_and_in_the_menu_asks_with_a_note(verb: Any, client: Client) -> None:
    publish()
    verb(capability_id="alpha", by=OLGA)
    page = client.get(PAGE)
    forms = [form for form in forms_in(page) if form.action == f"{PAGE}restore/"]
    assert [form.method for form in forms] == ["get"] * 2
    asked = forms[0].submit(client)
    assert "Restore capability “Alpha”?" in asked.content.decode()
    assert confirm(client, asked, note="Needed again").status_code == 302
    assert _status() == "published"
    assert AuditEvent.objects.get(verb="capability.restore").detail["note"] == "Needed again"
    # What was restored meanwhile is not restored twice.
    assert client.get(f"{PAGE}restore/").status_code == 302


def test_undo_restores_without_a_question(client: Client) -> None:
    publish()
    publication.retire(capability_id="alpha", by=OLGA)
    assert client.post(f"{PAGE}restore/").status_code == 302
    assert _status() == "published"


def test_it_shows_what_agents_get(client: Client) -> None:
    tools = [tool("alpha_list"), tool("alpha_save", "write", {"text": {"type": "string", "description": "A text."}})]
    outcome = publish("alpha", tools, name="Alpha & more")
    page = client.get(PAGE).content.decode()
    for words in (
        "Alpha &amp; more",
        "alpha please",
        str(outcome.digest),
        "alpha_save",
        "Approval required",
        "<bdi>olga</bdi>",
    ):
        assert words in page


def test_each_role_is_offered_what_it_may_do(signed_in: SignIn) -> None:
    publish()
    drafts.save_draft(capability_id="alpha", files=bundle(body="New."), based_on=None, by=OLGA)
    incidents.open_incident(revision=Revision.objects.get(), message="m", details="d", findings=())
    offered = {}
    for role in ("viewer", "author", "publisher"):
        page = signed_in(role).get(PAGE).content.decode()
        offered[role] = [words for words in ("Edit draft", ">Fix<", "Review & publish", "Retire") if words in page]
    assert offered == {
        "viewer": [],
        "author": ["Edit draft", ">Fix<"],
        "publisher": ["Edit draft", ">Fix<", "Review & publish", "Retire"],
    }


def test_one_that_was_never_published_says_so(client: Client) -> None:
    drafts.save_draft(capability_id="alpha", files={"skill.md": ""}, based_on=None, by=OLGA)
    page = client.get(PAGE)
    assert "Not published yet" in page.content.decode()
    assert "Deprecate" not in page.content.decode()
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert client.get(PAGE).status_code == 200


def test_deprecate_retire_and_restore_without_scripts(client: Client) -> None:
    publish()
    publish("beta")
    assert "Alpha is deprecated" in _press(client, "Deprecate capability", replaced_by="beta", note="Use beta.")
    assert Capability.objects.get(capability_id="alpha").replaced_by_id is not None
    assert "Replacement" in client.get(PAGE).content.decode()
    assert "Alpha is retired" in _press(client, "Retire", note="Nobody needs it.")
    assert "Alpha is published again" in _press(client, "Restore")
    assert _status() == "published"
    written = AuditEvent.objects.filter(actor_name="the-publisher").values_list("verb", "detail__note")
    assert list(written) == [
        ("capability.deprecate", "Use beta."),
        ("capability.retire", "Nobody needs it."),
        ("capability.restore", ""),
    ]


def test_a_restore_that_todays_rules_refuse_says_why(client: Client) -> None:
    publish("alpha", [tool("list_things")])
    publication.retire(capability_id="alpha", by=OLGA)
    publish("beta", [tool("list_things")])
    assert "pass the current checks" in _press(client, "Restore")
    assert _status() == "retired"


@pytest.mark.both_databases
@pytest.mark.parametrize("replaced_by", ["alpha", "nowhere", "a\0b", "x" * 5000, "<b>"])
def test_an_odd_replacement_is_refused_in_words(replaced_by: str, client: Client) -> None:
    publish()
    page = _press(client, "Deprecate capability", replaced_by=replaced_by)
    assert "banner--danger" in page
    assert "<b>'" not in page
    assert _status() == "published"


@pytest.mark.both_databases
@pytest.mark.parametrize("note", ["a\0b", "x" * 100_000, "\u202e<script>alert(1)</script>", "🍎" * 3000])
def test_an_odd_note_is_kept_as_far_as_it_goes(note: str, client: Client) -> None:
    publish()
    assert "<script>alert" not in _press(client, "Retire", note=note)
    kept = AuditEvent.objects.get(verb="capability.retire").detail["note"]
    assert kept == note.replace("\0", "")[:2000]


def test_a_verb_that_does_not_fit_the_status_is_refused_in_words(client: Client) -> None:
    publish()
    assert "there is nothing to restore" in client.post(f"{PAGE}restore/", follow=True).content.decode()
    publication.retire(capability_id="alpha", by=OLGA)
    assert "Alpha is already retired." in client.post(f"{PAGE}retire/", follow=True).content.decode()
    drafts.save_draft(capability_id="beta", files={"skill.md": ""}, based_on=None, by=OLGA)
    page = client.get("/capabilities/beta/retire/", follow=True).content.decode()
    assert "beta is not published" in page


@pytest.mark.parametrize("name", ["nowhere", "Alpha", "alpha_", "a%00b", "x" * 65, "x" * 3000, "%E2%80%AE", "..", "-"])
@pytest.mark.parametrize("rest", ["", "edit/", "publish/", "history/", "history/1/"])
def test_an_unknown_id_is_a_page_that_says_so(name: str, rest: str, client: Client) -> None:
    answer = client.get(f"/capabilities/{name}/{rest}")
    assert answer.status_code == 404
    assert b"Page not found" in answer.content


@pytest.mark.parametrize(
    "verb", ["retire", "restore", "deprecate", "draft/save", "draft/discard", "draft/restore", "publish"]
)
def test_a_verb_on_an_unknown_id_makes_nothing(verb: str, client: Client) -> None:
    assert client.post(f"/capabilities/nowhere/{verb}/", {"note": "x"}).status_code == 404
    assert Capability.objects.count() == 0


DAMAGED: list[dict[str, Any]] = [
    {"tools_json": "{"},
    {"tools_json": '[1, {"name": 2}]'},
    {"tools_json": '{"a": 1}'},
    {"capability_json": "[]"},
    {"capability_json": None, "skill_md": None},
    {"capability_json": '{"name": 1, "intent_triggers": 5}'},
    {"skill_md": "---\na: [\n---\n"},
    {"ui_schemas_json": "nothing"},
]


@pytest.mark.parametrize("columns", DAMAGED)
def test_a_damaged_revision_can_be_looked_at_and_mended(columns: dict[str, Any], client: Client) -> None:
    publish("alpha", [tool("alpha_list")])
    publish("alpha", [tool("alpha_list")], body="Second.")
    damage(Revision.objects.get(number=2), **columns)
    for rest in ("", "edit/", "history/", "history/1/", "history/2/"):
        assert client.get(f"{PAGE}{rest}").status_code == 200, rest
    files = bundle("alpha", [tool("alpha_list")], body="Third.")
    drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=OLGA)
    gate = client.get(f"{PAGE}publish/")
    assert gate.status_code == 200
    assert form_with(gate, "Publish").submit(client, note="Mended").status_code == 302
    assert Capability.objects.get().published_revision.number == 3  # type: ignore[union-attr]


def test_what_an_author_wrote_is_text(client: Client) -> None:
    # Scripts are refused: see SEC_ACTIVE_MARKUP. A tag is one like another here.
    nasty = "</pre><button>alert(1)</button>"
    publish(
        "alpha",
        [tool("alpha_list", description=nasty)],
        name=nasty[:80],
        description=nasty,
        intent_triggers=[nasty],
        body=nasty,
    )
    page = client.get(PAGE).content.decode()
    assert "<button>alert" not in page
    assert page.count("&lt;button&gt;alert(1)") >= 5


def test_without_a_draft_it_leads_to_earlier_ones(client: Client) -> None:
    publish()
    history = f'href="{PAGE}draft/history/"'
    assert history not in client.get(PAGE).content.decode()
    drafts.save_draft(capability_id="alpha", files=bundle(body="Kept."), based_on=None, by=OLGA)
    ask_and_confirm(client, f"{PAGE}draft/discard/")
    page = client.get(PAGE).content.decode()
    assert "You can restore it from the draft history for 30 days." in page
    assert history in page


def test_a_viewer_is_offered_no_form_but_the_sign_out(signed_in: SignIn) -> None:
    publish()
    publish(body="Second.")
    assert [form.action for form in forms_in(signed_in("viewer").get(PAGE))] == ["/sign-out/"]


def test_what_was_never_published_says_what_its_draft_is(signed_in: SignIn) -> None:
    files = bundle("desks", name="Desk Booking", description="Finds a <b>desk</b>.", intent_triggers=["hot desk"])
    drafts.save_draft(capability_id="desks", files=files, based_on=None, by=OLGA)
    page = signed_in("viewer").get("/capabilities/desks/").content.decode()
    assert "<bdi>Desk Booking</bdi>" in page
    assert "Finds a &lt;b&gt;desk&lt;/b&gt;." in page
    assert '<bdi class="badge">hot desk</bdi>' in page
    assert "Not published yet" in page


@pytest.mark.parametrize("text", ["", "[]", "{", '{"name": 7, "intent_triggers": {}, "description": []}'])
def test_a_draft_of_odd_metadata_has_its_page(text: str, signed_in: SignIn) -> None:
    drafts.save_draft(capability_id="desks", files={"capability.json": text}, based_on=None, by=OLGA)
    page = signed_in("viewer").get("/capabilities/desks/")
    assert page.status_code == 200
    assert "<bdi>desks</bdi>" in page.content.decode()


def test_its_id_and_digest_can_be_copied(client: Client) -> None:
    publish()
    page = client.get(PAGE).content.decode()
    assert 'id="capability-id">alpha</span>' in page
    assert 'data-copy="capability-id"' in page
    assert 'data-copy="digest"' in page
    assert "studio/copy.js" in page


def test_a_quarantine_is_asked_for_shown_and_ended(signed_in: SignIn) -> None:
    client = signed_in("publisher")
    publish()
    page = client.get("/capabilities/alpha/").content.decode()
    assert page.count('action="/capabilities/alpha/quarantine/"') == 1
    asked = client.get("/capabilities/alpha/quarantine/")
    assert "Quarantine capability “Alpha”?" in asked.content.decode()
    assert confirm(client, asked, note="").status_code == 400
    assert confirm(client, asked, note="It may do harm").status_code == 302
    assert Capability.objects.get().status == "quarantined"
    page = " ".join(client.get("/capabilities/alpha/").content.decode().split())
    shown = _words(client)
    assert "Quarantined by the-publisher just now “It may do harm” Agents can't find or load it" in shown
    assert 'action="/capabilities/alpha/quarantine/"' not in page
    assert 'action="/capabilities/alpha/deprecate/"' not in page
    assert 'action="/capabilities/alpha/retire/"' in page
    assert "It stays quarantined" not in page
    ended = client.get("/capabilities/alpha/restore/")
    assert "They get revision 1, published by olga." in ended.content.decode()
    assert confirm(client, ended, note="").status_code == 400
    assert confirm(client, ended, note="Looked at it").status_code == 302
    assert Capability.objects.get().status == "published"
    assert "Quarantine ended" in client.get("/capabilities/alpha/history/").content.decode()


def test_who_published_what_is_quarantined_is_told_who_ends_it(signed_in: SignIn) -> None:
    make_operator("admin")
    client, by = signed_in("publisher"), Actor("operator", "the-publisher")
    publication.publish(files=bundle(), by=by)
    quarantine(capability_id="alpha", by=by)
    page = client.get("/capabilities/alpha/").content.decode()
    assert page.count("somebody else has to end the quarantine: the-admin in the Studio") == 1
    assert 'action="/capabilities/alpha/restore/"' not in page
    for answer in (
        client.get("/capabilities/alpha/restore/"),
        client.post("/capabilities/alpha/restore/", {"note": "x"}),
    ):
        assert (answer.status_code, "the-admin in the Studio" in answer.content.decode()) == (403, True)
    assert Capability.objects.get().status == "quarantined"


def test_a_sole_admin_ends_a_quarantine_after_showing_who_they_are(signed_in: SignIn) -> None:
    client, by = signed_in("admin"), Actor("operator", "the-admin")
    publication.publish(files=bundle(), by=by)
    quarantine(capability_id="alpha", by=by)
    confirm_identity(client, seconds_ago=3600)
    asked = client.get("/capabilities/alpha/restore/")
    assert "no other member can end the quarantine" in asked.content.decode()
    again = confirm(client, asked, note="Looked at it")
    assert (again.status_code, Capability.objects.get().status) == (403, "quarantined")
    form = next(form for form in forms_in(again) if "identity_password" in form.values)
    assert form.values["note"] == "Looked at it"
    assert form.submit(client, identity_password=PASSWORD).status_code == 302
    assert Capability.objects.get().status == "published"
    assert "without a second person" in client.get("/capabilities/alpha/history/").content.decode()


def test_what_was_retired_in_quarantine_is_ended_the_same_way(signed_in: SignIn) -> None:
    client = signed_in("publisher")
    publish()
    quarantine(capability_id="alpha", by=OLGA)
    publication.retire(capability_id="alpha", by=OLGA)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Later."), based_on=None, by=OLGA)
    page = client.get("/capabilities/alpha/publish/").content.decode()
    assert ("It stays quarantined" in page, "makes this retired capability available" in page) == (True, False)
    assert client.post("/capabilities/alpha/restore/", {"note": "x"}).status_code == 200, "asked first"
    assert Capability.objects.get().status == "retired"
    assert ask_and_confirm(client, "/capabilities/alpha/restore/", note="Looked at it").status_code == 302
    assert Capability.objects.get().status == "published"


def test_what_was_never_published_is_drawn_from_its_draft(signed_in: SignIn) -> None:
    drafts.save_draft(
        capability_id="alpha", files=bundle("alpha", [tool("alpha_list")], body="Read this."), based_on=None, by=OLGA
    )
    page = signed_in("viewer").get("/capabilities/alpha/").content.decode()
    assert "Read this." in page
    assert '<span class="mono tool-name">alpha_list</span>' in page
    assert "Not published yet. This page shows the draft" in page


def test_dependencies_are_shown_on_both_sides(client: Client) -> None:
    publish("beta")
    publish(dependencies={"mcp_servers": ["github"], "skills": ["beta", "gamma"]})
    page = client.get(PAGE).content.decode()
    rail = page[page.index('id="needs"') :]
    assert "github" in rail
    assert f'href="{reverse("studio:capability_show", args=["beta"])}"' in rail
    assert "Not available" in rail
    other = client.get(reverse("studio:capability_show", args=["beta"])).content.decode()
    assert "Needed by" in other
    assert f'href="{PAGE}"' in other[other.index("Needed by") :]
    question = client.get(reverse("studio:capability_retire", args=["beta"])).content.decode()
    assert "These say that they need it, and may hand over to it: alpha." in question
