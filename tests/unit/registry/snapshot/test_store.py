"""The snapshot that a process holds: whole, fresh, and the same however it came to be."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection

from capability_rules.errors import RegistryUnavailable
from registry.access import agent_keys
from registry.models import AgentKey, RegistryState, Release, Revision
from registry.publishing import publication
from registry.snapshot import STORE, current_snapshot, is_stale, refresh_if_stale
from registry.snapshot.snapshot import EMPTY, Snapshot, read_principals, read_snapshot, snapshot_at
from registry.snapshot.store import SnapshotStore
from tests.factories import OLGA, damage, publish, tampering
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db


def _fail(*args: Any, **kwargs: Any) -> Any:
    raise OperationalError("connection refused")


def _busy_registry() -> None:
    for name in ("gamma", "alpha", "beta"):
        publish(name)
    publish("alpha", body="Two.")
    publication.deprecate(capability_id="alpha", replaced_by="gamma", by=OLGA)
    publication.retire(capability_id="beta", by=OLGA)


def test_an_empty_registry() -> None:
    assert read_snapshot(EMPTY) == EMPTY


def test_it_holds_what_readers_can_load_in_order() -> None:
    _busy_registry()
    snapshot = current_snapshot()
    assert list(snapshot.entries) == ["alpha", "gamma"]
    assert snapshot.retired == {"beta": 6}
    alpha = snapshot.entries["alpha"]
    assert (alpha.status, alpha.replaced_by, alpha.revision, alpha.changed_at) == ("deprecated", "gamma", 2, 5)
    assert snapshot.names == {"alpha": "Alpha", "gamma": "Gamma"}


def test_step_by_step_is_the_same_as_at_once() -> None:
    """Every write, read one by one, ends where a new process begins."""
    holder = SnapshotStore()
    for step in (
        lambda: publish("alpha"),
        lambda: publish("beta"),
        lambda: publish("alpha", body="Two."),
        lambda: publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA),
        lambda: publication.rollback(capability_id="alpha", to=1, by=OLGA),
        lambda: publication.retire(capability_id="beta", by=OLGA),
        lambda: publication.restore(capability_id="beta", by=OLGA),
        lambda: agent_keys.create_key(name="agent", by=OLGA),
        lambda: agent_keys.revoke_key(name="agent", by=OLGA),
    ):
        step()
        assert holder.refresh() == read_snapshot(EMPTY)


def test_a_past_state_is_read_back() -> None:
    _busy_registry()
    past = snapshot_at(4)
    assert [(e.capability_id, e.status, e.revision) for e in past.entries.values()] == [
        ("alpha", "published", 2),
        ("beta", "published", 1),
        ("gamma", "published", 1),
    ]
    assert STORE.refresh().registry_revision == 6
    found = STORE.at(4)
    assert found is not None
    assert (found.entries, found.principals) == (past.entries, {})
    assert STORE.at(6) is STORE.snapshot
    assert STORE.at(7) is None


def test_a_past_state_is_the_same_whatever_it_is_derived_from() -> None:
    _busy_registry()
    newest = STORE.refresh()
    publish("alpha", body="Three.")
    publish("delta")
    for at in range(6):
        assert snapshot_at(at, newer=newest) == snapshot_at(at)
    for at in range(8):
        assert snapshot_at(at, newer=read_snapshot(EMPTY)) == snapshot_at(at)


def test_what_did_not_move_is_taken_over(django_assert_num_queries: Any) -> None:
    _busy_registry()
    before = STORE.refresh()
    with django_assert_num_queries(1):
        assert STORE.refresh() is before
    publish("delta")
    after = STORE.refresh()
    assert after.entries["gamma"] is before.entries["gamma"]
    agent_keys.create_key(name="agent", by=OLGA)
    assert STORE.refresh().entries is after.entries


def test_reading_takes_as_many_queries_for_one_as_for_many(django_assert_num_queries: Any) -> None:
    for number in range(12):
        publish(f"capability_{number}")
    with django_assert_num_queries(4):
        read_snapshot(EMPTY)


def test_a_key_opens_until_it_is_revoked() -> None:
    key = agent_keys.create_key(name="agent", by=OLGA)[1]
    principal = current_snapshot().principals[agent_keys.hash_key(key)]
    assert (principal.name, principal.scopes) == ("agent", frozenset({"read", "feedback"}))
    agent_keys.revoke_key(name="agent", by=OLGA)
    assert current_snapshot().principals == {}


def test_the_last_key_may_go_and_another_come() -> None:
    for number in range(3):
        agent_keys.create_key(name=f"agent {number}", by=OLGA)
        assert len(current_snapshot().principals) == 1
        agent_keys.revoke_key(name=f"agent {number}", by=OLGA)
        assert not current_snapshot().principals


def test_a_database_put_back_from_a_backup_is_read_anew() -> None:
    _busy_registry()
    STORE.refresh()
    with tampering():
        Release.objects.filter(registry_revision__gt=3).delete()
    RegistryState.objects.update(registry_revision=3)
    assert list(STORE.refresh().entries) == ["alpha", "beta", "gamma"]
    assert STORE.snapshot.entries["alpha"].revision == 1


def test_the_database_is_away() -> None:
    with connection.execute_wrapper(_fail), pytest.raises(RegistryUnavailable):
        current_snapshot()
    publish()
    before = current_snapshot()
    assert not is_stale()
    with connection.execute_wrapper(_fail):
        assert current_snapshot() is before
        assert is_stale()
    assert current_snapshot() is before
    assert not is_stale()


def test_a_watched_process_asks_nobody(django_assert_num_queries: Any) -> None:
    publish()
    STORE.refresh()
    STORE.is_watched = True
    with django_assert_num_queries(0):
        assert isinstance(current_snapshot(), Snapshot)


_ODD = (
    '"skill_groups": 5', '"os": null', '"intent_triggers": "word"', '"intent_triggers": [7]', '"priority": 1e400',
    '"priority": 99999999999999999999', '"name": 7', '"description": "\\ud800"',
)  # fmt: skip
DAMAGED = (
    *("{", "[]", "{}", None, '{"capability_id": 7}', "[" * 5000),
    *(f'{{"capability_id": "alpha", "name": "Alpha", "description": "It", {odd}}}' for odd in _ODD),
)


def test_a_damaged_row_stays_listed_by_what_is_known_of_it() -> None:
    def check(capability_json: str | None) -> None:
        publish()
        publish("beta")
        damage(Revision.objects.get(capability__capability_id="alpha"), capability_json=capability_json)
        snapshot = read_snapshot(EMPTY)
        assert snapshot.names == {"alpha": "Alpha", "beta": "Beta"}

    check_each(DAMAGED, check, isolate=rolled_back)


def test_a_damaged_key_is_refused_and_the_others_are_not() -> None:
    for name in ("odd", "good"):
        agent_keys.create_key(name=name, by=OLGA)
    AgentKey.objects.filter(name="odd").update(scopes=5)
    assert [one.name for one in read_principals().values()] == ["good"]


def test_who_is_not_known_yet_is_looked_for_once_more(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    STORE.refresh()
    STORE.is_watched = True
    agent_keys.create_key(name="new", by=OLGA)
    monkeypatch.setattr("registry.snapshot.store.RECHECK_SECONDS", 60)
    with django_assert_num_queries(0):
        assert not refresh_if_stale().principals
    monkeypatch.setattr("registry.snapshot.store.RECHECK_SECONDS", 0)
    assert [one.name for one in refresh_if_stale().principals.values()] == ["new"]
    with connection.execute_wrapper(_fail):
        assert refresh_if_stale().principals
        assert is_stale()
    with django_assert_num_queries(0):
        assert refresh_if_stale().principals
