"""Every list page asks the database as often for many rows as for few."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from features.sources import source_sync
from registry.access import agent_keys, operators, teams
from registry.catalog import drafts, incidents
from registry.common.actors import Actor
from registry.matching import skill_groups
from registry.models import LoadCount, Review, Revision, Team, UnknownCapabilityRequest, UnmatchedMessage, Webhook
from registry.notifications import webhooks
from registry.publishing import proposals, publication, release_rules, reviews, scheduled_releases
from registry.usage import feedback
from tests.factories import OLGA, bundle, tool
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db

AGENT = Actor("agent_key", "agent")
PAGES = (
    "/",
    "/capabilities/",
    "/capabilities/?q=alpha",
    "/capabilities/?status=published&sort=-loads",
    "/capability-ids/",
    "/matrix/",
    "/skill-groups/",
    "/skill-groups/g0/",
    "/reviews/",
    "/reviews/?show=work",
    "/reviews/?show=all",
    "/reviews/{review}/",
    "/releases/",
    "/proposals/",
    "/demand/",
    "/demand/?what=messages",
    "/incidents/",
    "/sources/",
    "/feedback/",
    "/feedback/?order=most",
    "/capabilities/alpha0/feedback/",
    "/usage/",
    "/usage/?by=key&days=365",
    "/usage/?by=revision",
    "/teams/",
    "/teams/{team}/",
    "/members/",
    "/keys/",
    "/keys/?state=all",
    "/webhooks/",
    "/webhooks/{webhook}/",
    "/audit/",
    "/audit/?who=olga",
    "/settings/publishing/",
    "/capabilities/alpha0/",
    "/capabilities/alpha0/history/",
    "/new-capability/",
    "/new-capability/copy/",
    "/playground/",
    "/palette/?q=alpha",
)


def _grow(number: int) -> None:
    """One more of everything that is listed."""
    name = f"alpha{number}"
    files = bundle(name, [tool(f"{name}_list")], skill_groups=[f"g{number % 3}"])
    assert publication.publish(files=files, by=OLGA).status == "published"
    files["skill.md"] += "\nMore.\n"
    draft = drafts.save_draft(capability_id=name, files=files, based_on=None, by=OLGA)
    reviews.request_review(capability_id=name, draft_version=draft.version, by=OLGA, note="Please")
    due = timezone.now() + timedelta(days=1, minutes=number)
    made = scheduled_releases.schedule_release(
        capability_id=name, draft_version=draft.version, due_at=due, by=OLGA, note="At night"
    )
    assert made.release is not None
    skill_groups.set_group(group_id=f"g{number}", by=OLGA, name=f"G {number}", description="What they have in common")
    release_rules.set_rule(group_id=f"g{number}", four_eyes=False, loosening="publisher", note_required=False, by=OLGA)
    feedback.record_outcome(capability_id=name, outcome="confirmed_failure", by=AGENT)
    revision = Revision.objects.select_related("capability").get(capability__capability_id=name)
    incidents.open_incident(revision=revision, message="It could not be read", details="Why", findings=())
    files["skill.md"] += "\nProposed.\n"
    proposals.propose(files=files, by=Actor("agent_key", f"agent {number}"), note="Better")
    _grow_people(number, name)
    # What is counted in memory and added later.
    LoadCount.objects.create(day=date.today(), capability_id=name, revision=1, key_name=f"k{number}", count=3)  # noqa: DTZ011
    UnknownCapabilityRequest.objects.create(capability_id=f"wish{number}", count=2, requested_by={"k": 2})
    UnmatchedMessage.objects.create(form=name, text=f"word{number} please", decision="none", count=1, nearest=name)


def _grow_people(number: int, name: str) -> None:
    operators.invite_operator(username=f"person{number}", role="author", by=OLGA)
    teams.create_team(name=f"Team {number}", description="More", by=OLGA)
    one = Team.objects.get(name="Team 0")
    teams.add_member(key=one.pk, username=f"person{number}", by=OLGA)
    teams.set_owning_team(capability_id=name, key=one.pk, by=OLGA)
    agent_keys.create_key(name=f"k{number}", by=OLGA)
    webhooks.create_webhook(name=f"hook{number}", url="https://hooks.example.com/x", by=OLGA)
    webhooks.send_test(name="hook0", by=OLGA)
    source_sync.add_git_source(spec=f"https://git.example/{name}", mode="draft", every_minutes=60, by=OLGA)


def _queries(client: Client) -> dict[str, int]:
    first = {"review": Review, "team": Team, "webhook": Webhook}
    numbers = {name: model.objects.order_by("pk").first().pk for name, model in first.items()}  # type: ignore[attr-defined]
    found = {}
    for page in (address.format(**numbers) for address in PAGES):
        # What a process keeps is there from the first time on.
        answer = client.get(page)
        assert answer.status_code == 200, page
        with CaptureQueriesContext(connection) as queries:
            client.get(page)
        found[page] = len(queries)
    return found


@pytest.mark.slow
def test_no_list_asks_more_often_where_there_is_more(signed_in: SignIn) -> None:
    client = signed_in("admin")
    for number in range(2):
        _grow(number)
    few = _queries(client)
    for number in range(2, 12):
        _grow(number)
    assert _queries(client) == few
    assert Webhook.objects.count() == 12
    assert max(few.values()) <= 30, few
