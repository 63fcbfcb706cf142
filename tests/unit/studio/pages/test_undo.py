"""The message on what was done has the button that takes it back, where one POST can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from features.webhooks import webhook_store
from features.webhooks.models import Webhook
from registry.access import operators, teams
from registry.catalog import drafts
from registry.catalog.first_run import get_first_run, set_first_run
from registry.models import Capability, Operator, Review, ReviewEntry, Team, UnknownCapabilityRequest
from registry.publishing import publication, review_comments, reviews
from registry.usage import usage_counters
from tests.factories import OLGA, bundle, publish
from tests.unit.studio.conftest import SignIn, make_operator
from tests.unit.studio.forms import confirm, form_with, forms_in

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Case:
    """`done` is what the state is after the act; afterwards it is again what it was before."""

    address: str
    sent: dict[str, Any]
    state: Callable[[], Any]
    done: Any
    asks: bool = False


def _capability() -> tuple[str, str | None]:
    row = Capability.objects.get(capability_id="alpha")
    return row.status, row.replaced_by.capability_id if row.replaced_by else None


def _files() -> dict[str, str] | None:
    draft = drafts.get_active_draft(Capability.objects.get(capability_id="alpha"))
    return dict(draft.files) if draft else None


def _owner() -> str | None:
    team = Capability.objects.get(capability_id="beta").team
    return team.name if team else None


def _role() -> tuple[str, bool]:
    row = Operator.objects.get(username="the-author")
    return row.role, row.is_active


def _comment() -> bool:
    return ReviewEntry.objects.get(kind="comment").resolved_at is not None


def _members() -> list[str]:
    return [member.username for member in teams.get_team_page(Team.objects.get().pk).members]


FILES = {**bundle(body="Two."), "references/units.md": "# Units"}
NEWEST = bundle(body="Three.")
CASES: dict[str, Case] = {
    "deprecate": Case("/capabilities/alpha/deprecate/", {"replaced_by": "beta"}, _capability, ("deprecated", "beta")),
    "retire": Case(
        "/capabilities/alpha/retire/", {"note": "x", "typed": "alpha"}, _capability, ("retired", None), asks=True
    ),
    "unlist": Case(
        "/capabilities/alpha/share/visibility/",
        {"visibility": "unlisted"},
        lambda: Capability.objects.get(capability_id="alpha").visibility,
        "unlisted",
        asks=True,
    ),
    "first run": Case("/capabilities/beta/share/first-run/", {"first_run": "yes"}, get_first_run, "beta"),
    "discard": Case("/capabilities/alpha/draft/discard/", {}, _files, None, asks=True),
    "remove file": Case(
        "/capabilities/alpha/files/remove/", {"path": "references/units.md"}, _files, bundle(body="Two."), asks=True
    ),
    "disable member": Case("/members/disable/", {"username": "the-author"}, _role, ("author", False), asks=True),
    "role": Case("/members/role/", {"username": "the-author", "role": "viewer"}, _role, ("viewer", True)),
    "disable webhook": Case(
        "/webhooks/{webhook}/disable/",
        {},
        lambda: Webhook.objects.get().disabled_at is not None,
        done=True,
        asks=True,
    ),
    "team member": Case("/teams/{team}/remove-member/", {"username": "the-author"}, _members, [], asks=True),
    "team capability": Case("/teams/{team}/disown/", {"owned": "beta"}, _owner, None, asks=True),
    "resolve": Case("/reviews/{review}/resolve/", {"entry": "{entry}"}, _comment, done=True),
    "dismiss": Case(
        "/demand/dismiss/",
        {"what": "ids", "chosen": "sleep"},
        lambda: UnknownCapabilityRequest.objects.get().dismissed_at is not None,
        done=True,
    ),
}


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    """The browser of an admin in a registry with something for each case."""
    make_operator("author")
    publish()
    publish("beta")
    set_first_run(capability_id="alpha", by=OLGA)
    drafts.save_draft(capability_id="alpha", files=FILES, based_on=None, by=OLGA)
    reviews.request_review(capability_id="alpha", draft_version=1, by=OLGA, note="Look")
    review_comments.add_comment(review_id=Review.objects.get().pk, by=OLGA, words="Why?")
    team = teams.create_team(name="Owners", by=OLGA)
    teams.add_member(key=team.pk, username="the-author", by=OLGA)
    teams.set_owning_team(capability_id="beta", key=team.pk, by=OLGA)
    webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    usage_counters.count_miss("sleep", key_name="agent")
    usage_counters.flush()
    return signed_in()


def _filled(text: str) -> str:
    return text.format(
        webhook=Webhook.objects.get().pk,
        team=Team.objects.get().pk,
        review=Review.objects.get().pk,
        entry=ReviewEntry.objects.get(kind="comment").pk,
    )


def _do(client: Client, case: Case) -> Any:
    """The page after the act."""
    address, sent = _filled(case.address), {name: _filled(value) for name, value in case.sent.items()}
    answer = client.post(address, sent)
    if case.asks:
        answer = confirm(client, answer, **sent)
    assert answer.status_code == 302, answer.content.decode()
    return client.get(answer["Location"])


@pytest.mark.parametrize("name", sorted(CASES))
def test_undo_takes_it_back(name: str, client: Client) -> None:
    case = CASES[name]
    before = case.state()
    page = _do(client, case)
    assert case.state() == case.done != before
    after = client.get(form_with(page, "Undo").submit(client)["Location"])
    assert case.state() == before
    assert after.status_code == 200


def test_undo_of_a_restored_version_gives_the_text_before(client: Client) -> None:
    drafts.save_draft(capability_id="alpha", files=NEWEST, based_on=1, by=OLGA)
    answer = client.post("/capabilities/alpha/draft/history/1/restore/", {"based_on": "2"})
    assert _files() == FILES
    form_with(client.get(answer["Location"]), "Undo").submit(client)
    assert _files() == NEWEST


def test_undo_of_a_late_restore_changes_nothing(client: Client) -> None:
    page = _do(client, CASES["remove file"])
    drafts.save_draft(capability_id="alpha", files=NEWEST, based_on=2, by=OLGA)
    form_with(page, "Undo").submit(client)
    assert _files() == NEWEST


def test_undo_sends_all_that_was_dismissed(client: Client) -> None:
    usage_counters.count_miss("walk", key_name="agent")
    usage_counters.flush()
    page = client.post("/demand/dismiss/", {"what": "ids", "chosen": ["sleep", "walk"]}, follow=True)
    undo = next(message for message in page.context["messages"])
    assert '["sleep", "walk"]' in undo.extra_tags
    form_with(page, "Undo")


def test_what_has_no_reverse_has_no_button(client: Client) -> None:
    publication.deprecate(capability_id="alpha", by=OLGA)
    page = _do(client, CASES["retire"])
    assert "retired" in page.content.decode()
    assert not [form for form in forms_in(page) if "Undo" in form.buttons]
    operators.set_role(username="the-author", role="viewer", by=OLGA)
    assert not [form for form in forms_in(_do(client, CASES["role"])) if "Undo" in form.buttons]
