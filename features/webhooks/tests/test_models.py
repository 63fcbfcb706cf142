"""Each constraint of the tables bites."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from features.webhooks import webhook_store
from features.webhooks.models import Webhook, WebhookDelivery
from tests.factories import OLGA

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

# What differs from a row that is there.
BITES: dict[str, tuple[type[models.Model], dict[str, Any]]] = {
    "Webhook.name": (Webhook, {}),
    "webhook_disabling_paired": (Webhook, {"name": "x", "disabled_reason": "gone"}),
    "webhook_rotation_paired": (Webhook, {"name": "x", "previous_secret": "whsec_"}),
    "webhook_secret_not_empty": (Webhook, {"name": "x", "secret": ""}),
    "webhook_delivery_once": (WebhookDelivery, {}),
    "webhook_delivery_state_known": (
        WebhookDelivery,
        {"event_id": UUID(int=2), "state": "lost", "finished_at": timezone.now()},
    ),
    "webhook_delivery_end_fits_state": (WebhookDelivery, {"event_id": UUID(int=2), "state": "delivered"}),
}


@pytest.mark.parametrize("name", BITES)
def test_a_constraint_bites(name: str) -> None:
    webhook, _ = webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    delivery = WebhookDelivery.objects.create(webhook=webhook, event_id=UUID(int=1), kind="webhook.test", body="{}")
    model, changes = BITES[name]
    row = webhook if model is Webhook else delivery
    values = {field.attname: getattr(row, field.attname) for field in model._meta.concrete_fields} | changes
    del values["id"]
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        model._default_manager.create(**values)
    # SQLite names the columns of a rule of uniqueness, which the same values break.
    assert name in str(caught.value) or (not changes and model._meta.db_table in str(caught.value))


def test_every_constraint_has_a_case_here() -> None:
    named = {constraint.name for model in (Webhook, WebhookDelivery) for constraint in model._meta.constraints}
    assert named | {"Webhook.name"} == set(BITES)
