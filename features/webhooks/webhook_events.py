"""Events: rows of the audit log, for subscribers (docs/webhooks.md).

Every write leaves an audit row in its own transaction. The rows that others care about are events: their deliveries are
stored with the row, so that an event is sent if and only if the write was committed.
"""

from __future__ import annotations

import json
from typing import Any, Final
from uuid import UUID, uuid4

from features.webhooks.models import Webhook, WebhookDelivery
from registry.common.net.webhook_signatures import TEST
from registry.core.events import EVENTS
from registry.core.jobs import queue as jobs
from registry.models import AuditEvent, Capability, RegistryState

PUBLIC_TYPES: Final = tuple(dict.fromkeys(event.public for event in EVENTS.values() if event.public))
OPT_IN_TYPES: Final = frozenset(event.public for event in EVENTS.values() if event.opt_in)
JOB_KIND: Final = "webhook.deliver"
# Pauses of 10 s, 20 s, 40 s ...: the last try is made nearly six hours after the first.
TRIES_MAX: Final = 12
_PRIVATE_KEYS: Final = frozenset({"payload", "before", "after", "fingerprint"})


def on_audit_event(row: AuditEvent) -> None:
    """Queue a delivery for each webhook that wants the event; nothing for a row that is none. Under the lock."""
    kind = EVENTS[row.verb].public
    # A dead receiver's parked delivery, sent to another dead receiver, would be sent back for ever.
    if not kind or (row.verb == "job.park" and row.detail.get("kind") == JOB_KIND):
        return
    wanted = [webhook for webhook in Webhook.objects.filter(disabled_at__isnull=True) if is_subscribed(webhook, kind)]
    if not wanted:
        return
    event_id = uuid4()
    body = _body(event_id, kind, row.at.isoformat(), _data(row))
    for webhook in wanted:
        queue_deliveries(webhook, event_id=event_id, kind=kind, body=body)


def queue_test(webhook: Webhook, *, at: str) -> WebhookDelivery:
    """Queue a test event for this webhook alone. Under the lock."""
    event_id = uuid4()
    return queue_deliveries(
        webhook, event_id=event_id, kind=TEST, body=_body(event_id, TEST, at, {"webhook": webhook.name}), max_attempts=1
    )


def is_subscribed(webhook: Webhook, kind: str) -> bool:
    """Whether it is subscribed to events of the kind."""
    return kind in webhook.events if webhook.events else kind not in OPT_IN_TYPES


def queue_deliveries(
    webhook: Webhook, *, event_id: UUID, kind: str, body: str, max_attempts: int = TRIES_MAX
) -> WebhookDelivery:
    """Store the delivery and its job."""
    delivery = WebhookDelivery.objects.create(webhook=webhook, event_id=event_id, kind=kind, body=body)
    queue_delivery(delivery, max_attempts=max_attempts)
    return delivery


def queue_delivery(delivery: WebhookDelivery, *, max_attempts: int = TRIES_MAX) -> int:
    """The id of the one open job of a delivery. Jobs of one webhook run in order; a slow one delays no other."""
    job, _ = jobs.enqueue(
        JOB_KIND,
        {"delivery_id": delivery.pk},
        dedupe_key=delivery_job_key(delivery),
        concurrency_key=concurrency_key(delivery.webhook_id),
        max_attempts=max_attempts,
    )
    return int(job.pk)


def concurrency_key(key: int) -> str:
    """Of the webhook with this row id."""
    return f"webhook:{key}"


def delivery_job_key(delivery: WebhookDelivery) -> str:
    """What the jobs of a delivery are found by."""
    return f"{JOB_KIND}:{delivery.pk}"


def _body(event_id: UUID, kind: str, at: str, data: dict[str, Any]) -> str:
    """The JSON of one event (schemas/event.schema.json)."""
    return json.dumps({"id": str(event_id), "type": kind, "timestamp": at, "data": data}, ensure_ascii=False)


def _data(row: AuditEvent) -> dict[str, Any]:
    subject = EVENTS[row.verb].subject
    data: dict[str, Any] = {"actor": f"{row.actor_kind}:{row.actor_name}"}
    if subject == "job":
        data["job_id"] = int(row.subject.removeprefix("job "))
    else:
        data[subject] = row.subject
    data |= {key: value for key, value in row.detail.items() if key not in _PRIVATE_KEYS}
    return data | (_current_state(row.subject) if row.verb.startswith("capability.") else {})


def _current_state(capability_id: str) -> dict[str, Any]:
    """What readers see from this event on."""
    capability = Capability.objects.select_related("published_revision", "replaced_by").get(capability_id=capability_id)
    revision = capability.published_revision
    state = RegistryState.objects.get(id=1)
    return {
        "status": capability.status,
        "revision": revision.number if revision else None,
        "digest": revision.digest if revision else None,
        "replaced_by": capability.replaced_by.capability_id if capability.replaced_by else None,
        "registry_revision": state.registry_revision,
    }
