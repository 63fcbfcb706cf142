"""Who receives what: events are stored with their write, signed, and sent until they arrive. To a real receiver."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.serializers import serialize
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.sources import source_sync
from features.sources.incidents import open_source_incident
from features.webhooks import webhook_delivery, webhook_store
from features.webhooks.models import Webhook, WebhookDelivery
from features.webhooks.webhook_events import PUBLIC_TYPES, TRIES_MAX
from registry.access import agent_keys, operators
from registry.access.stored_secrets import decrypt_secret, is_current
from registry.catalog import drafts
from registry.catalog.incidents import open_incident
from registry.common.actors import Actor
from registry.common.errors import NameConflict, NotFound, StatusConflict
from registry.core.jobs import admin, queue
from registry.core.transactions import write_transaction
from registry.matching.training_job import KIND as LEARNING
from registry.models import AuditEvent, Capability, Job, Revision
from registry.operations import housekeeping
from registry.operations.absent_features import find_absent_features
from registry.publishing import proposals, publication
from registry.publishing.quarantine import quarantine
from tests.factories import OLGA, bundle, publish
from tests.receivers import Receiver, status
from tests.shapes import assert_event

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    receiver = Receiver()
    yield receiver
    receiver.stop()


def _hook(receiver: Receiver, *events: str, name: str = "chat") -> Webhook:
    return webhook_store.create_webhook(name=name, url=receiver.url, by=OLGA, events=events)[0]


def _run(after_seconds: float = 0) -> list[str]:
    """Do what is due then, and what comes of it; how each one ended."""
    endings: list[str] = []
    # A publish has a job for vectors as well.
    Job.objects.filter(kind=LEARNING).delete()
    while (
        lease := queue.claim_job(timezone.now() + timedelta(seconds=after_seconds), with_concurrency_key=True)
    ) is not None:
        endings.append(queue.execute_job(lease))
        assert len(endings) < 50
    return endings


def _told(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in receiver.requests]


def _kinds() -> list[str]:
    return list(WebhookDelivery.objects.order_by("id").values_list("kind", flat=True))


def test_a_publish_is_told_signed_and_as_its_schema_says(receiver: Receiver) -> None:
    webhook = _hook(receiver)
    outcome = publish(note="Zwei – “größer” 👋")
    assert _run() == ["done"]
    (request,), (event,) = receiver.requests, _told(receiver)
    assert_event(event)
    assert event["type"] == "capability.published"
    expected = {"capability_id": "alpha", "revision": 1, "digest": outcome.digest, "registry_revision": 1}
    assert expected.items() <= event["data"].items()
    assert (event["data"]["actor"], event["data"]["status"]) == ("operator:olga", "published")
    assert request.headers["webhook-id"] == event["id"]
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-signature"] == _signature(decrypt_secret(webhook.secret), request)
    row = WebhookDelivery.objects.get()
    assert (row.state, row.attempts, row.last_status, row.last_error, row.response_excerpt) == (
        ("delivered", 1, 200, "", "ok")
    )
    assert row.duration_ms is not None


def _signature(secret: str, request: Any) -> str:
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def test_the_schema_tells_an_odd_event(receiver: Receiver) -> None:
    """So that the schema says something: an event without what its kind promises does not pass."""
    _hook(receiver)
    publish()
    event = json.loads(WebhookDelivery.objects.get().body)
    for path in ("id", "type", "timestamp", "data"):
        with pytest.raises(AssertionError):
            assert_event({key: value for key, value in event.items() if key != path})
    for key in ("actor", "capability_id", "digest", "registry_revision", "acknowledged"):
        data = {name: value for name, value in event["data"].items() if name != key}
        with pytest.raises(AssertionError):
            assert_event({**event, "data": data})
    with pytest.raises(AssertionError):
        assert_event({**event, "type": "capability.exploded"})


def test_the_specifications_own_example() -> None:
    from registry.common.net.webhook_signatures import sign_request

    headers = sign_request(
        secrets_in_force=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        event_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        sent_at=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def _do_everything() -> None:
    publish()
    publish(body="Two.")
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    publication.retire(capability_id="beta", by=OLGA)
    publication.restore(capability_id="alpha", by=Actor("command_line", "root"), note="Fine")
    quarantine(capability_id="alpha", by=OLGA)
    publication.restore(capability_id="alpha", by=Actor("command_line", "root"), note="Fine")
    drafts.save_draft(capability_id="alpha", files=bundle("alpha", body="Three."), based_on=None, by=OLGA)
    drafts.replace_draft(capability_id="alpha", files=bundle("alpha", body="Four."), by=OLGA)
    open_incident(revision=Revision.objects.first(), message="m", details="d", findings=())  # type: ignore[arg-type]
    publish(body="Five.")
    proposals.reject_proposal(proposal_id=proposals.propose(files=bundle("new"), by=OLGA).proposal.proposal_id, by=OLGA)
    source = source_sync.add_git_source(spec="https://git.example/a", mode="draft", every_minutes=60, by=OLGA)
    with write_transaction():
        open_source_incident(source=source, message="m", details="d", by=OLGA)
    source_sync.remove_source(source_id=source.pk, by=OLGA)
    agent_keys.create_key(name="agent", by=OLGA)
    agent_keys.revoke_key(name="agent", by=OLGA)
    operators.create_operator(username="vera", password="correct horse battery", role="viewer", by=OLGA)
    operators.disable_operator(username="vera", by=OLGA)
    with write_transaction():
        Job.objects.create(kind="revalidate", attempts=5, payload={"revision_id": 1}, state="running",
                           lease_expires_at=timezone.now() - timedelta(seconds=1))  # fmt: skip
    queue.claim_job(timezone.now())


def test_each_kind_of_write_is_its_event(receiver: Receiver) -> None:
    _hook(receiver, *PUBLIC_TYPES)
    webhook_store.create_webhook(name="other", url=receiver.url, by=OLGA, events=["registry.restored"])
    _do_everything()
    webhook_store.disable_webhook(name="other", by=OLGA)
    expected = [
        *["capability.published", "capability.published", "capability.rolled_back", "capability.published"],
        *["capability.deprecated", "capability.deprecated", "capability.retired", "capability.restored"],
        *["capability.quarantined", "capability.restored"],
        *["draft.saved", "draft.saved", "incident.opened", "incident.closed", "capability.published"],
        *["proposal.created", "proposal.rejected"],
        *["git_source.failing", "git_source.recovered"],
        *["agent_key.created", "agent_key.revoked", "operator.created", "operator.disabled"],
        *["job.parked", "webhook.disabled"],
    ]
    assert _kinds() == expected
    # Those of git mirrors need a repository elsewhere: features/git_mirrors/tests has them.
    assert set(PUBLIC_TYPES) - set(expected) == {"registry.restored", "git_mirror.failing", "git_mirror.recovered"}
    bodies = [json.loads(row.body) for row in WebhookDelivery.objects.order_by("id")]
    for body in bodies:
        assert_event(body)
    assert len({body["id"] for body in bodies}) == len(bodies)
    opened, closed = (
        next(body for body in bodies if body["type"] == f"incident.{word}") for word in ("opened", "closed")
    )
    assert opened["data"]["incident_id"] == closed["data"]["incident_id"]
    assert "csk_" not in json.dumps(bodies)


def test_whoever_asks_for_nothing_is_told_all_but_what_is_chatty(receiver: Receiver) -> None:
    _hook(receiver)
    _do_everything()
    assert "draft.saved" not in _kinds()
    assert len(_kinds()) == 22


@pytest.mark.both_databases
def test_only_what_was_asked_for_is_told(receiver: Receiver) -> None:
    _hook(receiver, "capability.retired")
    _do_everything()
    assert _kinds() == ["capability.retired"]


def test_two_webhooks_are_told_of_one_event_by_one_id(receiver: Receiver) -> None:
    _hook(receiver)
    _hook(receiver, name="second")
    publish()
    assert _run() == ["done", "done"]
    assert len({event["id"] for event in _told(receiver)}) == 1


@pytest.mark.both_databases
def test_a_write_that_is_rolled_back_is_no_event(receiver: Receiver) -> None:
    _hook(receiver)

    def publish_and_fail() -> None:
        with write_transaction():
            publish()
            assert WebhookDelivery.objects.count() == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        publish_and_fail()
    assert not Capability.objects.exists()
    assert not WebhookDelivery.objects.exists()
    assert not Job.objects.exists()


@pytest.mark.both_databases
def test_a_registry_without_webhooks_stores_nothing() -> None:
    publish()
    assert not WebhookDelivery.objects.exists()
    assert not Job.objects.exclude(concurrency_key="").exclude(kind=LEARNING).exists()


def test_a_receiver_that_fails_is_told_again_with_the_same_id_and_bytes(receiver: Receiver) -> None:
    _hook(receiver)
    publish()
    receiver.replies = [status(500, body=b"out of ink"), status(302, "Location: /elsewhere\r\n"), status(404)]
    assert _run() == ["queued"]
    row = WebhookDelivery.objects.get()
    assert (row.state, row.attempts, row.last_status, row.last_error, row.response_excerpt) == (
        ("queued", 1, 500, "answered 500", "out of ink")
    )
    assert [*_run(11), *_run(100), *_run(1000)] == ["queued", "queued", "done"]
    assert len({(request.body, request.headers["webhook-id"]) for request in receiver.requests}) == 1
    assert len(receiver.requests) == 4
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("delivered", 4)


def test_the_last_failure_parks_it_and_a_person_may_send_it_again(receiver: Receiver) -> None:
    _hook(receiver)
    publish()
    receiver.reply = status(503)
    endings = _run(10**6)
    assert endings == ["queued"] * (TRIES_MAX - 1) + ["parked"]
    row = WebhookDelivery.objects.get()
    assert (row.state, row.attempts) == ("failed", TRIES_MAX)
    # Told to nobody: two dead receivers would tell each other for ever.
    assert AuditEvent.objects.filter(verb="job.park").count() == 1
    receiver.reply = status(200)
    webhook_store.redeliver(delivery_id=row.pk, by=OLGA)
    assert _run() == ["done"]
    row.refresh_from_db()
    assert (row.state, Job.objects.exclude(concurrency_key="").get().state) == ("delivered", "done")
    assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1


@pytest.mark.both_databases
def test_a_delivery_follows_its_job(receiver: Receiver) -> None:
    _hook(receiver)
    publish()
    receiver.reply = status(503)
    _run(10**6)
    job, row = Job.objects.exclude(concurrency_key="").get(), WebhookDelivery.objects.get()
    admin.retry_job(job_id=job.pk, by=OLGA)
    row.refresh_from_db()
    assert row.state == "queued"
    admin.cancel_job(job_id=job.pk, by=OLGA)
    row.refresh_from_db()
    assert row.state == "failed"
    receiver.reply = status(200)
    webhook_store.redeliver(delivery_id=row.pk, by=OLGA)
    assert _run() == ["done"]


@pytest.mark.both_databases
def test_gone_disables_the_webhook_and_tells_the_others(receiver: Receiver) -> None:
    _hook(receiver)
    publish()
    receiver.reply = status(410)
    second = _hook(receiver, "webhook.disabled", name="second")
    lease = queue.claim_job(timezone.now())
    assert lease is not None
    assert queue.execute_job(lease) == "done"
    webhook = webhook_store.get_webhook("chat")
    assert (webhook.is_enabled, webhook.disabled_reason) == (False, "The receiver answered 410 Gone")
    assert WebhookDelivery.objects.get(webhook=webhook).state == "failed"
    (told,) = WebhookDelivery.objects.filter(webhook=second)
    assert json.loads(told.body)["data"]["webhook"] == "chat"
    with pytest.raises(StatusConflict, match="410 Gone"):
        webhook_store.send_test(name="chat", by=OLGA)


@pytest.mark.both_databases
def test_what_is_queued_for_a_disabled_webhook_is_not_sent(receiver: Receiver) -> None:
    _hook(receiver)
    publish()
    webhook_store.disable_webhook(name="chat", by=OLGA)
    publish(body="Two.")
    assert _run() == ["done"]
    assert receiver.requests == []
    assert [(row.state, row.last_error) for row in WebhookDelivery.objects.all()] == [
        ("failed", "The webhook is disabled")
    ]
    webhook_store.enable_webhook(name="chat", by=OLGA)
    publish(body="Three.")
    _run()
    assert len(receiver.requests) == 1


@pytest.mark.both_databases
def test_a_new_secret_signs_beside_the_old_one_for_a_day(receiver: Receiver) -> None:
    old = decrypt_secret(_hook(receiver).secret)
    new = webhook_store.rotate_secret(name="chat", by=OLGA)
    publish()
    _run()
    (request,) = receiver.requests
    signatures = request.headers["webhook-signature"].split(" ")
    assert signatures == [_signature(new, request), _signature(old, request)]
    Webhook.objects.update(previous_secret_until=timezone.now() - timedelta(seconds=1))
    publish(body="Two.")
    _run()
    assert receiver.requests[1].headers["webhook-signature"] == _signature(new, receiver.requests[1])


def test_a_test_is_tried_once(receiver: Receiver) -> None:
    _hook(receiver, "capability.retired")
    receiver.reply = status(500)
    delivery, job_id = webhook_store.send_test(name="chat", by=OLGA)
    assert queue.run_next_job(job_id=job_id) == "done"
    delivery.refresh_from_db()
    assert (delivery.kind, delivery.state, delivery.last_error) == ("webhook.test", "failed", "answered 500")
    assert_event(_told(receiver)[0])


def test_a_webhook_is_a_lane_and_keeps_no_other_waiting(receiver: Receiver) -> None:
    _hook(receiver)
    _hook(receiver, name="second")
    for number in range(2):
        publish(body=f"Number {number}.")
    leases = [queue.claim_job(timezone.now(), with_concurrency_key=True) for _ in range(3)]
    assert leases[2] is None
    taken = [WebhookDelivery.objects.get(pk=lease.payload["delivery_id"]).webhook.name for lease in leases[:2] if lease]
    assert sorted(taken) == ["chat", "second"]
    assert queue.claim_job(timezone.now(), with_concurrency_key=False) is None
    assert leases[0] is not None
    queue.execute_job(leases[0])
    assert queue.claim_job(timezone.now(), with_concurrency_key=True) is not None


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"name": " "}, InvalidRequest),
        ({"name": "x" * 81}, InvalidRequest),
        ({"name": "a\x1b[31m"}, InvalidRequest),
        ({"name": "chat"}, NameConflict),
        ({"events": ["capability.exploded"]}, InvalidRequest),
        ({"url": "http://127.0.0.1/"}, InvalidRequest),
    ],
)
def test_an_odd_webhook_is_refused(change: dict[str, Any], error: type[Exception]) -> None:
    given: dict[str, Any] = {"name": "chat", "url": "https://hooks.example.com/secret/path", "events": []}
    webhook_store.create_webhook(by=OLGA, **given)
    with pytest.raises(error):
        webhook_store.create_webhook(by=OLGA, **{**given, "name": "another", **change})
    assert Webhook.objects.count() == 1


@pytest.mark.both_databases
def test_no_secret_is_in_the_audit_log() -> None:
    _, secret = webhook_store.create_webhook(name="chat", url="https://hooks.example.com/very/secret", by=OLGA)
    new = webhook_store.rotate_secret(name="chat", by=OLGA)
    details = json.dumps(list(AuditEvent.objects.values_list("detail", flat=True)))
    assert not any(word in details for word in (secret, new, "very"))
    assert "hooks.example.com" in details


def test_what_is_not_there() -> None:
    for verb in (
        webhook_store.disable_webhook,
        webhook_store.enable_webhook,
        webhook_store.rotate_secret,
        webhook_store.send_test,
    ):
        with pytest.raises(NotFound):
            verb(name="nobody", by=OLGA)
    with pytest.raises(NotFound):
        webhook_store.redeliver(delivery_id=1, by=OLGA)


def test_a_delivery_that_is_queued_is_not_queued_twice(receiver: Receiver) -> None:
    _hook(receiver)
    publish()
    with pytest.raises(StatusConflict, match="queued"):
        webhook_store.redeliver(delivery_id=WebhookDelivery.objects.get().pk, by=OLGA)


@pytest.mark.both_databases
def test_old_deliveries_are_forgotten(receiver: Receiver) -> None:
    _hook(receiver)
    publish()
    _run()
    publish(body="Two.")
    WebhookDelivery.objects.update(created_at=timezone.now() - timedelta(days=31))
    housekeeping.queue_daily(timezone.now().date())
    for job_id in Job.objects.filter(kind="webhook.prune").values_list("pk", flat=True):
        queue.run_next_job(job_id=job_id)
    assert [row.state for row in WebhookDelivery.objects.all()] == ["queued"]


@pytest.mark.both_databases
def test_the_same_events_in_another_order_change_nothing() -> None:
    webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    # As an older version stored them, or another order of FEATURES.
    Webhook.objects.update(events=["webhook.disabled", "job.parked"])
    webhook_store.update_webhook(
        name="chat", url="https://hooks.example.com/", by=OLGA, events=["webhook.disabled", "job.parked"]
    )
    assert not AuditEvent.objects.filter(verb="webhook.change").exists()


@pytest.mark.both_databases
def test_a_registry_with_webhooks_does_not_start_without_the_feature(settings: Any) -> None:
    settings.FEATURES = tuple(name for name in settings.FEATURES if name != "webhooks")
    assert find_absent_features() == []
    webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    (sentence,) = find_absent_features()
    assert "There are webhooks, and FEATURES is without 'webhooks'" in sentence


def test_no_secret_is_in_a_row_as_text() -> None:
    _, secret = webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    newer = webhook_store.rotate_secret(name="chat", by=OLGA)
    stored = serialize("json", Webhook.objects.all())
    assert secret not in stored
    assert newer not in stored


@pytest.mark.both_databases
def test_a_secret_of_before_signs_on_and_is_encrypted_by_the_daily_job() -> None:
    webhook, _ = webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    Webhook.objects.update(secret="whsec_of_before")
    webhook_delivery.prune_deliveries(None)()  # type: ignore[arg-type]
    webhook.refresh_from_db()
    assert is_current(webhook.secret)
    assert decrypt_secret(webhook.secret) == "whsec_of_before"


def test_a_webhook_restored_under_another_key_is_disabled_with_the_reason(receiver: Receiver, settings: Any) -> None:
    _hook(receiver)
    settings.SECRET_KEY = "another key of fifty characters, as a restore has it"
    publish()
    _run()
    webhook = Webhook.objects.get()
    assert not webhook.is_enabled
    assert "another SECRET_KEY" in webhook.disabled_reason
    assert receiver.requests == []
