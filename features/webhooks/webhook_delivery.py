"""The job that delivers one event to one webhook: at least once, with the same id and the same bytes at each try."""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from django.utils import timezone

from features.webhooks import webhook_client
from features.webhooks.models import Webhook, WebhookDelivery
from features.webhooks.webhook_client import DeliveryResponse
from features.webhooks.webhook_events import JOB_KIND
from registry.access.stored_secrets import SecretUnreadable, decrypt_secret, renew_encryption
from registry.common.actors import Actor
from registry.common.net.webhook_signatures import TEST, sign_request
from registry.core import audit
from registry.core.jobs.queue import WORKER, CommitAction, JobState, Lease
from registry.core.transactions import write_transaction
from registry.operations.housekeeping import oldest_kept

logger = logging.getLogger(__name__)

KIND: Final = JOB_KIND
USER_AGENT: Final = "Capability-Studio-Webhook/1"
_GONE: Final = 410


class DeliveryFailed(Exception):
    """The receiver did not take it; the job tries again."""


def deliver_event(lease: Lease) -> CommitAction | None:
    """The handler; payload `{"delivery_id": primary key}`. Raises `DeliveryFailed` where it is to be tried again."""
    delivery = WebhookDelivery.objects.select_related("webhook").filter(pk=lease.payload["delivery_id"]).first()
    if delivery is None or delivery.state == "delivered":
        return None
    if not delivery.webhook.is_enabled:
        return lambda: _end(delivery, "failed", last_error="The webhook is disabled")
    try:
        answer = _send(delivery)
    except SecretUnreadable:
        return lambda: _stop_without_secret(delivery)
    if answer.is_success:
        return lambda: _end(delivery, "delivered", **_columns(delivery, answer))
    if answer.status == _GONE:
        return lambda: _disable(delivery, answer)
    if delivery.kind == TEST:
        return lambda: _end(delivery, "failed", **_columns(delivery, answer))
    _note_failure(delivery, answer)
    raise DeliveryFailed(f"'{delivery.webhook.name}': {_why(answer)}")


def _send(delivery: WebhookDelivery) -> DeliveryResponse:
    webhook, body = delivery.webhook, delivery.body.encode()
    headers = sign_request(
        secrets_in_force=_secrets(webhook), event_id=str(delivery.event_id), sent_at=int(time.time()), body=body
    )
    headers |= {"Content-Type": "application/json", "User-Agent": USER_AGENT}
    return webhook_client.post_event(webhook.url, body=body, headers=headers)


def _secrets(webhook: Webhook) -> list[str]:
    """The new one first; the one before it for a day, so that a receiver can change in its own time. Raises
    `SecretUnreadable`."""
    until = webhook.previous_secret_until
    kept = [webhook.secret, *([webhook.previous_secret] if until is not None and until > timezone.now() else [])]
    return [decrypt_secret(secret) for secret in kept]


def _why(answer: DeliveryResponse) -> str:
    return answer.error or f"answered {answer.status}"


def _columns(delivery: WebhookDelivery, answer: DeliveryResponse) -> dict[str, Any]:
    return {
        "attempts": delivery.attempts + 1,
        "last_status": answer.status,
        "last_error": "" if answer.is_success else _why(answer),
        "response_excerpt": answer.excerpt,
        "duration_ms": answer.duration_ms,
        "last_attempt_at": timezone.now(),
    }


def _end(delivery: WebhookDelivery, state: str, **columns: Any) -> None:
    """Under the lock of the registry, with the end of the job."""
    WebhookDelivery.objects.filter(pk=delivery.pk).update(state=state, finished_at=timezone.now(), **columns)


def _note_failure(delivery: WebhookDelivery, answer: DeliveryResponse) -> None:
    """Recorded before the job fails, for an operator who checks why nothing arrives."""
    with write_transaction():
        WebhookDelivery.objects.filter(pk=delivery.pk, state="queued").update(**_columns(delivery, answer))


def _stop_without_secret(delivery: WebhookDelivery) -> None:
    """As after a restore under another SECRET_KEY: nothing is sent that no receiver could verify."""
    why = "Its secret was encrypted under another SECRET_KEY: replace it"
    _end(delivery, "failed", last_error=why)
    disable_after_failures(delivery.webhook, why=why, by=WORKER)


def _disable(delivery: WebhookDelivery, answer: DeliveryResponse) -> None:
    """410 Gone: the receiver wants no more of them."""
    _end(delivery, "failed", **_columns(delivery, answer))
    disable_after_failures(delivery.webhook, why="The receiver answered 410 Gone", by=WORKER)


def disable_after_failures(webhook: Webhook, *, why: str, by: Actor) -> None:
    """Send it no further events; what is queued for it fails when its turn comes. Under the lock of the registry."""
    if not Webhook.objects.filter(pk=webhook.pk, disabled_at__isnull=True).update(
        disabled_at=timezone.now(), disabled_reason=why
    ):
        return
    audit.record(by=by, verb="webhook.disable", subject=webhook.name, detail={"why": why})


def on_job_state_change(payload: dict[str, Any], state: JobState) -> None:
    """The delivery goes with its job: failed where that was parked or cancelled, queued where it begins again."""
    delivery = WebhookDelivery.objects.filter(pk=payload["delivery_id"]).exclude(state="delivered")
    if state == "queued":
        delivery.update(state="queued", finished_at=None)
    else:
        delivery.update(state="failed", finished_at=timezone.now())


def prune_deliveries(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets deliveries that arrived or failed and are older than `RETENTION_DAYS` days, and encrypts
    secrets under the present key."""
    old = WebhookDelivery.objects.exclude(state="queued").filter(created_at__lt=oldest_kept())

    def tidy() -> None:
        old.delete()
        renew_encryption(Webhook.objects.all(), "secret", "previous_secret")

    return tidy
