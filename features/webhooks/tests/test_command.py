"""`manage.py webhook`."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from features.webhooks.models import Webhook
from registry.access.stored_secrets import decrypt_secret
from tests.factories import publish
from tests.receivers import Receiver, status

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    receiver = Receiver()
    yield receiver
    receiver.stop()


def test_a_new_secret_is_printed_alone(manage: Any) -> None:
    done = manage("webhook", "create", "chat", "--url", "https://hooks.example.com/x")
    assert (done.code, done.err, done.out) == (0, "", decrypt_secret(Webhook.objects.get().secret) + "\n")
    rotated = manage("webhook", "rotate", "chat")
    assert rotated.out == decrypt_secret(Webhook.objects.get().secret) + "\n" != done.out
    for form in ("text", "json"):
        assert "whsec_" not in manage("webhook", "list", "--format", form).out


def test_events_and_json(manage: Any) -> None:
    events = "capability.published, draft.saved"
    arguments = ("webhook", "create", "chat", "--url", "https://hooks.example.com/x", "--events", events)
    document = manage(*arguments, "--format", "json").document
    assert document["events"] == ["capability.published", "draft.saved"]
    assert document["secret"].startswith("whsec_")
    assert manage(*arguments, "--format", "json").document["error"]["code"] == "NAME_TAKEN"


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "https://10.0.0.1/", "nowhere", "https://u:p@x.example/"])
def test_an_odd_url_is_refused(manage: Any, url: str) -> None:
    done = manage("webhook", "create", "chat", "--url", url)
    assert (done.code, done.out) == (1, "")
    assert "INVALID_REQUEST" in done.err


@pytest.mark.both_databases
def test_a_test_says_what_came_back(manage: Any, receiver: Receiver) -> None:
    manage("webhook", "create", "chat", "--url", receiver.url)
    done = manage("webhook", "test", "chat")
    assert (done.code, len(receiver.requests)) == (0, 1)
    assert "webhook.test  delivered  tries 1  answered 200" in done.out
    receiver.reply = status(500, body=b"\x1b[31mout of ink")
    done = manage("webhook", "test", "chat", "--format", "json")
    assert (done.code, done.document["state"], done.document["last_status"]) == (1, "failed", 500)
    receiver.stop()
    done = manage("webhook", "test", "chat")
    assert (done.code, "All connection attempts failed" in done.out) == (1, True)
    assert "\x1b" not in manage("webhook", "deliveries", "chat").out


def test_disable_deliveries_and_redeliver(manage: Any, receiver: Receiver) -> None:
    manage("webhook", "create", "chat", "--url", receiver.url)
    publish()
    manage("webhook", "test", "chat")
    (test, event) = manage("webhook", "deliveries", "chat", "--format", "json").document["deliveries"]
    assert (test["kind"], event["kind"], event["state"]) == ("webhook.test", "capability.published", "queued")
    assert manage("webhook", "redeliver", str(test["id"])).out == f"delivery {test['id']}: queued\n"
    done = manage("webhook", "redeliver", str(event["id"]))
    assert (done.code, "STATUS_CONFLICT" in done.err) == (1, True)
    assert manage("webhook", "disable", "chat").out == "chat: disabled\n"
    assert "disabled: by command_line:" in manage("webhook", "list").out
    assert manage("webhook", "enable", "chat", "--format", "json").document["disabled_at"] is None
    done = manage("webhook", "redeliver", "123456")
    assert (done.code, "NOT_FOUND" in done.err) == (1, True)
