"""Every page asks the database as often for many rows as for few."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from features.sources import source_sync
from features.webhooks import webhook_store
from features.webhooks.models import Webhook
from registry.access import agent_keys, operators, teams
from registry.catalog import drafts, incidents
from registry.common.actors import Actor
from registry.matching import skill_groups
from registry.models import LoadCount, Revision, Team, UnknownCapabilityRequest, UnmatchedMessage
from registry.publishing import proposals, publication, release_rules, reviews, scheduled_releases
from registry.usage import feedback
from tests.factories import OLGA, bundle, tool
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.page_sweep import furnish, list_addresses

pytestmark = pytest.mark.django_db

AGENT = Actor("agent_key", "agent")
# Lists that are sorted or filtered, beside every address and the variants of all sweeps.
SORTED = (
    "/capabilities/?q=item",
    "/capabilities/?status=published&sort=-loads",
    "/capabilities/item0/",
    "/capabilities/item0/feedback/",
    "/reviews/?show=work",
    "/reviews/?show=all",
    "/feedback/?order=most",
    "/usage/?by=key&days=365",
    "/keys/?state=all",
    "/audit/?who=olga",
    "/palette/?q=item",
)


def _grow(number: int) -> None:
    """One more of everything that is listed."""
    name = f"item{number}"
    files = bundle(name, [tool(f"{name}_list")], skill_groups=[f"g{number % 3}"])
    done = publication.publish(files=files, by=OLGA)
    assert done.status == "published", done.findings
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
    webhook_store.create_webhook(name=f"hook{number}", url="https://hooks.example.com/x", by=OLGA)
    webhook_store.send_test(name="hook0", by=OLGA)
    source_sync.add_git_source(spec=f"https://git.example/{name}", mode="draft", every_minutes=60, by=OLGA)


def _count_queries(client: Client) -> dict[str, int]:
    found = {}
    for address in (*list_addresses(), *SORTED):
        # What a process keeps is there from the first time on.
        if client.get(address).status_code == 200:
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            found[address] = len(queries)
    return found


@pytest.mark.slow
def test_no_list_asks_more_often_where_there_is_more(signed_in: SignIn) -> None:
    client = signed_in("admin")
    furnish()
    for number in range(2):
        _grow(number)
    few = _count_queries(client)
    for number in range(2, 6):
        _grow(number)
    many = _count_queries(client)
    assert {address: (few[address], many[address]) for address in few if many[address] != few[address]} == {}
    assert Webhook.objects.count() == 7
    assert {address: count for address, count in few.items() if count > 41} == {}
