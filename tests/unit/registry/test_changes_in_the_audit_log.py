"""Changes of settings, roles, visibility, status, groups and rules are in the audit log with what was there before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from features.sources import source_sync
from features.sources.models import GitSource
from features.sources.source_sync import SyncSettings
from features.webhooks import webhook_store
from registry.access import agent_keys, operators, teams
from registry.catalog import first_run
from registry.core import audit
from registry.models import AuditEvent, Team
from registry.publishing import publication, release_rules
from tests.factories import OLGA, publish
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db

RULE: dict[str, Any] = {"group_id": "", "four_eyes": True, "loosening": "publisher", "note_required": False}


def _team() -> int:
    return int(Team.objects.get().pk)


def _follow(every_minutes: int) -> None:
    source = GitSource.objects.get()
    following = SyncSettings(str(source.mode), every_minutes, source.may_adopt)
    source_sync.update_source(source_id=source.pk, following=following, by=OLGA)


def _limit_key() -> None:
    given: dict[str, Any] = {"read_only_tools": False, "preview": False, "expires_at": None}
    given |= {"team": "", "capability_ids": None}
    agent_keys.update_key(name="reader", by=OLGA, scopes=["read"], groups=["health"], **given)


def _set_rule(**more: Any) -> None:
    release_rules.set_rule(by=OLGA, **(RULE | more))


# What is done, and the values of its row: before, after.
CHANGES: dict[str, tuple[Callable[[], object], dict[str, Any], dict[str, Any]]] = {
    "operator.set_role": (
        lambda: operators.set_role(username="ada", role="viewer", by=OLGA),
        {"role": "author"},
        {"role": "viewer"},
    ),
    "operator.disable": (
        lambda: operators.disable_operator(username="ada", by=OLGA),
        {"is_active": True},
        {"is_active": False},
    ),
    "capability.visibility": (
        lambda: publication.set_visibility(capability_id="alpha", visibility="unlisted", by=OLGA),
        {"visibility": "listed"},
        {"visibility": "unlisted"},
    ),
    "capability.deprecate": (
        lambda: publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA),
        {"status": "published", "replaced_by": None},
        {"status": "deprecated", "replaced_by": "beta"},
    ),
    "capability.retire": (
        lambda: publication.retire(capability_id="alpha", by=OLGA),
        {"status": "published"},
        {"status": "retired"},
    ),
    "capability.restore": (
        lambda: publication.restore(capability_id="gone", by=OLGA),
        {"status": "retired"},
        {"status": "published"},
    ),
    "capability.rollback": (
        lambda: publication.rollback(capability_id="alpha", to=1, by=OLGA),
        {"revision": 2},
        {"revision": 1},
    ),
    "capability.set_owner": (
        lambda: teams.set_owning_team(capability_id="alpha", key=_team(), by=OLGA),
        {"team": None},
        {"team": "Core"},
    ),
    "team.change": (
        lambda: teams.update_team(key=_team(), name="Body", by=OLGA),
        {"name": "Core"},
        {"name": "Body"},
    ),
    "agent_key.change": (
        _limit_key,
        {"scopes": ["read", "feedback"], "groups": None},
        {"scopes": ["read"], "groups": ["health"]},
    ),
    "webhook.change": (
        lambda: webhook_store.update_webhook(name="chat", url="https://other.example.com/", by=OLGA),
        {"host": "hooks.example.com"},
        {"host": "other.example.com"},
    ),
    "git_source.change": (lambda: _follow(120), {"every": 60}, {"every": 120}),
    "registry.set": (
        lambda: first_run.set_first_run(capability_id="alpha", by=OLGA),
        {"capability_id": ""},
        {"capability_id": "alpha"},
    ),
    "release_rule.set": (lambda: _set_rule(note_required=True), {"note_required": False}, {"note_required": True}),
    "release_rule.drop": (
        lambda: release_rules.delete_rule(group_id="", by=OLGA),
        {name: value for name, value in RULE.items() if name != "group_id"}
        | {"comments_resolved": False, "held_requires_review": False},
        {},
    ),
}


def test_each_has_what_was_there_before_and_what_is_there_now() -> None:
    for name in ("alpha", "beta", "gone"):
        publish(name)
    publish("alpha", body="Two.")
    publication.retire(capability_id="gone", by=OLGA)
    operators.create_operator(username="ada", password="Correct-horse-battery-9", role="author", by=OLGA)
    operators.create_operator(username="eve", password="Correct-horse-battery-9", role="admin", by=OLGA)
    teams.create_team(name="Core", by=OLGA)
    agent_keys.create_key(name="reader", by=OLGA)
    webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    source_sync.add_git_source(spec="https://git.example/skills", mode="draft", every_minutes=60, by=OLGA)
    _set_rule()

    def check(verb: str) -> None:
        act, before, after = CHANGES[verb]
        act()
        detail = AuditEvent.objects.filter(verb=verb).latest("id").detail
        assert (detail["before"], detail["after"]) == (before, after)

    check_each(sorted(CHANGES), check, isolate=rolled_back)


def test_only_what_differs_is_kept() -> None:
    assert audit.changed({"a": 1, "b": 2, "gone": None}, {"a": 1, "b": 3, "made": None}) == {
        "before": {"b": 2, "gone": None},
        "after": {"b": 3, "made": None},
    }
