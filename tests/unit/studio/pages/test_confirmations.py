"""No irreversible action is one click: every POST of the Studio is confirmed first, or can be undone."""

from __future__ import annotations

import copy
import html
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from features.sources.models import GitSource
from registry.access import agent_keys, operators, teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import Forbidden
from registry.feature import list_registry_models
from registry.matching import skill_groups
from registry.models import (
    AgentKey,
    AuditEvent,
    Capability,
    Draft,
    FeedbackEvent,
    LoadCount,
    Operator,
    Proposal,
    Review,
    ScheduledRelease,
    Team,
)
from registry.publishing import proposals, publication, reviews, scheduled_releases
from registry.publishing.quarantine import quarantine
from registry.usage import feedback
from registry.usage.outcome_reports import ReportedReason
from studio.pages.urls import urlpatterns
from tests import feature_pages
from tests.factories import OLGA, bundle, publish
from tests.second_factors import enable_app
from tests.sweeps import check_each, rolled_back
from tests.unit.registry.publishing.test_release_rules import set_rule
from tests.unit.studio.conftest import SignIn, make_operator
from tests.unit.studio.forms import ask_and_confirm, confirm, confirmation_in, form_with, forms_in
from tests.unit.studio.pages.test_permissions import OPEN, RULES

pytestmark = pytest.mark.django_db

ADMIN = Actor("operator", "the-admin")
# What each confirmed address is about, as its button sends it; a function where the number is known only then.
CONFIRMED: dict[str, Callable[[], dict[str, Any]]] = {
    "agent_key_revoke": lambda: {"name": "agent"},
    "agent_key_rotate": lambda: {"overlap": "0"},
    "bulk_deprecate": lambda: {"chosen": ["alpha"]},
    "capability_retire": dict,
    "capability_quarantine": dict,
    "capability_restore": dict,
    "draft_discard": dict,
    "app_disable": lambda: {"what": "app"},
    "passkey_remove": lambda: {"key": str(Authenticator.objects.get(type="webauthn").pk)},
    "recovery_codes_replace": lambda: {"what": "codes"},
    "operator_disable": lambda: {"username": "the-author"},
    "operator_reset": lambda: {"username": "the-author"},
    "outcome_erase": lambda: {"event_id": str(FeedbackEvent.objects.get().event_id)},
    "proposal_reject": dict,
    "release_cancel": lambda: {"release": str(ScheduledRelease.objects.get().pk)},
    "release_rule_drop": lambda: {"group_id": "health"},
    "review_withdraw": lambda: {"words": "Too early"},
    "skill_group_remove": dict,
    "supporting_remove": lambda: {"path": "references/units.md"},
    "team_delete": dict,
    "team_disown": lambda: {"owned": "beta"},
    "team_remove_member": lambda: {"username": "the-author"},
    **{name: about for pages in feature_pages.ALL for name, about in pages.confirmed.items()},
}
# What a single click may do, and the way back.
REVERSIBLE = {
    "agent_key_change": "the rights can be changed back",
    "app_enable": "Remove app on the same page",
    "passkey_add": "Remove on the same page",
    "passkey_options": "hands out a challenge, which is good once",
    "passkey_rename": "the name can be set back",
    "passkey_sign_in": "Sign out",
    "session_end": "Sign in again there",
    "session_end_others": "Sign in again there",
    "agent_key_list": "creates a key, which can be revoked",
    "bulk_export": "reads",
    "bulk_revalidate": "queues checks",
    "backup_show": "reads; asks who it is, since the file contains secrets",
    "capability_copy": "creates a draft, which can be discarded",
    "capability_live": "creates a key, which can be revoked",
    "capability_deprecate": "Restore on the same page; agents can still load it",
    "capability_files": "creates drafts; replacing one asks for a tick, and the earlier draft is kept for 30 days",
    "capability_git": "creates drafts; replacing one asks for a tick, and the earlier draft is kept for 30 days",
    "capability_new": "creates a draft, which can be discarded",
    "demand_bring_back": "Dismiss on the same page",
    "demand_dismiss": "Bring back on the same page",
    "draft_action": "reads",
    "draft_check": "reads",
    "draft_form": "reads",
    "draft_merge": "a person has chosen for each conflict on the page before",
    "draft_preview": "reads",
    "draft_save": "the editor's undo; Draft history keeps what saves removed; published revisions are not touched",
    "draft_version_restore": "Restore version of the text it replaces, which Draft history keeps",
    "gate_show": "the page before shows the effect and asks for a note; Roll back",
    "operator_enable": "Deactivate on the same page",
    "operator_list": "creates an invitation; the member can be deactivated",
    "operator_details": "name and address can be set back",
    "operator_role": "the role can be set back; one's own is refused",
    "password": "asks for the current password",
    "proposal_accept": "the draft before is kept for 30 days",
    "release_change": "the time can be set back",
    "release_rule_list": "the policy can be set back",
    "release_schedule": "Cancel release",
    "review_ask": "Withdraw",
    "review_comment": "adds a comment",
    "review_decide": "publishes nothing; an approval ends with the next change of the draft, the author can ask again",
    "review_reviewer_add": "Remove on the same page",
    "review_reviewer_remove": "Undo; the person can be added again",
    "review_reopen": "Resolve on the same page",
    "review_reply": "adds a comment",
    "review_resolve": "Reopen on the same page",
    "rollback": "the page before shows the effect and asks for a note; roll forward on the same page",
    "sentence_add": "adds a line to a draft",
    "sign_in": "Sign out",
    "sign_out": "Sign in; drafts are saved",
    "skill_group_new": "the details can be deleted",
    "skill_group_save": "the details can be changed back",
    "supporting_save": "writes to the draft only",
    "team_add_member": "Remove on the same page",
    "team_change": "the name can be changed back",
    "team_create": "Delete team",
    "team_own": "Remove on the same page",
    "tour_leave": "Show on the page Help",
    "tour_step": "marks a step as seen",
    "tour_show": "Skip on Home",
    "welcome": "asks for a new password twice; the link works once",
    **{name: why for pages in feature_pages.ALL for name, why in pages.harmless.items()},
}


def test_every_post_is_classified() -> None:
    posts = {name for name, (_get, post) in RULES.items() if post} | OPEN
    assert set(CONFIRMED) | set(REVERSIBLE) == posts
    assert not set(CONFIRMED) & set(REVERSIBLE)
    marked = {pattern.name for pattern in urlpatterns if getattr(pattern.callback, "confirms_first", False)}
    assert marked == set(CONFIRMED)


@pytest.fixture
def world(signed_in: SignIn) -> Client:
    """Something for each question to be about; the browser of an admin."""
    client = signed_in("admin")
    make_operator("author")
    publish(skill_groups=["health"])
    publish("beta")
    LoadCount.objects.create(
        day=datetime.now(UTC).date(), capability_id="alpha", revision=1, key_name="agent", count=1520
    )
    files = {**bundle(body="Two."), "references/units.md": "# Units"}
    draft = drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=OLGA)
    reviews.request_review(capability_id="alpha", draft_version=draft.version, by=ADMIN, note="Look")
    scheduled_releases.schedule_release(
        capability_id="alpha",
        draft_version=draft.version,
        due_at=timezone.now() + timedelta(hours=3),
        by=ADMIN,
        note="At night",
        acknowledge=["LOSES_SENTENCES"],
    )
    skill_groups.set_group(group_id="health", by=OLGA, description="Body.")
    set_rule("health", note_required=True)
    agent_keys.create_key(name="agent", by=OLGA)
    team = teams.create_team(name="Owners", by=OLGA)
    teams.add_member(key=team.pk, username="the-author", by=OLGA)
    proposals.propose(files=bundle("gamma"), by=Actor("agent_key", "agent"))
    said = ReportedReason("No slot")
    feedback.record_outcome(capability_id="alpha", outcome="likely_failure", by=Actor("agent_key", "agent"), said=said)
    for pages in feature_pages.ALL:
        pages.furnish()
    enable_app(operators.get_operator("the-admin"))
    Authenticator.objects.create(
        user=operators.get_operator("the-admin"), type="webauthn", data={"name": "Key", "credential": {}}
    )
    return client


def _address(name: str) -> str:
    route = str(next(pattern for pattern in urlpatterns if pattern.name == name).pattern)
    numbered = {"agent_key": AgentKey, "review_": Review, "team": Team}
    numbered |= feature_pages.NUMBERED
    there: dict[str, Any] = {"capability_id": "alpha", "group_id": "health", "tool_name": "pets"}
    there["set_id"] = "alpha"
    if "proposal_id" in route:
        there["proposal_id"] = Proposal.objects.get().proposal_id
    if "number" in route:
        model = next(model for noun, model in numbered.items() if name.startswith(noun))
        there["number"] = model._default_manager.get().pk
    return reverse(f"studio:{name}", kwargs={key: value for key, value in there.items() if f":{key}>" in route})


def _prepare(name: str) -> None:
    """What only one of the questions is about."""
    if name == "capability_restore":
        quarantine(capability_id="alpha", by=OLGA)
    if name == "team_disown":
        teams.set_owning_team(capability_id="beta", key=Team.objects.get().pk, by=OLGA)


def _stored() -> dict[str, list[dict[str, Any]]]:
    """Every row of the registry."""
    models = list_registry_models()
    found = {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}
    for row in found["Operator"]:
        row.pop("last_login")
    return found


def _check_each_question(world: Client, check: Callable[[str, Client], None]) -> None:
    """Each in the same world, with a browser of its own: some end the session that they are asked in."""

    def check_one(name: str) -> None:
        client = Client()
        client.cookies = copy.deepcopy(world.cookies)
        _prepare(name)
        check(name, client)

    check_each(sorted(CONFIRMED), check_one, name=str, isolate=rolled_back)


def test_nothing_happens_before_it_is_confirmed_and_then_it_happens_once(world: Client) -> None:
    _check_each_question(world, _nothing_happens_before_it_is_confirmed_and_then_it_happens_once)


def _nothing_happens_before_it_is_confirmed_and_then_it_happens_once(name: str, world: Client) -> None:
    about, address, before = CONFIRMED[name](), _address(name), _stored()
    asked = world.post(address, about)
    for answer in (world.get(address, about), asked):
        form = confirmation_in(answer)
        assert answer.status_code == 200
        assert len(form.buttons) == 1
        buttons = answer.content.decode().split('class="dialog__foot"')[1]
        assert len(re.findall(r">\s*Cancel\b", buttons)) == 1, "one thing is called Cancel"
        assert 'class="btn btn--danger"' in answer.content.decode()
        assert {key: form.values[key] for key in about if key != "chosen"} == {
            key: value for key, value in about.items() if key != "chosen"
        }
    assert world.get(asked.context["cancel"]).status_code == 200
    assert _stored() == before
    typed = {"note": "Why", "typed": asked.context["question"].typed, **about}
    done = confirm(world, asked, **typed)
    assert done.status_code in (200, 302), done.content.decode()
    after = _stored()
    assert len(after["AuditEvent"]) > len(before["AuditEvent"])
    if name in ("agent_key_rotate", "operator_reset", "recovery_codes_replace", "source_secret", "webhook_rotate"):
        # Each press shows another secret, and the one that is shown last is the one that is valid.
        return
    again = confirm(world, asked, **typed)
    # A code that was replaced since is another one to ask about.
    assert again.status_code == (409 if name == "install_code_rotate" else 302)
    assert _stored() == after


@pytest.mark.slow
def test_a_page_from_elsewhere_is_not_led_back_to(world: Client) -> None:
    _check_each_question(world, _a_page_from_elsewhere_is_not_led_back_to)


def _a_page_from_elsewhere_is_not_led_back_to(name: str, world: Client) -> None:
    for before in ("https://elsewhere.example/x", "javascript:alert(1)", "//elsewhere.example/"):
        page = world.get(_address(name), CONFIRMED[name](), headers={"Referer": before})
        assert page.context["cancel"].startswith("/")
        assert "elsewhere" not in page.content.decode()


def test_cancel_leads_to_the_page_before(world: Client) -> None:
    page = world.get("/keys/revoke/", {"name": "agent"}, headers={"Referer": "http://testserver/keys/?state=all"})
    assert '<a class="btn" href="/keys/?state=all"' in " ".join(page.content.decode().split())
    assert confirmation_in(page).values["back"] == "/keys/?state=all"
    # A form that comes back with a fault keeps it.
    page = world.post("/capabilities/alpha/retire/", {"confirmed": "yes", "seen_state": "published", "back": "/usage/"})
    assert page.status_code == 400
    assert page.context["cancel"] == "/usage/"


@pytest.mark.slow
def test_a_dialog_asks_the_same_with_cancel_first(world: Client) -> None:
    _check_each_question(world, _a_dialog_asks_the_same_with_cancel_first)


def _a_dialog_asks_the_same_with_cancel_first(name: str, world: Client) -> None:
    page = world.get(_address(name), CONFIRMED[name]())
    before = _stored()
    asked = world.get(_address(name), CONFIRMED[name](), headers={"HX-Request": "true"})
    assert asked.status_code == 200
    assert "HX-Request" in asked["Vary"]
    fragment = asked.content.decode()
    assert "<html" not in fragment
    assert f'<h2 id="question">{page.context["question"].title}' in fragment.replace("&quot;", '"')
    assert fragment.index("data-cancel autofocus") < fragment.index("btn--danger")
    assert _stored() == before
    typed = {field: "Old" for field in ("note", "words") if f'name="{field}"' in fragment}
    typed |= {"typed": "alpha"} if 'name="typed"' in fragment else {}
    assert confirm(world, asked, **typed).status_code in (200, 302)
    assert _stored() != before


def test_a_dialog_is_not_opened_where_nothing_can_be_asked(world: Client) -> None:
    agent_keys.revoke_key(name="agent", by=ADMIN)
    fragment = {"HX-Request": "true"}
    assert world.get("/keys/revoke/", {"name": "agent"}, headers=fragment)["HX-Redirect"] == "/keys/"
    assert "already revoked" in world.get("/keys/").content.decode()
    key, _text = agent_keys.create_key(name="other", by=ADMIN)
    assert world.get(f"/keys/{key.pk}/rotate/", {"overlap": "24"}, headers=fragment).status_code == 204


def test_a_retirement_says_who_is_affected_and_asks_for_a_note_and_the_id(world: Client) -> None:
    LoadCount.objects.create(day=datetime.now(UTC).date(), capability_id="alpha", revision=1, key_name="", count=40)
    long_ago = datetime.now(UTC).date() - timedelta(days=30)
    LoadCount.objects.create(day=long_ago, capability_id="alpha", revision=1, key_name="old", count=7)
    publication.deprecate(capability_id="beta", replaced_by="alpha", by=OLGA)
    asked = world.get("/capabilities/alpha/retire/")
    page = " ".join(asked.content.decode().split())
    for words in (
        "<title> Retire capability “Alpha”?",
        "Calls from 1 key will fail: 1,520 loads in the last 30 days.",
        "40 loads without a key will fail too.",
        "Most used by: agent.",
        "Deprecated in favor of it, and then without a replacement: beta.",
        "is canceled",
        "You can restore it later",
        "Type <code>alpha</code> to confirm",
        ">Retire capability</button>",
    ):
        assert words in page or words.replace("<title> ", "<title>") in page, words
    assert re.search('id="note"[^>]* autofocus', page), "what is to be filled in comes first"
    for wrong in ({"note": "", "typed": "alpha"}, {"note": "Old", "typed": "Alpha"}, {"note": " ", "typed": ""}):
        refused = confirm(world, asked, **wrong)
        assert refused.status_code == 400
        form = confirmation_in(refused)
        assert (form.values["note"].strip(), form.values["typed"]) == (wrong["note"].strip(), wrong["typed"])
        assert 'aria-invalid="true"' in refused.content.decode()
        assert Capability.objects.get(capability_id="alpha").status == "published"
    assert confirm(world, asked, note="Old", typed=" alpha ")["Location"] == "/capabilities/alpha/"
    assert AuditEvent.objects.get(verb="capability.retire").detail["note"] == "Old"


def test_a_capability_that_nobody_loads_is_retired_with_a_note_alone(world: Client) -> None:
    asked = world.get("/capabilities/beta/retire/")
    assert "No agent loaded it in the last 30 days." in asked.content.decode()
    assert "typed" not in confirmation_in(asked).values
    assert confirm(world, asked, note="Unused").status_code == 302
    assert Capability.objects.get(capability_id="beta").status == "retired"


def test_several_say_how_often_they_are_loaded_in_one_query(world: Client) -> None:
    counts = []
    for chosen in (["beta"], ["alpha", "beta"], [f"c{number}" for number in range(100)]):
        with CaptureQueriesContext(connection) as queries:
            page = world.post("/bulk/deprecate/", {"chosen": chosen}).content.decode()
        counts.append(len(queries))
        assert ("1,520 loads in the last 30 days" in page) == ("alpha" in chosen)
    assert len(set(counts)) == 1


def test_a_key_says_what_it_may_do_and_when_it_was_used(world: Client) -> None:
    AgentKey.objects.update(last_used_at=timezone.now() - timedelta(hours=2))
    page = world.get("/keys/revoke/", {"name": "agent"}).content.decode()
    assert "Scopes: list and load capabilities, report outcomes." in page
    assert "2\xa0hours ago</time>." in page
    assert "1,520 loads of 1 capability in the last 30 days." in page
    agent_keys.create_key(name="new", by=OLGA)
    page = world.get("/keys/revoke/", {"name": "new"}).content.decode()
    assert "It was never used." in page
    assert "No loads in the last 30 days." in page


def test_a_key_that_was_revoked_meanwhile_is_said_to_be(world: Client) -> None:
    asked = world.get("/keys/revoke/", {"name": "agent"})
    agent_keys.revoke_key(name="agent", by=OLGA)
    assert confirm(world, asked)["Location"] == "/keys/"
    assert "API key agent was already revoked by olga." in world.get("/keys/").content.decode()
    assert AuditEvent.objects.filter(verb="agent_key.revoke").count() == 1


def test_a_key_is_replaced_without_a_question_where_the_old_one_stays_valid(world: Client) -> None:
    row = AgentKey.objects.get()
    assert world.post(f"/keys/{row.pk}/rotate/", {"overlap": "24"}).context["created"].startswith("csk_")
    # Now a second one is valid, and would end.
    asked = world.post(f"/keys/{row.pk}/rotate/", {"overlap": "24"})
    assert "The previous key, which still works after the last rotation, stops working" in asked.content.decode()
    assert confirm(world, asked).context["created"].startswith("csk_")


def test_a_draft_that_was_saved_meanwhile_is_not_discarded(world: Client) -> None:
    asked = world.get("/capabilities/alpha/draft/discard/")
    drafts.save_draft(capability_id="alpha", files=bundle(body="Three."), based_on=1, by=OLGA)
    answer = confirm(world, asked)
    assert answer.status_code == 409
    assert "This has changed since you opened the page." in answer.content.decode()
    assert "Draft version 2" in answer.content.decode()
    assert Draft.objects.filter(capability__capability_id="alpha", discarded_at__isnull=True).count() == 1
    assert confirm(world, answer).status_code == 302
    assert not Draft.objects.filter(capability__capability_id="alpha", discarded_at__isnull=True).exists()
    assert confirm(world, answer)["Location"] == "/capabilities/alpha/"
    assert "discarded or published already" in world.get("/capabilities/alpha/").content.decode()


def test_a_removed_file_can_be_restored_from_the_draft_history(world: Client) -> None:
    asked = world.get(_address("supporting_remove"), {"path": "references/units.md"})
    page = asked.content.decode()
    assert "This version of the file was never published." in page
    assert "You can restore the draft with this file from the draft history for 30 days." in page
    assert confirm(world, asked).status_code == 302
    assert "references/units.md" not in drafts.get_draft("alpha").files
    form_with(world.get("/capabilities/alpha/draft/history/1/"), "Restore version").submit(world)
    assert drafts.get_draft("alpha").files["references/units.md"] == "# Units"


def test_a_source_says_what_came_from_it_and_stays(world: Client) -> None:
    source = GitSource.objects.get()
    items = source.items
    now = timezone.now()
    for path, name in (("a", "alpha"), ("b", "beta")):
        items.create(path=path, capability_id=name, status="draft", imported_at=now, files_digest="sha256:" + "0" * 64)
    page = world.get(_address("source_remove")).content.decode()
    assert "2 imported capabilities stay: alpha, beta." in page
    assert "pushes are refused" in page


def test_a_member_says_what_is_theirs(world: Client) -> None:
    author = Actor("operator", "the-author")
    drafts.save_draft(capability_id="beta", files=bundle("beta", body="Mine."), based_on=None, by=author)
    reviews.request_review(capability_id="beta", draft_version=1, by=author, note="Look")
    page = world.get("/members/disable/", {"username": "the-author"}).content.decode()
    for words in (
        "Deactivate member “the-author”?",
        "the-author is signed out everywhere and can&#x27;t sign in.",
        "Their teams keep them as a member: Owners.",
        "Drafts that they saved last stay: beta.",
        "1 review that they submitted stays open.",
        "You can reactivate them later",
    ):
        assert words in page, words


def test_deactivating_lists_the_keys_that_go_on_working(world: Client) -> None:
    """Those that the member has seen, by creating or by rotating them, with a way to end each."""
    admin, other = Actor("operator", "the-publisher"), Actor("operator", "somebody")
    make_operator("publisher")
    operators.set_role(username="the-publisher", role="admin", by=OLGA)
    for name, by in (("mine & yours", admin), ("used", admin), ("ended", admin), ("theirs", other), ("rotated", other)):
        agent_keys.create_key(name=name, by=by, scopes=["read", "publish"] if name == "used" else ["read"])
    agent_keys.revoke_key(name="ended", by=OLGA)
    agent_keys.rotate_key(name="rotated", by=admin)
    AgentKey.objects.filter(name="used").update(last_used_at=timezone.now() - timedelta(days=3))
    page = world.get("/members/disable/", {"username": "the-publisher"}).content.decode()
    assert re.findall(r'data-key="([^"]*)"', page) == ["mine &amp; yours", "rotated", "used"]
    assert "3 API keys that they created or rotated keep working" in page
    rows = dict(zip(("mine", "rotated", "used"), re.findall(r"<li data-key.*?</li>", page, re.DOTALL), strict=True))
    assert "never used" in rows["mine"]
    assert "read, publish" in rows["used"]
    assert "3\xa0days ago" in rows["used"]
    revoke = html.unescape(re.findall(r'href="([^"]*)"', rows["mine"])[-1])
    assert revoke == "/keys/revoke/?name=mine%20%26%20yours"
    assert "Revoke API key “mine &amp; yours”?" in world.get(revoke).content.decode()


def test_a_member_without_keys_leaves_none(world: Client) -> None:
    page = world.get("/members/disable/", {"username": "the-author"}).content.decode()
    assert "No API key that they created or rotated is in force." in page


def test_nobody_deactivates_resets_or_demotes_themselves(world: Client) -> None:
    make_operator("publisher")
    operators.set_role(username="the-publisher", role="admin", by=OLGA)
    page = world.get("/members/")
    own = [form for form in forms_in(page) if form.values.get("username") == "the-admin"]
    assert not own
    assert 'aria-label="Deactivate the-publisher"' in page.content.decode()
    before = _stored()
    given = {"username": "the-admin", "confirmed": "yes", "seen_state": "", "role": "viewer"}
    for verb, words in (("disable", "deactivate yourself"), ("reset", "reset your own password")):
        for answer in (world.get(f"/members/{verb}/", given), world.post(f"/members/{verb}/", given)):
            assert answer.status_code == 403, verb
            assert words in answer.content.decode()
    answer = world.post("/members/role/", given)
    assert (answer.status_code, "change your own role" in answer.content.decode()) == (403, True)
    assert _stored() == before
    for refuse in (operators.disable_operator, operators.reset_password):
        with pytest.raises(Forbidden):
            refuse(username="the-admin", by=ADMIN)
    # At the command line of the server a name is not an account.
    operators.disable_operator(username="the-admin", by=Actor("command_line", "the-admin"))
    assert not Operator.objects.get(username="the-admin").is_active


def test_deactivating_twice_is_written_once(world: Client) -> None:
    ask_and_confirm(world, "/members/disable/", {"username": "the-author"})
    operators.disable_operator(username="the-author", by=OLGA)
    assert AuditEvent.objects.filter(verb="operator.disable").count() == 1


def test_a_publisher_withdraws_no_review_of_somebody_else(world: Client, signed_in: SignIn) -> None:
    review = Review.objects.get()
    client = signed_in("publisher")
    assert "/withdraw/" not in client.get(f"/reviews/{review.pk}/").content.decode()
    answer = client.post(f"/reviews/{review.pk}/withdraw/", {"confirmed": "yes", "seen_state": "1 open"})
    assert answer.status_code == 403
    assert "Only the author of the review and admins can cancel it." in answer.content.decode()
    assert Review.objects.get().state == "open"
    assert "/withdraw/" in world.get(f"/reviews/{review.pk}/").content.decode()


def test_names_are_text(world: Client) -> None:
    agent_keys.create_key(name='"><script>alert(1)</script>', by=OLGA)
    page = world.get("/keys/revoke/", {"name": '"><script>alert(1)</script>'}).content.decode()
    assert "<script>alert" not in page
    assert "Revoke API key “&quot;&gt;&lt;script&gt;" in page
