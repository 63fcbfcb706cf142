"""Webhooks in the Studio."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from features.webhooks import webhook_store
from features.webhooks.models import Webhook, WebhookDelivery
from registry.access.stored_secrets import decrypt_secret
from registry.core.jobs import queue
from registry.models import AuditEvent, Job
from tests.factories import OLGA, publish
from tests.receivers import Receiver, status
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, form_with

pytestmark = pytest.mark.django_db
URL = "https://hooks.example.com/secret-path"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in()


@pytest.fixture
def hook() -> Webhook:
    return webhook_store.create_webhook(name="<b>chat</b>", url=URL, by=OLGA)[0]


def _make(client: Client, **changes: Any) -> Any:
    form = form_with(client.get("/webhooks/"), "Create webhook")
    return form.submit(client, **{"name": "chat", "url": URL} | changes)


def test_a_webhook_is_made_and_its_secret_is_shown_once(client: Client) -> None:
    answer = _make(client, events=["capability.published"])
    secret = answer.context["secret"]
    assert secret.startswith("whsec_")
    assert secret in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    row = Webhook.objects.get()
    assert (row.url, row.events, decrypt_secret(row.secret)) == (URL, ["capability.published"], secret)
    assert secret not in client.get("/webhooks/").content.decode()
    assert secret not in client.get(f"/webhooks/{row.pk}/").content.decode()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "taken"}, "name"),
        ({"url": "nowhere"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://user:pass@hooks.example.com/"}, "url"),
        ({"url": "a\0b"}, "url"),
        ({"events": ["odd"]}, "events"),
    ],
)
def test_an_odd_webhook_is_refused_beside_its_field(changes: dict[str, Any], field: str, client: Client) -> None:
    webhook_store.create_webhook(name="taken", url=URL, by=OLGA)
    answer = _make(client, **changes)
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, [field])
    assert Webhook.objects.count() == 1


def test_address_and_events_are_changed(client: Client, hook: Webhook) -> None:
    address = f"/webhooks/{hook.pk}/"
    other = "https://other.example.com/x"
    form_with(client.get(address), "Save").submit(client, url=other, events=["incident.opened"])
    hook.refresh_from_db()
    assert (hook.url, hook.events) == (other, ["incident.opened"])
    event = AuditEvent.objects.get(verb="webhook.change")
    # The path of such an address is often a secret.
    assert {"host": "other.example.com", "events": ["incident.opened"]}.items() <= event.detail.items()
    form_with(client.get(address), "Save").submit(client)
    assert AuditEvent.objects.filter(verb="webhook.change").count() == 1
    refused = form_with(client.get(address), "Save").submit(client, url="ftp://x")
    assert (refused.status_code, list(refused.context["form"].errors)) == (400, ["url"])


def test_a_test_and_a_retry_reach_a_receiver(client: Client, settings: Any) -> None:
    from ipaddress import ip_network

    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    receiver = Receiver(replies=[status(500, body=b"<i>not now</i>")])
    try:
        hook, _ = webhook_store.create_webhook(name="chat", url=receiver.url, by=OLGA)
        address = f"/webhooks/{hook.pk}/"
        form_with(client.get(address), "Send test event").submit(client)
        page = client.get(address)
        assert "every 2s" in page.content.decode()
        queue.run_next_job(job_id=Job.objects.get().pk)
        page = client.get(address, headers={"HX-Request": "true"})
        shown = page.content.decode()
        assert "<html" not in shown
        assert "every 2s" not in shown
        assert "&lt;i&gt;not now" in shown
        form_with(client.get(address), "Send again").submit(client)
        queue.run_next_job(job_id=Job.objects.order_by("-pk")[0].pk)
        assert WebhookDelivery.objects.get().state == "delivered"
        assert len(receiver.requests) == 2
        ids = {request.headers["webhook-id"] for request in receiver.requests}
        assert len(ids) == 1
    finally:
        receiver.stop()


def test_disabling_enabling_and_a_new_secret(client: Client, hook: Webhook) -> None:
    address = f"/webhooks/{hook.pk}/"
    confirm(client, form_with(client.get(address), "Disable").submit(client))
    assert "Disabled:" in client.get(address).content.decode()
    page = client.post(f"{address}test/", follow=True).content.decode()
    assert "Enable it first" in page
    form_with(client.get(address), "Enable").submit(client)
    answer = confirm(client, form_with(client.get(address), "Replace secret").submit(client))
    hook.refresh_from_db()
    assert answer.context["secret"] == decrypt_secret(hook.secret)
    assert "<b>chat" not in answer.content.decode()


@pytest.mark.both_databases
def test_deleting_forgets_it_with_what_waits(client: Client, hook: Webhook) -> None:
    publish()
    parked = Job.objects.filter(kind="webhook.deliver").first()
    assert parked is not None
    webhook_store.send_test(name=hook.name, by=OLGA)
    Job.objects.filter(pk=parked.pk).update(state="parked", finished_at=hook.created_at)
    answer = confirm(client, form_with(client.get(f"/webhooks/{hook.pk}/"), "Delete webhook").submit(client))
    assert answer["Location"] == "/webhooks/"
    assert not Webhook.objects.exists()
    assert not WebhookDelivery.objects.exists()
    parked.refresh_from_db()
    assert parked.state == "cancelled"
    for job in Job.objects.filter(kind="webhook.deliver", state="queued"):
        queue.run_next_job(job_id=job.pk)
    assert not Job.objects.filter(kind="webhook.deliver").exclude(state__in=("done", "cancelled")).exists()
    assert AuditEvent.objects.filter(verb="webhook.delete").count() == 1


def test_what_was_deleted_meanwhile_is_said_to_be_gone(client: Client, hook: Webhook) -> None:
    asked = client.get(f"/webhooks/{hook.pk}/delete/")
    webhook_store.delete_webhook(name=hook.name, by=OLGA)
    assert confirm(client, asked)["Location"] == "/webhooks/"
    assert "Nothing was changed: it no longer exists." in client.get("/webhooks/").content.decode()
    assert AuditEvent.objects.filter(verb="webhook.delete").count() == 1


def test_a_deletion_says_what_is_waiting_and_not_its_secret_path(client: Client, hook: Webhook) -> None:
    webhook_store.send_test(name=hook.name, by=OLGA)
    page = client.get(f"/webhooks/{hook.pk}/delete/").content.decode()
    assert "hooks.example.com gets no more events." in page
    assert "1 queued delivery is not sent." in page
    assert "secret-path" not in page.partition("<main")[2]


def test_what_is_not_there_is_told(client: Client, hook: Webhook) -> None:
    assert client.get("/webhooks/77/").status_code == 404
    for verb in ("test", "change", "delete", "rotate"):
        assert client.post(f"/webhooks/77/{verb}/").status_code == 404, verb
    for odd in ("", "x", "77", "9" * 30):
        page = client.post(f"/webhooks/{hook.pk}/redeliver/", {"delivery": odd}, follow=True).content.decode()
        assert "There is no delivery" in page


def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    counts = []
    for amount in (2, 20):
        for number in range(amount):
            webhook_store.create_webhook(name=f"{amount} {number}", url=URL, by=OLGA)
        with CaptureQueriesContext(connection) as queries:
            client.get("/webhooks/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 7
