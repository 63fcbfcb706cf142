"""Keys: told once, kept as a hash, ended at once."""

from __future__ import annotations

import hashlib

import pytest

from registry import keys
from registry.errors import InvalidRequest, NameTaken, NotFound
from registry.models import AgentKey, AuditEvent, RegistryState
from tests.factories import OLGA

pytestmark = pytest.mark.django_db


def test_a_key_is_kept_as_its_hash_alone() -> None:
    row, key = keys.create_key(name="agent", by=OLGA)
    assert (row.scopes, row.created_by, row.revoked_at) == (["read", "feedback"], "operator:olga", None)
    assert len(key) >= 43 + len(keys.PREFIX)
    assert row.key_hash == hashlib.sha256(key.encode()).hexdigest()
    stored = str(list(AgentKey.objects.values())) + str(list(AuditEvent.objects.values()))
    assert key not in stored
    assert key[8:] not in stored


def test_two_keys_are_never_alike() -> None:
    assert len({keys.create_key(name=f"agent {number}", by=OLGA)[1] for number in range(20)}) == 20


def test_scopes_are_kept_in_their_order_and_once() -> None:
    row, _ = keys.create_key(name="ci", by=OLGA, scopes=["publish", "read", "publish"])
    assert row.scopes == ["read", "publish"]


@pytest.mark.parametrize("scopes", [[], ["admin"], ["read", ""], ["READ"]])
def test_odd_scopes_are_refused(scopes: list[str]) -> None:
    with pytest.raises(InvalidRequest):
        keys.create_key(name="agent", by=OLGA, scopes=scopes)


@pytest.mark.parametrize("name", ["", "  ", "a" * 81, "a\nb", "a\x1b[31m", "a\0", "a\u202eb"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidRequest):
        keys.create_key(name=name, by=OLGA)


def test_a_name_is_used_once_even_after_it_was_revoked() -> None:
    keys.create_key(name="agent", by=OLGA)
    keys.revoke_key(name="agent", by=OLGA)
    with pytest.raises(NameTaken):
        keys.create_key(name=" agent ", by=OLGA)


def test_revoking_moves_what_every_process_watches() -> None:
    keys.create_key(name="agent", by=OLGA)
    before = RegistryState.objects.get()
    row = keys.revoke_key(name="agent", by=OLGA)
    after = RegistryState.objects.get()
    assert (row.revoked_by, row.revoked_at is not None) == ("operator:olga", True)
    assert (after.access_revision, after.registry_revision) == (before.access_revision + 1, before.registry_revision)


def test_revoking_twice_changes_nothing() -> None:
    keys.create_key(name="agent", by=OLGA)
    first = keys.revoke_key(name="agent", by=OLGA)
    assert keys.revoke_key(name="agent", by=OLGA).revoked_at == first.revoked_at
    assert AuditEvent.objects.count() == 2


def test_revoking_what_is_not_there_is_told() -> None:
    with pytest.raises(NotFound):
        keys.revoke_key(name="nobody", by=OLGA)
