"""Keys: told once, kept as a hash, ended at once."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from registry.access import agent_keys
from registry.common.errors import NameConflict, NotFound, StatusConflict
from registry.models import AgentKey, AuditEvent, RegistryState
from registry.snapshot import current_snapshot
from tests import factories
from tests.factories import OLGA

pytestmark = pytest.mark.django_db
fresh_process = pytest.fixture(autouse=True)(factories.fresh_process)


@pytest.mark.both_databases
def test_a_key_is_kept_as_its_hash_alone() -> None:
    row, key = agent_keys.create_key(name="agent", by=OLGA)
    assert (row.scopes, row.created_by, row.revoked_at) == (["read", "feedback"], "operator:olga", None)
    assert len(key) >= 43 + len(agent_keys.PREFIX)
    assert row.key_hash == hashlib.sha256(key.encode()).hexdigest()
    stored = str(list(AgentKey.objects.values())) + str(list(AuditEvent.objects.values()))
    assert key not in stored
    assert key[8:] not in stored


def test_two_keys_are_never_alike() -> None:
    assert len({agent_keys.create_key(name=f"agent {number}", by=OLGA)[1] for number in range(20)}) == 20


def test_scopes_are_kept_in_their_order_and_once() -> None:
    row, _ = agent_keys.create_key(name="ci", by=OLGA, scopes=["publish", "read", "publish"])
    assert row.scopes == ["read", "publish"]


@pytest.mark.parametrize("scopes", [[], ["admin"], ["read", ""], ["READ"]])
def test_odd_scopes_are_refused(scopes: list[str]) -> None:
    with pytest.raises(InvalidRequest):
        agent_keys.create_key(name="agent", by=OLGA, scopes=scopes)


@pytest.mark.parametrize("name", ["", "  ", "a" * 81, "a\nb", "a\x1b[31m", "a\0", "a\u202eb"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidRequest):
        agent_keys.create_key(name=name, by=OLGA)


def test_a_name_is_used_once_even_after_it_was_revoked() -> None:
    agent_keys.create_key(name="agent", by=OLGA)
    agent_keys.revoke_key(name="agent", by=OLGA)
    with pytest.raises(NameConflict):
        agent_keys.create_key(name=" agent ", by=OLGA)


def test_revoking_moves_what_every_process_watches() -> None:
    agent_keys.create_key(name="agent", by=OLGA)
    before = RegistryState.objects.get()
    row = agent_keys.revoke_key(name="agent", by=OLGA)
    after = RegistryState.objects.get()
    assert (row.revoked_by, row.revoked_at is not None) == ("operator:olga", True)
    assert (after.access_revision, after.registry_revision) == (before.access_revision + 1, before.registry_revision)


def test_revoking_twice_changes_nothing() -> None:
    agent_keys.create_key(name="agent", by=OLGA)
    first = agent_keys.revoke_key(name="agent", by=OLGA)
    assert agent_keys.revoke_key(name="agent", by=OLGA).revoked_at == first.revoked_at
    assert AuditEvent.objects.count() == 2


def test_revoking_what_is_not_there_is_told() -> None:
    with pytest.raises(NotFound):
        agent_keys.revoke_key(name="nobody", by=OLGA)


def _lead(key: str) -> str:
    """The name of whoever holds the key now, empty for nobody."""
    found = current_snapshot().principal(agent_keys.hash_key(key))
    return found.name if found else ""


def test_a_key_ends_by_the_clock_without_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = timezone.now() + timedelta(hours=1)
    _, key = agent_keys.create_key(name="agent", by=OLGA, expires_at=ends)
    held = current_snapshot()
    assert _lead(key) == "agent"
    monkeypatch.setattr("registry.snapshot.snapshot.time.time", ends.timestamp)
    assert held is current_snapshot()
    assert _lead(key) == ""


@pytest.mark.both_databases
def test_an_end_in_the_past_is_refused_and_one_that_stands_may_stay() -> None:
    with pytest.raises(InvalidRequest, match="ends in the future"):
        agent_keys.create_key(name="agent", by=OLGA, expires_at=timezone.now())
    row, _ = agent_keys.create_key(name="agent", by=OLGA, expires_at=timezone.now() + timedelta(hours=1))
    over = timezone.now() - timedelta(days=1)
    AgentKey.objects.update(expires_at=over)
    rights: dict[str, Any] = {"scopes": ["read"], "groups": None, "read_only_tools": False, "preview": False}
    rights |= {"team": "", "capability_ids": None}
    assert agent_keys.update_key(name=row.name, by=OLGA, expires_at=over, **rights).scopes == ["read"]
    assert list(agent_keys.list_keys(state="ended")) == [row]
    assert not agent_keys.list_keys(state="force").exists()


def test_other_rights_hold_at_once_and_the_same_ones_change_nothing() -> None:
    _, key = agent_keys.create_key(name="agent", by=OLGA)
    rights: dict[str, Any] = {
        "scopes": ["propose", "read"],
        "groups": ["b", "a"],
        "read_only_tools": True,
        "preview": False,
        "expires_at": None,
        "team": "",
        "capability_ids": None,
    }
    agent_keys.update_key(name="agent", by=OLGA, **rights)
    row = agent_keys.update_key(name="agent", by=OLGA, **rights)
    assert (row.scopes, row.groups, row.read_only_tools) == (["read", "propose"], ["a", "b"], True)
    principal = current_snapshot().principal(agent_keys.hash_key(key))
    assert principal is not None
    assert principal.scopes == {"read", "propose"}
    assert principal.sight.groups == frozenset({"a", "b"})
    event = AuditEvent.objects.get(verb="agent_key.change")
    assert {
        "scopes": ["read", "propose"],
        "groups": ["a", "b"],
        "read_only_tools": True,
    }.items() <= event.detail.items()


@pytest.mark.both_databases
def test_a_new_key_takes_the_place_of_the_old_one() -> None:
    _, old = agent_keys.create_key(name="agent", by=OLGA)
    row, new = agent_keys.rotate_key(name="agent", by=OLGA)
    assert (_lead(old), _lead(new), row.key_prefix) == ("", "agent", new[:8])
    assert (row.previous_key_hash, row.previous_until) == ("", None)


def test_the_old_key_is_taken_for_the_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    _, first = agent_keys.create_key(name="agent", by=OLGA, expires_at=timezone.now() + timedelta(days=2))
    row, second = agent_keys.rotate_key(name="agent", by=OLGA, overlap=timedelta(hours=1))
    assert (_lead(first), _lead(second), row.has_two) == ("agent", "agent", True)
    _, third = agent_keys.rotate_key(name="agent", by=OLGA, overlap=timedelta(days=30))
    # Of those before, only the later one is kept.
    assert (_lead(first), _lead(second), _lead(third)) == ("", "agent", "agent")
    later = (timezone.now() + timedelta(days=3)).timestamp()
    monkeypatch.setattr("registry.snapshot.snapshot.time.time", lambda: later)
    # The end of the key is the end of the old one too.
    assert (_lead(second), _lead(third)) == ("", "")
    assert AuditEvent.objects.filter(verb="agent_key.rotate").count() == 2


def test_revoking_ends_the_old_key_too() -> None:
    _, old = agent_keys.create_key(name="agent", by=OLGA)
    _, new = agent_keys.rotate_key(name="agent", by=OLGA, overlap=timedelta(days=1))
    agent_keys.revoke_key(name="agent", by=OLGA)
    assert (_lead(old), _lead(new)) == ("", "")
    with pytest.raises(StatusConflict):
        agent_keys.rotate_key(name="agent", by=OLGA)


@pytest.mark.parametrize("overlap", [timedelta(seconds=-1), timedelta(days=30, seconds=1)])
def test_an_odd_overlap_is_refused(overlap: timedelta) -> None:
    agent_keys.create_key(name="agent", by=OLGA)
    with pytest.raises(InvalidRequest):
        agent_keys.rotate_key(name="agent", by=OLGA, overlap=overlap)
