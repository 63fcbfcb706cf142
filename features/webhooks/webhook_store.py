"""Creates and changes webhooks, and repeats deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.webhooks import webhook_delivery
from features.webhooks.models import Webhook, WebhookDelivery
from features.webhooks.webhook_client import check_url
from features.webhooks.webhook_events import (
    PUBLIC_TYPES,
    concurrency_key,
    delivery_job_key,
    queue_delivery,
    queue_test,
)
from registry.access.stored_secrets import encrypt_secret
from registry.common.actors import Actor
from registry.common.errors import NameConflict, NotFound, StatusConflict
from registry.common.net.webhook_signatures import PREVIOUS_SECRET_RETENTION, generate_secret
from registry.core import audit
from registry.core.jobs import admin
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import Job


def create_webhook(*, name: str, url: str, by: Actor, events: Sequence[str] = ()) -> tuple[Webhook, str]:
    """Make a webhook; the second of the pair is its secret, which is shown this once.

    No `events` means all of them but `OPT_IN_TYPES`. Raises `InvalidRequest` for an invalid name, URL or event type,
    `NameConflict`.
    """
    name = name.strip()
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise InvalidRequest("A webhook's name has 1 to 80 printable characters")
    url = check_url(url)
    wanted = _wanted(events)
    secret = generate_secret()
    with write_transaction():
        if Webhook.objects.filter(name=name).exists():
            raise NameConflict(f"There is a webhook named '{name}'")
        webhook = Webhook.objects.create(
            name=name, url=url, secret=encrypt_secret(secret), events=wanted, created_by=str(by)
        )
        audit.record(by=by, verb="webhook.create", subject=name, detail=_audit_detail(url, wanted))
    return webhook, secret


def get_webhook(name: str) -> Webhook:
    """The webhook with this name. Raises `NotFound`."""
    return get_row(Webhook.objects.filter(name=name), NotFound(f"There is no webhook named '{name}'"))


def get_webhook_by_id(key: int) -> Webhook:
    """By its row id. Raises `NotFound`."""
    return get_row(Webhook.objects.filter(pk=key), NotFound("There is no such webhook"))


def list_webhooks() -> list[Webhook]:
    """All of them, by name, in one query; with `last_state` and `last_at` of the newest delivery, None where nothing
    was sent, and how many of 30 days have `failed`."""
    newest = WebhookDelivery.objects.filter(webhook=OuterRef("pk")).order_by("-id")
    found = Webhook.objects.annotate(
        last_state=Subquery(newest.values("state")[:1]),
        last_at=Subquery(newest.values("created_at")[:1]),
        failed=Count("deliveries", filter=Q(deliveries__state=WebhookDelivery.State.FAILED)),
    )
    return list(found.order_by("name"))


def list_webhook_deliveries(webhook: Webhook) -> QuerySet[WebhookDelivery]:
    """The newest first, without their bodies."""
    return webhook.deliveries.order_by("-id").defer("body")


def count_deliveries(webhook: Webhook) -> tuple[int, int]:
    """How many deliveries are logged, and how many of them are queued."""
    logged = WebhookDelivery.objects.filter(webhook=webhook)
    return logged.count(), logged.filter(state="queued").count()


def update_webhook(*, name: str, url: str, by: Actor, events: Sequence[str] = ()) -> Webhook:
    """Another address, or other kinds of event; what is queued already goes to the new address. The secret stays.

    Raises `NotFound`, `InvalidRequest` as `create_webhook` does. The same again changes nothing.
    """
    url, wanted = check_url(url), _wanted(events)
    with write_transaction():
        webhook = get_webhook(name)
        if url != webhook.url or set(wanted) != set(webhook.events):
            was, now = _audit_detail(webhook.url, webhook.events), _audit_detail(url, wanted)
            update_row(webhook, url=url, events=wanted)
            audit.record(by=by, verb="webhook.change", subject=name, detail=now | audit.changed(was, now))
    return webhook


def delete_webhook(*, name: str, by: Actor) -> None:
    """Forget it with its deliveries; what is queued for it is not sent. Raises `NotFound`."""
    with write_transaction():
        webhook = get_webhook(name)
        # A job that is queued finds nothing to send when its turn comes; one that is parked would wait for ever.
        parked = Job.objects.filter(concurrency_key=concurrency_key(webhook.pk), state=Job.State.PARKED)
        parked.update(state=Job.State.CANCELLED, finished_at=timezone.now())
        webhook.delete()
        audit.record(by=by, verb="webhook.delete", subject=name)


def _wanted(events: Sequence[str]) -> list[str]:
    unknown = sorted(set(events) - set(PUBLIC_TYPES))
    if unknown:
        raise InvalidRequest(f"'{unknown[0][:80]}' is not a kind of event; they are {', '.join(PUBLIC_TYPES)}")
    return [kind for kind in PUBLIC_TYPES if kind in events]


def _audit_detail(url: str, wanted: list[str]) -> dict[str, Any]:
    # The host alone: the path of such an address is often a secret.
    return {"host": urlsplit(url).hostname, "events": wanted}


def disable_webhook(*, name: str, by: Actor) -> Webhook:
    """Stop sending it events. What happens meanwhile is not sent later. Raises `NotFound`."""
    with write_transaction():
        webhook_delivery.disable_after_failures(get_webhook(name), why=f"by {by}"[:200], by=by)
    return get_webhook(name)


def enable_webhook(*, name: str, by: Actor) -> Webhook:
    """Send it the events from now on. Raises `NotFound`."""
    with write_transaction():
        webhook = get_webhook(name)
        if not webhook.is_enabled:
            update_row(webhook, disabled_at=None, disabled_reason="")
            audit.record(by=by, verb="webhook.enable", subject=name)
    return webhook


def rotate_secret(*, name: str, by: Actor) -> str:
    """A new secret, shown this once; for 24 hours deliveries carry a signature by the old one too.

    Raises `NotFound`.
    """
    with write_transaction():
        webhook = get_webhook(name)
        until = timezone.now() + PREVIOUS_SECRET_RETENTION
        secret = generate_secret()
        now = encrypt_secret(secret)
        update_row(webhook, secret=now, previous_secret=webhook.secret, previous_secret_until=until)
        audit.record(by=by, verb="webhook.rotate_secret", subject=name)
    return secret


def send_test(*, name: str, by: Actor) -> tuple[WebhookDelivery, int]:
    """Queue an event of the kind `webhook.test`, tried once: the delivery and its job's id.

    Raises `NotFound`, and `StatusConflict` where the webhook is disabled.
    """
    with write_transaction():
        webhook = _enabled(get_webhook(name))
        delivery = queue_test(webhook, at=timezone.now().isoformat())
        audit.record(by=by, verb="webhook.test", subject=name)
        return delivery, Job.objects.values_list("pk", flat=True).get(dedupe_key=delivery_job_key(delivery))


def _enabled(webhook: Webhook) -> Webhook:
    if not webhook.is_enabled:
        raise StatusConflict(f"'{webhook.name}' is disabled: {webhook.disabled_reason}. Enable it first")
    return webhook


def redeliver(*, delivery_id: int, by: Actor) -> WebhookDelivery:
    """Send it once more, with the same id and body, whatever became of it. Raises `NotFound`.

    Raises `StatusConflict` where it is queued already, or the webhook is disabled.
    """
    with write_transaction():
        missing = NotFound(f"There is no delivery {delivery_id}; those older than 30 days are forgotten")
        delivery = get_row(WebhookDelivery.objects.select_related("webhook").filter(pk=delivery_id), missing)
        webhook = _enabled(delivery.webhook)
        if delivery.state == "queued":
            raise StatusConflict(f"Delivery {delivery_id} is queued: it is tried without being asked")
        update_row(delivery, state=WebhookDelivery.State.QUEUED, finished_at=None)
        parked = Job.objects.filter(dedupe_key=delivery_job_key(delivery), state="parked").first()
        if parked is not None:
            admin.requeue_jobs(parked)
        else:
            queue_delivery(delivery)
        detail = {"delivery_id": delivery_id, "event_id": str(delivery.event_id)}
        audit.record(by=by, verb="webhook.redeliver", subject=webhook.name, detail=detail)
    return delivery
