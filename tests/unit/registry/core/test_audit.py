"""The audit log: a row that was changed or taken out shows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from registry.core import audit
from registry.models import AuditEvent
from registry.publishing import publication
from tests.factories import OLGA, publish, tampering

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def log() -> list[AuditEvent]:
    """Four rows."""
    publish()
    publish(body="Zwei – “größer”, 二.")
    publication.deprecate(capability_id="alpha", by=OLGA, note="Grüße 👋")
    publication.retire(capability_id="alpha", by=OLGA)
    return list(AuditEvent.objects.order_by("id"))


def test_the_chain_begins_and_holds(log: list[AuditEvent]) -> None:
    assert audit.find_chain_break() is None
    assert log[0].previous_hash == audit.GENESIS
    assert [event.previous_hash for event in log[1:]] == [event.hash for event in log[:-1]]


@pytest.mark.parametrize(
    "change",
    [
        {"actor_name": "mallory"},
        {"actor_kind": "system"},
        {"verb": "capability.restore"},
        {"subject": "beta"},
        {"detail": {}},
        {"at": F("at") + timedelta(microseconds=1)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_changed_row_is_found(log: list[AuditEvent], change: dict[str, Any]) -> None:
    with tampering():
        AuditEvent.objects.filter(pk=log[1].pk).update(**change)
    assert audit.find_chain_break() == log[1]


def test_a_changed_row_with_a_new_hash_breaks_the_next(log: list[AuditEvent]) -> None:
    log[1].actor_name = "mallory"
    with tampering():
        AuditEvent.objects.filter(pk=log[1].pk).update(actor_name="mallory", hash=audit.event_hash(log[1]))
    assert audit.find_chain_break() == log[2]


def test_a_missing_row_is_found(log: list[AuditEvent]) -> None:
    with tampering():
        log[1].delete()
    assert audit.find_chain_break() == log[2]
    with tampering():
        log[0].delete()
    assert audit.find_chain_break() == log[2]
