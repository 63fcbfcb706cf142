"""The four-file editor: open, check, save, discard."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import AuditEvent, Draft
from registry.publishing import publication
from studio.pages.views.draft import FIELDS
from tests.factories import OLGA, Files, bundle, publish, to_json, tool
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import Form, confirm, form_with

pytestmark = pytest.mark.django_db

EDIT = "/capabilities/alpha/edit/"
CHECK = "/capabilities/alpha/draft/check/"
SAVE = "/capabilities/alpha/draft/save/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


def _save(files: Files, based_on: int | None = None) -> int:
    return drafts.save_draft(capability_id="alpha", files=files, based_on=based_on, by=OLGA).version


def _stored() -> Files:
    return drafts.get_draft("alpha").files


def _form(client: Client) -> Form:
    return form_with(client.get(EDIT), "Save draft")


def _sent(files: Files, **more: Any) -> dict[str, Any]:
    return {FIELDS[name]: text for name, text in files.items()} | more


def test_it_opens_the_published_texts_where_there_is_no_draft(client: Client) -> None:
    publish()
    form = _form(client)
    assert form.values["skill_md"] == bundle()["skill.md"]
    assert form.values["based_on"] == ""


@pytest.mark.parametrize(
    ("triggers", "code"), [(["travel costs"], "TRIGGER_OVERLAP"), ([], "TRIGGERS_MISSING"), (["a trip"], "")]
)
def test_the_editor_counts_what_the_gate_says_of_triggers(triggers: list[str], code: str, client: Client) -> None:
    publish("other", intent_triggers=["travel costs"])
    publish()
    _save(bundle(intent_triggers=triggers, skill_profile="agent_skill"))
    pages = [client.get(EDIT).text, client.get("/capabilities/alpha/publish/").text]
    pages.append(client.post(CHECK, _sent(_stored()), headers=HTMX).text)
    for page in pages:
        assert {found for found in ("TRIGGER_OVERLAP", "TRIGGERS_MISSING") if f">{found}</code>" in page} == (
            {code} if code else set()
        )
    for editor in (pages[0], pages[2]):
        assert f'data-warnings="{1 if code else 0}"' in editor


def _suggested(client: Client) -> list[str]:
    facts = re.search(
        r'<script id="editor-facts" type="application/json">(.*?)</script>', client.get(EDIT).text, re.DOTALL
    )
    assert facts
    suggested: list[str] = json.loads(facts[1])["suggested_triggers"]
    return suggested


def test_phrases_are_suggested_where_triggers_are_few(client: Client) -> None:
    """As for an imported skill, which has none."""
    publish("other", intent_triggers=["travel costs"])
    publish()
    described: dict[str, Any] = {
        "name": "Expense Claims",
        "description": "Use it when somebody asks for travel costs, a hotel bill or a lost receipt.",
    }
    _save(bundle(skill_profile="agent_skill", intent_triggers=None, **described))
    assert _suggested(client) == ["expense claims", "hotel bill", "lost receipt"]
    _save(bundle(intent_triggers=["hotel bills"], **described), Draft.objects.get().version)
    assert _suggested(client) == ["expense claims", "lost receipt"]
    _save(bundle(intent_triggers=["one thing", "two things", "three things"], **described), Draft.objects.get().version)
    assert _suggested(client) == []


def test_it_opens_the_draft_where_there_is_one(client: Client) -> None:
    publish()
    version = _save(bundle(body="New."))
    form = _form(client)
    assert form.values["skill_md"] == bundle(body="New.")["skill.md"]
    assert form.values["based_on"] == str(version)


def test_saving_without_scripts_keeps_the_draft_and_comes_back(client: Client) -> None:
    publish()
    answer = _form(client).submit(client, skill_md="# Changed\n")
    assert answer["Location"] == EDIT
    assert _stored() == bundle() | {"skill.md": "# Changed\n"}
    assert AuditEvent.objects.filter(verb="draft.save", actor_name="the-author").count() == 1


def test_an_empty_form_makes_no_draft(client: Client) -> None:
    """With supporting files too, which a save of the four files leaves as they are."""
    publication.publish(files=bundle() | {"references/a.md": "Text.\n"}, by=OLGA)
    answer = client.post(SAVE, {})
    assert answer.status_code == 422
    assert "nothing to save" in answer.text
    assert not Draft.objects.exists()


def test_save_and_review_leads_to_the_gate(client: Client) -> None:
    publish()
    assert _form(client).submit(client, then="publish")["Location"] == "/capabilities/alpha/publish/"


ODD_TEXTS = [
    "\n\n two leading newlines",
    "trailing spaces   \n\t tabs\t\n\n\n",
    "no newline at the end",
    "a lone \r carriage return, and \r\n another",
    "</textarea><script>alert(1)</script>&amp;&lt;",
    "\u202e bidi \u2066 isolates \u200b zero width \ufeff bom inside \u2028 line separator \x0c form feed",
    "🍎 \U0010ffff 漢字 a\u0301",
    "   ",
    "\n",
]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_an_untouched_save_changes_no_byte(text: str, client: Client) -> None:
    files = {"capability.json": to_json({"capability_id": "alpha"}), "skill.md": text, "tools.json": "[]"}
    _save(files)
    before = _stored()
    for _ in range(2):
        assert _form(client).submit(client).status_code == 302
        assert _stored() == before
    assert "<script>alert" not in client.get(EDIT).content.decode()


@pytest.mark.parametrize(
    "files",
    [
        {"capability.json": "{}", "skill.md": "# A"},
        {"capability.json": "{}", "skill.md": "# A", "tools.json": "[]", "ui_schemas.json": "[]\n"},
        {"capability.json": "{}", "skill.md": "# A", "ui_schemas.json": ""},
        {"skill.md": ""},
        {"tools.json": "[]"},
        {},
    ],
)
def test_a_file_that_is_absent_stays_absent_and_an_empty_one_empty(files: Files, client: Client) -> None:
    _save(files, based_on=_save(bundle()))
    _form(client).submit(client)
    assert _stored() == files


def test_emptying_a_file_takes_it_away(client: Client) -> None:
    _save(bundle("alpha", [tool("alpha_list")]))
    _form(client).submit(client, tools_json="")
    assert _stored() == {
        name: text for name, text in bundle("alpha", [tool("alpha_list")]).items() if name != "tools.json"
    }


def test_checking_finds_and_stores_nothing(client: Client) -> None:
    publish()
    answer = client.post(CHECK, _sent(bundle() | {"tools.json": '[\n  {"name": 🍎 1}]'}), headers=HTMX)
    page = answer.content.decode()
    assert "JSON_INVALID" in page
    assert 'data-file="tools.json"' in page
    assert 'data-line="2"' in page
    assert "<html" not in page
    assert Draft.objects.count() == 0


def test_the_findings_are_the_same_part_of_the_page(client: Client) -> None:
    _save(bundle() | {"tools.json": "["})
    page = client.get(EDIT).content
    fragment = client.post(CHECK, _form(client).values, headers=HTMX).content
    findings, outline = fragment.split(b'<div hx-swap-oob="innerHTML:#outline">')
    assert b"JSON_INVALID" in findings
    assert findings.strip() in page
    assert outline.strip().removesuffix(b"</div>").strip() in page


def test_a_check_never_tells_the_version(client: Client) -> None:
    """Its answer may come after that of a save: the next save would then be taken for a stale one."""
    version = _save(bundle())
    assert b"based_on" not in client.post(CHECK, _sent(bundle(), based_on=str(version)), headers=HTMX).content


def test_what_the_gate_would_refuse_is_found_while_typing(client: Client) -> None:
    publish()
    publish("beta", [tool("beta_list")])
    taken = client.post(CHECK, _sent(bundle("alpha", [tool("beta_list")])), headers=HTMX).content.decode()
    assert "TOOL_NAME_COLLISION" in taken
    renamed = client.post(CHECK, _sent(bundle("gamma")), headers=HTMX).content.decode()
    assert "this is the draft of &#x27;alpha&#x27;" in renamed
    assert 'data-line="2" data-column="' in renamed.replace("\n", " ").replace("  ", "")


def test_saving_with_htmx_answers_findings_and_the_new_version(client: Client) -> None:
    version = _save(bundle())
    answer = client.post(SAVE, _sent(bundle(body="New."), based_on=str(version)), headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'hx-swap-oob="innerHTML:#save-state"' in page
    # The bar above shows the name that was saved.
    assert "<bdi>Alpha</bdi>" in page.partition('hx-swap-oob="innerHTML:#draft-name"')[2]
    assert f'value="{version + 1}"' in page
    assert "Saved just now" in page
    assert "<html" not in page
    # Why a save was refused stays until the next save: the answer of a check leaves it alone.
    assert 'hx-swap-oob="innerHTML:#save-refusal"' in page
    assert "save-refusal" not in client.post(CHECK, _sent(bundle()), headers=HTMX).content.decode()
    assert 'id="save-refusal"' in client.get(EDIT).content.decode()


def test_a_page_that_is_left_saves_the_changed_file_alone(client: Client) -> None:
    files = bundle(tools=[tool("alpha_list")])
    version = _save(files)
    sent = {"skill_md": files["skill.md"] + "\nMore.\n", "based_on": str(version), "only_changed": "yes"}
    answer = client.post(SAVE, sent, headers=HTMX)
    assert answer.status_code == 200
    assert _stored() == files | {"skill.md": sent["skill_md"]}
    # A file that was emptied is sent, and goes.
    sent = {"tools_json": "", "based_on": str(version + 1), "only_changed": "yes"}
    assert client.post(SAVE, sent, headers=HTMX).status_code == 200
    assert "tools.json" not in _stored()
    # As everywhere, what somebody else saved meanwhile is not overwritten.
    assert client.post(SAVE, sent, headers=HTMX).status_code == 409


def test_what_one_person_typed_is_not_saved_as_another(client: Client, signed_in: SignIn) -> None:
    publish()
    form = _form(client)
    typed = form.values | {"skill_md": "# Typed by the author"}
    other = signed_in("publisher")
    answer = other.post(SAVE, typed, headers=HTMX)
    assert answer.status_code == 422
    assert "You&#x27;re signed in as the-publisher now, and this was typed as the-author" in answer.content.decode()
    assert not Draft.objects.exists()
    # Without scripts the page comes back with the text, and says as whom it is saved the next time.
    form.values |= typed
    again = form_with(form.submit(other), "Save draft")
    assert again.values["skill_md"].strip() == "# Typed by the author"
    assert again.submit(other).status_code == 302
    assert Draft.objects.get().saved_by == "operator:the-publisher"


@pytest.mark.parametrize("typed_by", ["", "x", "9" * 400, "-1"])
def test_an_odd_author_is_none(typed_by: str, client: Client) -> None:
    publish()
    assert client.post(SAVE, _sent(bundle(), based_on="", typed_by=typed_by), headers=HTMX).status_code == 200


def test_a_stale_save_shows_both_texts_and_loses_neither(client: Client) -> None:
    first = _save(bundle())
    form = _form(client)
    second = _save(bundle(body="Theirs."), first)
    conflict = form.submit(client, skill_md="\n# Mine\n")
    page = conflict.content.decode()
    assert conflict.status_code == 409
    assert "Theirs." in page
    assert "# Mine" in page
    assert _stored() == bundle(body="Theirs.")
    assert page.count("<h2>") == 1, "a file that is the same in both is not shown"
    mine = form_with(conflict, "Keep mine")
    assert mine.values["based_on"] == str(second)
    assert mine.submit(client)["Location"] == EDIT
    assert _stored() == bundle() | {"skill.md": "\n# Mine\n"}


@pytest.mark.parametrize(
    ("by", "title"),
    [
        (Actor("operator", "paul"), "paul saved this draft"),
        (Actor("agent_key", "<b>ci</b>"), "API key &lt;b&gt;ci&lt;/b&gt; saved this draft"),
        (Actor("operator", "the-author"), "You saved this draft in another tab"),
    ],
)
def test_a_conflict_says_who_saved(by: Actor, title: str, client: Client) -> None:
    publish()
    form = _form(client)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Theirs."), based_on=None, by=by)
    assert f"<h1>{title}</h1>" in form.submit(client, skill_md="# Mine\n").content.decode()


def test_a_first_draft_beside_another_first_draft_is_a_conflict_too(client: Client) -> None:
    publish()
    form = _form(client)
    _save(bundle(body="Theirs."))
    assert form.submit(client).status_code == 409


def test_a_save_after_the_draft_was_published_is_a_conflict_that_can_be_resolved(client: Client) -> None:
    _save(bundle())
    form = _form(client)
    publish()
    conflict = form.submit(client, skill_md="# Mine\n")
    assert conflict.status_code == 409
    assert "<h1>This draft was published or discarded</h1>" in conflict.content.decode()
    form_with(conflict, "Keep mine").submit(client)
    assert _stored()["skill.md"] == "# Mine\n"


def test_what_others_wrote_is_text_in_a_conflict(client: Client) -> None:
    first = _save(bundle())
    form = _form(client)
    _save(bundle() | {"skill.md": "</textarea><script>alert(1)</script>"}, first)
    page = form.submit(client, skill_md="</textarea><script>alert(2)</script>").content.decode()
    assert "<script>alert" not in page


@pytest.mark.both_databases
@pytest.mark.parametrize("based_on", ["", "0", "99", "-1", "x", "1.0", "9" * 400, "\0", "²", " 1"])
def test_an_odd_version_is_a_conflict_and_no_error(based_on: str, client: Client) -> None:
    _save(bundle())
    assert client.post(SAVE, _sent(bundle(body="New."), based_on=based_on)).status_code == 409
    assert _stored() == bundle()


LARGE = "x" * (1024 * 1024 + 1)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_text_that_is_too_large_is_refused_in_words(headers: dict[str, str], client: Client) -> None:
    version = _save(bundle())
    answer = client.post(SAVE, _sent(bundle() | {"skill.md": LARGE}, based_on=str(version)), headers=headers)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Couldn't save: skill.md is too large" in page
    assert f'value="{version}"' in page
    assert _stored() == bundle()
    if not headers:
        assert LARGE in page
        assert "data-unsaved" in page


def test_two_mebibytes_of_text_are_stored_and_checked(client: Client) -> None:
    files = {"capability.json": "{}", "skill.md": "ü" * 500_000, "tools.json": '"' + "x" * 1_000_000 + '"'}
    version = _save(bundle())
    assert client.post(CHECK, _sent(files), headers=HTMX).status_code == 200
    assert client.post(SAVE, _sent(files, based_on=str(version)), headers=HTMX).status_code == 200
    assert _stored() == files


def test_a_body_beyond_the_bound_is_refused_before_it_is_read(client: Client) -> None:
    publish()
    body = b"skill_md=" + b"x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    answer = client.post(SAVE, body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 400
    assert b"2 MiB in total" in answer.content


@pytest.mark.both_databases
def test_nul_is_named_and_never_breaks_the_store(client: Client) -> None:
    version = _save(bundle())
    sent = _sent(bundle() | {"skill.md": "# A\0B\n"}, based_on=str(version))
    assert "TEXT_NUL" in client.post(CHECK, sent, headers=HTMX).content.decode()
    assert client.post(SAVE, sent).status_code == 302
    assert _stored()["skill.md"] == "# A\ufffdB\n"


def test_many_findings_are_shown_as_far_as_anybody_reads(client: Client) -> None:
    _save(bundle() | {"tools.json": to_json([{} for _ in range(200)])})
    page = client.get(EDIT).content.decode()
    assert page.count('<li class="issue') == 200
    assert "more issues</p>" in page
    total = len(drafts.validate_draft(drafts.get_draft("alpha")).findings)
    assert total > 200
    assert re.search(rf'data-errors="{total}"\s+data-warnings="0"', page)


def test_errors_come_before_warnings_each_in_file_order(client: Client) -> None:
    _save(bundle(body="**User:** what a user would say") | {"tools.json": "[\n  1,\n]"})
    page = client.post(CHECK, _sent(_stored()), headers=HTMX).content.decode()
    weights = re.findall(r'<li class="issue issue--(\w+)"', page)
    assert "warning" in weights
    assert weights == sorted(weights)
    assert weights[0] == "error"


def test_a_missing_field_is_an_absent_file(client: Client) -> None:
    version = _save(bundle())
    client.post(SAVE, {"skill_md": "# A\n", "based_on": str(version)})
    assert _stored() == {"skill.md": "# A\n"}


def test_discarding_puts_the_draft_away(client: Client) -> None:
    publish()
    _save(bundle(body="New."))
    answer = confirm(client, form_with(client.get(EDIT), "Discard draft").submit(client))
    assert answer["Location"] == "/capabilities/alpha/"
    assert Draft.objects.get(version=1).discarded_at is not None
    assert client.post("/capabilities/alpha/draft/discard/", follow=True).status_code == 200


def test_there_is_nothing_to_discard_before_the_first_save(client: Client) -> None:
    publish()
    assert "Discard draft" not in client.get(EDIT).content.decode()


def test_a_finding_leads_to_its_place(client: Client) -> None:
    _save(bundle() | {"tools.json": "[\n  1,\n]"})
    page = client.get(EDIT).content.decode()
    assert "?file=tools.json&amp;line=3&amp;column=1#file-toolsjson" in page


def test_a_finding_names_the_field_that_writes_it_or_the_row_that_holds_it(client: Client) -> None:
    limit = {"type": "whole", "description": "How many."}
    files = bundle() | {"tools.json": to_json([tool("alpha_list", properties={"limit": limit}, odd=1)])}
    _save(files)
    for page in (client.get(EDIT), client.post(CHECK, _sent(files), headers=HTMX)):
        text = " ".join(page.content.decode().split()).replace(" >", ">")
        assert 'data-field="/0/args_schema/properties/limit/type"><span class="issue__where">Tools · alpha_list' in text
        assert 'data-field="/0" data-unwritten><span class="issue__where">Tools · alpha_list' in text
        assert '<span class="issue__file">tools.json:' in text


@pytest.mark.parametrize(
    ("utterances", "query"),
    [
        ({"should_match": ["I slept & woke", "b"], "should_not_match": []}, "drafts=yes&amp;m=I+slept+%26+woke"),
        ({"should_match": []}, "drafts=yes"),
        ({"should_match": [1]}, "drafts=yes"),
        (3, "drafts=yes"),
    ],
)
def test_the_playground_is_opened_with_the_first_example_said(utterances: Any, query: str, client: Client) -> None:
    _save(bundle() | {"capability.json": to_json({"capability_id": "alpha", "utterances": utterances})})
    assert f'href="/playground/?{query}"' in client.get(EDIT).content.decode()
