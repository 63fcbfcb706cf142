"""The verbs of sets: one audited step, and who may take it."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.errors import InvalidRequest
from features.sets import set_store
from features.sets.set_document import MEMBERS_MAX, parse_set
from features.sets.tests.documents import COMMAND, document
from registry.access import teams
from registry.access.operators import create_operator
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound, StatusConflict
from registry.models import AuditEvent
from registry.publishing import publication
from tests.factories import OLGA, agent_key, publish

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_a_set_is_made_and_changed_in_one_audited_step() -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    first = set_store.save_set(document("beta", "alpha"), by=COMMAND)
    assert (first.revision, list(set_store.read_document(first).members)) == (1, ["alpha", "beta"])
    second = set_store.save_set(document(("alpha", 1), "gamma", name="Front desk"), by=COMMAND)
    assert second.revision == 2
    detail = AuditEvent.objects.filter(verb="set.save").order_by("-id").values_list("detail", flat=True)[0]
    assert detail == {
        "revision": 2,
        "added": ["gamma"],
        "removed": ["beta"],
        "pinned": [["alpha", 1]],
        "before": {"name": "Desk"},
        "after": {"name": "Front desk"},
    }
    assert [each.number for each in set_store.list_revisions(second)] == [2, 1]


def test_the_same_document_again_changes_nothing() -> None:
    publish("alpha")
    set_store.save_set(document("alpha"), by=COMMAND)
    assert set_store.save_set(document("alpha"), by=COMMAND).revision == 1
    assert AuditEvent.objects.filter(verb="set.save").count() == 1


def test_a_change_that_came_between_is_not_overwritten() -> None:
    publish("alpha")
    set_store.save_set(document("alpha"), by=COMMAND, expected_revision=0)
    with pytest.raises(StatusConflict):
        set_store.save_set(document("alpha", name="Other"), by=COMMAND, expected_revision=0)
    with pytest.raises(StatusConflict):
        set_store.save_set(document("alpha", name="Other"), by=COMMAND, expected_revision=2)


def test_a_deleted_set_is_gone_and_counts_on() -> None:
    publish("alpha")
    set_store.save_set(document("alpha"), by=COMMAND)
    set_store.delete_set(set_id="desk", by=COMMAND)
    with pytest.raises(NotFound):
        set_store.get_set("desk")
    again = set_store.save_set(document("alpha"), by=COMMAND)
    assert (again.revision, again.deleted_at) == (2, None)


def test_what_is_not_published_does_not_come_in_and_what_left_may_stay() -> None:
    publish("alpha")
    publish("beta")
    with pytest.raises(InvalidRequest, match="nowhere"):
        set_store.save_set(document("alpha", "nowhere"), by=COMMAND)
    with pytest.raises(InvalidRequest, match="revision 7"):
        set_store.save_set(document(("alpha", 7)), by=COMMAND)
    set_store.save_set(document("alpha", "beta"), by=COMMAND)
    publication.retire(capability_id="beta", by=OLGA)
    set_store.save_set(document("alpha", "beta", name="Still"), by=COMMAND)
    with pytest.raises(InvalidRequest, match="beta"):
        set_store.save_set(document("beta", set_id="other"), by=COMMAND)


@pytest.mark.parametrize(
    "broken",
    [
        {"set_id": "Front Desk"},
        {"set_id": "../etc"},
        {"name": ""},
        {"name": "a\u202eb"},
        {"name": "x" * 81},
        {"description": "two\nlines"},
        {"description": "x" * 65536},
        {"icon": "a\u202eb"},
        {"icon": "not emoji"},
        {"visibility": "secret"},
        {"members": "alpha"},
        {"members": [{"capability_id": "alpha", "pin": 1}]},
        {"members": [{"capability_id": "alpha"}] * 2},
        {"members": [{"capability_id": "alpha", "revision": True}]},
        {"members": [{"capability_id": f"c{n}"} for n in range(MEMBERS_MAX + 1)]},
        {"surprise": 1},
    ],
)
def test_a_document_that_is_wrong_is_refused_with_its_key(broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_set(document("alpha") | broken)
    assert next(iter(broken)) in refused.value.message


def _operators() -> None:
    for role in ("author", "publisher", "admin"):
        create_operator(username=role, password="Correct-horse-battery-9", role=role, by=OLGA)
    create_operator(username="insider", password="Correct-horse-battery-9", role="publisher", by=OLGA)


def test_who_may_change_a_set_of_nobody_and_of_a_team() -> None:
    """Author, publisher, admin, command line, key without a limit, key of the team, of another, of capabilities."""
    publish("alpha")
    _operators()
    health, other = (teams.create_team(name=name, by=OLGA) for name in ("Health", "Other"))
    teams.add_member(key=health.pk, username="insider", by=OLGA)
    agent_key("publish", name="free")
    agent_key("publish", name="of health", team="Health")
    agent_key("publish", name="of other", team=other.name)
    agent_key("publish", name="of alpha", capability_ids=["alpha"])
    actors = {
        **{name: Actor("operator", name) for name in ("author", "publisher", "insider", "admin")},
        **{name: Actor("agent_key", name) for name in ("free", "of health", "of other", "of alpha")},
        "command": COMMAND,
    }
    of_nobody = set_store.save_set(document("alpha"), by=COMMAND)
    of_health = set_store.save_set(document("alpha", set_id="care"), by=COMMAND, team="Health")
    may = {
        name: (set_store.may_change(of_nobody, by), set_store.may_change(of_health, by)) for name, by in actors.items()
    }
    assert may == {
        "author": (False, False),
        "publisher": (True, False),
        "insider": (True, True),
        "admin": (True, True),
        "free": (True, True),
        "of health": (False, True),
        "of other": (False, False),
        "of alpha": (False, False),
        "command": (True, True),
    }
    for name, by in actors.items():
        if not may[name][1]:
            with pytest.raises(Forbidden):
                set_store.save_set(document("alpha", set_id="care", name=name), by=by)
            with pytest.raises(Forbidden):
                set_store.delete_set(set_id="care", by=by)
    with pytest.raises(Forbidden):
        set_store.save_set(document("alpha", set_id="mine"), by=actors["publisher"], team="Health")


def test_what_a_key_of_a_team_makes_belongs_to_the_team() -> None:
    publish("alpha")
    teams.create_team(name="Health", by=OLGA)
    agent_key("publish", name="of health", team="Health")
    row = set_store.save_set(document("alpha"), by=Actor("agent_key", "of health"))
    assert row.team is not None
    assert row.team.name == "Health"
