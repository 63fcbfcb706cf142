"""Skill groups have words of their own, and messages are held against them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from capability_rules.errors import InvalidRequest
from registry.access import operators, teams
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound, StatusConflict
from registry.matching.skill_groups import delete_group, import_groups, list_groups, set_group
from registry.models import AuditEvent, SkillGroup
from tests.factories import OLGA, publish

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_what_is_not_given_stays() -> None:
    set_group(group_id="health", by=OLGA, name="Health", examples=["log my weight", "log my weight "])
    set_group(group_id="health", by=OLGA, description="Body and food", is_exclusive=True)
    group = SkillGroup.objects.get()
    assert (group.name, group.description, group.examples, group.is_exclusive) == (
        ("Health", "Body and food", ["log my weight"], True)
    )
    assert AuditEvent.objects.filter(verb="skill_group.set", subject="health").count() == 2


@pytest.mark.parametrize(
    "odd",
    [
        {"group_id": "Health"},
        {"group_id": ""},
        {"group_id": "a" * 65},
        {"group_id": "a", "name": " "},
        {"group_id": "a", "name": "x" * 81},
        {"group_id": "a", "description": "x" * 1025},
        {"group_id": "a", "examples": [""]},
        {"group_id": "a", "examples": ["x"] * 51},
    ],
)
def test_odd_values_are_refused_and_nothing_changes(odd: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        set_group(by=OLGA, **odd)
    assert not SkillGroup.objects.exists()


def test_orphans_and_groups_without_words_are_listed() -> None:
    publish("weights", skill_groups=["health"])
    set_group(group_id="music", by=OLGA)
    assert [(row.group_id, row.is_described, row.members) for row in list_groups()] == [
        ("health", False, 1),
        ("music", True, 0),
    ]


def test_a_message_finds_a_group_by_its_examples() -> None:
    publish("weights", intent_triggers=["weigh-in"], skill_groups=["health"])
    set_group(group_id="travel", by=OLGA, name="Travel", examples=["book a flight to Rome", "find me a hotel"])
    answer = Client().post("/api/v1/capability_match", {"message": "book a flight"}, content_type="application/json")
    document = answer.json()
    assert document["decision"] == "none"
    assert document["skill_groups"] == ["travel"]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    call_command(
        "skill_group", "set", "health", "--name", "Health", "--example", "a b", "--example", "c", "--exclusive"
    )
    assert capsys.readouterr().out == "health: Health\n"
    call_command("skill_group", "set", "health", "--no-exclusive", "--format", "json")
    document = json.loads(capsys.readouterr().out)
    assert document == {
        "group_id": "health",
        "name": "Health",
        "description": "",
        "examples": ["a b", "c"],
        "exclusive": False,
    }
    call_command("skill_group", "list")
    assert capsys.readouterr().out == "health  Health  0 published  orphan\n"


@pytest.mark.parametrize("wrapped", [True, False])
def test_groups_come_from_a_file_all_or_none(wrapped: bool) -> None:
    text = """
writing: {name: Writing, description: Texts of all kinds, examples: [Write an article], skills: [a, b]}
research: Find things out
"""
    given = "skill_groups:\n" + text.replace("\n", "\n  ") if wrapped else text
    assert import_groups(given, by=OLGA) == ["writing", "research"]
    rows = {row.group_id: row for row in list_groups()}
    assert (rows["writing"].name, rows["writing"].examples) == ("Writing", ("Write an article",))
    assert rows["research"].description == "Find things out"
    assert import_groups('{"writing": {"exclusive": true}}', by=OLGA) == ["writing"]
    assert next(row for row in list_groups() if row.group_id == "writing").description == "Texts of all kinds"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[a", "Not valid YAML"),
        ("[]", "Name 1 to 500 groups"),
        ("fine: ok\nBad-Id: x", "Bad-Id"),
        ("fine: ok\nother: {examples: x}", "'other'"),
        ("fine: ok\nother: {exclusive: 1}", "'other'"),
        ("fine: ok\nother: 7", "'other'"),
        ("a: &a {name: x}\nb: &b {<<: [*a, *a]}\nc: {<<: [*b, *b]}", "merge keys"),
        (
            "a: &a [x, x, x, x, x, x, x, x, x]\n"
            + "".join(f"{n}: &{n} [{', '.join(['*' + p] * 9)}]\n" for p, n in ("ab", "bc", "cd", "de", "ef")),
            "unfold",
        ),
    ],
)
def test_an_odd_file_of_groups_changes_nothing(text: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        import_groups(text, by=OLGA)
    assert list_groups() == []


def _operator(name: str, role: str) -> Actor:
    operators.create_operator(username=name, password="Correct-horse-battery-9", role=role, by=OLGA)
    return Actor("operator", name)


def test_only_the_team_of_a_group_and_admins_change_it() -> None:
    admin, member, other = (
        _operator(name, role) for name, role in (("a", "admin"), ("m", "publisher"), ("o", "publisher"))
    )
    team = teams.create_team(name="Health", by=OLGA)
    teams.add_member(key=team.pk, username="m", by=OLGA)
    set_group(group_id="health", by=other, name="Health")
    with pytest.raises(Forbidden, match="Only admins"):
        set_group(group_id="health", by=member, team="Health")
    with pytest.raises(NotFound, match="no team named 'Nobody'"):
        set_group(group_id="health", by=admin, team="Nobody")
    set_group(group_id="health", by=admin, team="Health")
    for write in (
        lambda: set_group(group_id="health", by=other, is_exclusive=True),
        lambda: delete_group(group_id="health", by=other),
        lambda: import_groups("health: {description: mine}", by=other),
        # One may not take the group over by leaving the rest as it is.
        lambda: set_group(group_id="health", by=other, team=""),
    ):
        with pytest.raises(Forbidden, match="team 'Health' and admins"):
            write()
    assert SkillGroup.objects.get().description == ""
    with pytest.raises(StatusConflict, match="owns the skill groups health"):
        teams.delete_team(key=team.pk, by=admin)
    set_group(group_id="health", by=member, description="Body", team="Health")
    set_group(group_id="health", by=admin, team="")
    set_group(group_id="health", by=other, description="All of us")
    delete_group(group_id="health", by=other)


@pytest.mark.both_databases
def test_the_audit_log_has_a_group_before_and_after() -> None:
    set_group(group_id="health", by=OLGA, name="Health", examples=["log my weight"])
    set_group(group_id="health", by=OLGA, name="Body")
    delete_group(group_id="health", by=OLGA)
    made, renamed, removed = AuditEvent.objects.filter(subject="health").order_by("id").values_list("detail", flat=True)
    whole = {"name": "Health", "description": "", "examples": ["log my weight"], "is_exclusive": False, "team": None}
    assert (made["before"], made["after"]) == ({}, whole)
    assert (renamed["before"], renamed["after"]) == ({"name": "Health"}, {"name": "Body"})
    assert (removed["before"], removed["after"]) == (whole | {"name": "Body"}, {})
