"""Checkpoints: each follows the one before, and says how far the history has come."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_kit.signatures.statements import CheckpointFacts, read_checkpoint
from registry.access import agent_keys
from registry.common.errors import HistoryDamaged
from registry.core import audit, checkpoints
from registry.core.jobs import queue
from registry.core.signing_keys import get_signing_keys
from registry.models import AuditEvent, Checkpoint, Job, RegistryState, Release
from tests.factories import OLGA, publish, tampering

pytestmark = pytest.mark.django_db


def _read() -> list[CheckpointFacts]:
    trusted = get_signing_keys().public
    return [read_checkpoint(json.loads(row.envelope), trusted=trusted) for row in Checkpoint.objects.all()]


def test_each_follows_the_one_before() -> None:
    publish()
    publish("beta")
    checkpoints.make_checkpoint()
    publish(body="Another.")
    checkpoints.make_checkpoint()
    first, second = _read()
    assert second.follows(first)
    assert not second.shrinks(first)
    assert (first.number, first.previous, first.audit_rows, first.releases) == (1, audit.GENESIS, 2, 2)
    assert (second.audit_rows, second.releases, second.registry_revision) == (3, 3, 3)
    newest = AuditEvent.objects.latest("id")
    assert (second.audit_id, second.audit_hash) == (newest.pk, newest.hash)


def test_none_is_made_where_nothing_has_happened() -> None:
    assert checkpoints.make_checkpoint() == checkpoints.NOTHING
    publish()
    made = checkpoints.make_checkpoint()
    assert checkpoints.make_checkpoint() == made
    assert Checkpoint.objects.count() == 1
    agent_keys.create_key(name="agent", by=OLGA)
    assert checkpoints.make_checkpoint().number == 2


def test_only_what_is_new_is_read(django_assert_max_num_queries: Any) -> None:
    for number in range(5):
        publish(body=f"Number {number}.")
    checkpoints.make_checkpoint()
    publish(body="Another.")
    with django_assert_max_num_queries(12):
        made = checkpoints.make_checkpoint()
    with tampering():
        Checkpoint.objects.all().delete()
    # The chain over all of them at once is the same one.
    assert checkpoints.make_checkpoint().releases_hash == made.releases_hash


def test_several_publishes_get_one_by_a_job(settings: Any) -> None:
    settings.CHECKPOINT_AFTER_SECONDS = -1.0
    publish()
    publish("beta")
    assert Job.objects.filter(kind=checkpoints.KIND).count() == 1
    lease = None
    while (result := queue.run_next_job()) is not None:
        lease = result
    assert lease == "done"
    assert [facts.releases for facts in _read()] == [2]


def test_a_missing_end_is_named() -> None:
    publish()
    publish("beta")
    checkpoints.make_checkpoint()
    with tampering():
        Release.objects.filter(pk=2).delete()
    with pytest.raises(HistoryDamaged, match="Release 2, with which checkpoint 1 ends, is missing"):
        checkpoints.make_checkpoint()
    with tampering():
        AuditEvent.objects.latest("id").delete()
    with pytest.raises(HistoryDamaged, match="with which checkpoint 1 ends, is missing"):
        checkpoints.make_checkpoint()


def test_a_reader_hears_of_none_past_its_own_list() -> None:
    publish()
    checkpoints.make_checkpoint()
    publish(body="Another.")
    checkpoints.make_checkpoint()
    state = RegistryState.objects.get()
    assert [number for number, _ in checkpoints.list_envelopes(after=0, limit=9, up_to_revision=1)] == [1]
    found = checkpoints.list_envelopes(after=None, limit=9, up_to_revision=state.registry_revision)
    assert [number for number, _ in found] == [2]
