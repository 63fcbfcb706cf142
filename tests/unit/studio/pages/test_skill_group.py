"""Skill groups: list, making, changing, removing."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.access import teams
from registry.matching import skill_groups
from registry.models import AuditEvent, SkillGroup
from tests.factories import OLGA, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, form_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def publisher(signed_in: SignIn) -> Client:
    return signed_in("publisher")


def test_the_list_shows_members_orphans_and_what_nobody_has_described(publisher: Client) -> None:
    publish("alpha", skill_groups=["health"])
    publish("beta", skill_groups=["health", "food"])
    skill_groups.set_group(group_id="health", by=OLGA, name="<Health>", is_exclusive=True)
    skill_groups.set_group(group_id="travel", by=OLGA)
    answer = publisher.get("/skill-groups/")
    rows = {one.group_id: (one.members, one.is_described, one.is_exclusive) for one in answer.context["page"]}
    assert rows == {"food": (1, False, False), "health": (2, True, True), "travel": (0, True, False)}
    page = answer.content.decode()
    assert (page.count(">Unused<"), page.count(">No description<"), page.count(">One at a time<")) == (1, 1, 1)
    assert "&lt;Health&gt;" in page
    assert 'href="/capabilities/?group=-"' in page


def test_an_empty_list_says_so(publisher: Client) -> None:
    assert "Create a skill group" in publisher.get("/skill-groups/").content.decode()


def test_a_group_is_made_changed_and_removed(publisher: Client) -> None:
    publish("alpha", skill_groups=["health"])
    form = form_with(publisher.get("/new-skill-group/?id=health"), "Create group")
    assert form.values["group_id"] == "health"
    answer = form.submit(publisher, name="Health", description="Body.", examples="how did I sleep\n\n  log it \n")
    assert answer["Location"] == "/skill-groups/health/"
    group = SkillGroup.objects.get()
    assert (group.name, group.examples, group.is_exclusive) == ("Health", ["how did I sleep", "log it"], False)
    page = publisher.get("/skill-groups/health/")
    assert ">Alpha<" in page.content.decode().replace("<bdi>", "").replace("</bdi>", "")
    form = form_with(page, "Save details")
    assert form.values["examples"].split() == ["how", "did", "I", "sleep", "log", "it"]
    form.submit(publisher, name="Body", examples="", is_exclusive="on")
    group.refresh_from_db()
    assert (group.name, group.examples, group.is_exclusive) == ("Body", [], True)
    asked = form_with(publisher.get("/skill-groups/health/"), "Delete details").submit(publisher)
    assert confirm(publisher, asked)["Location"] == "/skill-groups/"
    assert not SkillGroup.objects.exists()
    assert "No description" in publisher.get("/skill-groups/health/").content.decode()
    verbs = AuditEvent.objects.filter(subject="health").values_list("verb", "actor_name")
    assert list(verbs) == [
        ("skill_group.set", "the-publisher"), ("skill_group.set", "the-publisher"),
        ("skill_group.remove", "the-publisher"),
    ]  # fmt: skip


def test_what_is_unticked_is_no_longer_exclusive(publisher: Client) -> None:
    skill_groups.set_group(group_id="health", by=OLGA, is_exclusive=True)
    publisher.post("/skill-groups/health/save/", {"name": "Health"})
    assert SkillGroup.objects.get().is_exclusive is False


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "given",
    [
        {"group_id": "Not An Id", "name": "x"},
        {"group_id": "x" * 65, "name": "x"},
        {"group_id": "a__b", "name": "x"},
        {"group_id": "", "name": "x"},
        {"group_id": "health", "name": "x"},
        {"group_id": "ok\n", "name": ""},
        {"group_id": "ok", "name": "x" * 81},
        {"group_id": "ok", "name": "x\0"},
        {"group_id": "ok", "name": "x", "description": "x" * 1025},
        {"group_id": "ok", "name": "x", "examples": "x" * 501},
        {"group_id": "ok", "name": "x", "examples": "x\n" * 51},
    ],
)
def test_odd_words_are_refused_beside_their_field(given: dict[str, str], publisher: Client) -> None:
    skill_groups.set_group(group_id="health", by=OLGA)
    answer = publisher.post("/new-skill-group/", given)
    assert answer.status_code == 400
    assert b"field__error" in answer.content
    assert SkillGroup.objects.count() == 1


def test_odd_words_of_a_change_are_refused_and_kept_in_the_form(publisher: Client) -> None:
    skill_groups.set_group(group_id="health", by=OLGA)
    answer = publisher.post("/skill-groups/health/save/", {"name": "", "description": "typed"})
    assert answer.status_code == 400
    assert "typed" in answer.content.decode()
    assert SkillGroup.objects.get().description == ""


def test_a_group_that_is_not_there_has_no_page(publisher: Client) -> None:
    publish("alpha", skill_groups=["health"])
    assert publisher.get("/skill-groups/nowhere/").status_code == 404
    assert publisher.post("/skill-groups/nowhere/save/", {"name": "x"}).status_code == 404
    # It is named, but nobody has described it.
    assert publisher.get("/skill-groups/health/").status_code == 200
    page = publisher.post("/skill-groups/health/remove/", follow=True).content.decode()
    assert "The details of health are already deleted." in page


def test_who_may_not_publish_reads_alone(signed_in: SignIn) -> None:
    skill_groups.set_group(group_id="health", by=OLGA, description="d", examples=["one sentence"])
    page = signed_in("author").get("/skill-groups/health/").content.decode()
    assert "one sentence" in page
    assert "/skill-groups/health/save/" not in page
    assert "New skill group" not in signed_in("author").get("/skill-groups/").content.decode()


def test_a_large_group_shows_the_first_and_leads_to_the_rest(publisher: Client) -> None:
    for number in range(53):
        publish(f"c{number:02}", skill_groups=["many"])
    answer = publisher.get("/skill-groups/many/")
    assert (len(answer.context["members"]), answer.context["members_left_out"]) == (50, 3)
    assert "And 3 more" in answer.content.decode()


def test_the_number_of_queries_does_not_grow(publisher: Client) -> None:
    def count() -> int:
        publisher.get("/skill-groups/")
        with CaptureQueriesContext(connection) as queries:
            publisher.get("/skill-groups/")
        return len(queries)

    publish("alpha", skill_groups=["health"])
    few = count()
    for number in range(20):
        publish(f"c{number:02}", skill_groups=[f"g{number:02}"])
        skill_groups.set_group(group_id=f"h{number:02}", by=OLGA)
    assert count() == few <= 8


def test_an_admin_gives_a_group_to_a_team_and_others_see_whose_it_is(signed_in: SignIn) -> None:
    publisher, admin = signed_in("publisher"), signed_in("admin")
    skill_groups.set_group(group_id="health", by=OLGA, name="Health")
    team = teams.create_team(name="Body team", by=OLGA)
    address = "/skill-groups/health/"
    assert "team" not in form_with(publisher.get(address), "Save details").values
    form_with(admin.get(address), "Save details").submit(admin, team="Body team")
    assert SkillGroup.objects.get().team == team
    page = publisher.get(address).content.decode()
    assert "Only members of the team Body team and admins can change this group." in page
    assert "Save details" not in page
    refused = publisher.post("/skill-groups/health/save/", {"name": "Mine"})
    assert refused.status_code == 400
    assert "Only members of the team" in refused.content.decode()
    assert SkillGroup.objects.get().name == "Health"
    teams.add_member(key=team.pk, username="the-publisher", by=OLGA)
    form_with(publisher.get(address), "Save details").submit(publisher, name="Ours")
    assert SkillGroup.objects.get().name == "Ours"
