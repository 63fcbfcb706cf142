"""`manage.py webhook`: who receives events (docs/webhooks.md)."""

from __future__ import annotations

import time
from typing import Any, Final

from features.webhooks import webhook_store
from features.webhooks.models import Webhook, WebhookDelivery
from features.webhooks.webhook_events import PUBLIC_TYPES
from registry.cli.command import SubcommandBase, format_moment, terminal_actor
from registry.core.jobs import queue

# Another worker may have taken the job first; it has this long to end it.
_TEST_SECONDS: Final = 20.0


class Command(SubcommandBase):
    help = "Notify other systems of what happens: signed HTTP calls, retried until they arrive."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "create", self.create, "Make a webhook and print its secret, this once.", "name")
        parser.add_argument("--url", required=True)
        parser.add_argument(
            "--events", default="", help=f"out of {','.join(PUBLIC_TYPES)}; default all but draft.saved"
        )
        self.verb(verbs, "list", self.list, "List all webhooks; their secrets are not shown.")
        for name, handler, words in (
            ("disable", self.disable, "Stop sending events to it."),
            ("enable", self.enable, "Send it the events from now on."),
            ("rotate", self.rotate, "Make a new secret and print it; the old one signs beside it for 24 hours."),
            ("test", self.test, "Send a test event, and print the response."),
            ("deliveries", self.deliveries, "List what was sent, the newest first."),
        ):
            parser = self.verb(verbs, name, handler, words, "name")
        parser.add_argument("--limit", type=int, default=50)
        parser = self.verb(verbs, "redeliver", self.redeliver, "Send a delivery once more.")
        parser.add_argument("id", type=int)

    def create(self, options: dict[str, Any]) -> int:
        events = [kind.strip() for kind in options["events"].split(",") if kind.strip()]
        webhook, secret = webhook_store.create_webhook(
            name=options["name"], url=options["url"], events=events, by=terminal_actor()
        )
        return self.tell({**_row(webhook), "secret": secret}, secret, options)

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(webhook) for webhook in webhook_store.list_webhooks()]
        return self.tell({"webhooks": rows}, map(_line, rows), options)

    def disable(self, options: dict[str, Any]) -> int:
        webhook = webhook_store.disable_webhook(name=options["name"], by=terminal_actor())
        return self.tell(_row(webhook), f"{webhook.name}: disabled", options)

    def enable(self, options: dict[str, Any]) -> int:
        webhook = webhook_store.enable_webhook(name=options["name"], by=terminal_actor())
        return self.tell(_row(webhook), f"{webhook.name}: enabled", options)

    def rotate(self, options: dict[str, Any]) -> int:
        secret = webhook_store.rotate_secret(name=options["name"], by=terminal_actor())
        return self.tell({"name": options["name"], "secret": secret}, secret, options)

    def test(self, options: dict[str, Any]) -> int:
        delivery, job_id = webhook_store.send_test(name=options["name"], by=terminal_actor())
        queue.run_next_job(job_id=job_id)
        deadline = time.monotonic() + _TEST_SECONDS
        while delivery.state == "queued" and time.monotonic() < deadline:
            delivery.refresh_from_db()
            if delivery.state == "queued":
                time.sleep(0.2)
        row = _delivery_row(delivery)
        self.tell(row, _delivery_line(row), options)
        return 0 if delivery.state == "delivered" else 1

    def deliveries(self, options: dict[str, Any]) -> int:
        webhook = webhook_store.get_webhook(options["name"])
        found = webhook_store.list_webhook_deliveries(webhook)[: options["limit"]]
        rows = [_delivery_row(delivery) for delivery in found]
        return self.tell({"deliveries": rows}, map(_delivery_line, rows), options)

    def redeliver(self, options: dict[str, Any]) -> int:
        delivery = webhook_store.redeliver(delivery_id=options["id"], by=terminal_actor())
        return self.tell(_delivery_row(delivery), f"delivery {delivery.pk}: queued", options)


def _row(webhook: Webhook) -> dict[str, Any]:
    return {
        "name": webhook.name,
        "url": webhook.url,
        "events": webhook.events,
        "created_at": format_moment(webhook.created_at),
        "disabled_at": format_moment(webhook.disabled_at),
        "disabled_why": webhook.disabled_reason,
    }


def _line(row: dict[str, Any]) -> str:
    state = f"disabled: {row['disabled_why']}" if row["disabled_at"] else "enabled"
    return f"{row['name']}  {row['url']}  {','.join(row['events']) or 'all'}  {state}"


def _delivery_row(delivery: WebhookDelivery) -> dict[str, Any]:
    return {
        "id": delivery.pk,
        "event_id": str(delivery.event_id),
        "kind": delivery.kind,
        "state": delivery.state,
        "tries": delivery.attempts,
        "last_status": delivery.last_status,
        "last_error": delivery.last_error,
        "response_excerpt": delivery.response_excerpt,
        "duration_ms": delivery.duration_ms,
        "created_at": format_moment(delivery.created_at),
        "last_tried_at": format_moment(delivery.last_attempt_at),
    }


def _delivery_line(row: dict[str, Any]) -> str:
    came = row["last_error"] or (f"answered {row['last_status']}" if row["last_status"] else "not tried yet")
    return "{id}  {created_at}  {kind}  {state}  tries {tries}  ".format_map(row) + came
