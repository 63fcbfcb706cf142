"""`POST /hooks/sources/NUMBER`: pushes that git hosts tell of, in the forms of GitHub, GitLab and Gitea."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.sources import push_webhooks, source_sync
from features.sources.models import GitSource
from registry.common.net.webhook_signatures import generate_secret, sign_request
from registry.common.rate_limits import RATE_LIMITER
from registry.core.jobs import queue
from registry.models import AuditEvent, Job
from studio.config.parsers import Rate
from tests.factories import OLGA

pytestmark = pytest.mark.django_db
URL = "https://git.example/skills"
SECRET = generate_secret()
PUSH = {"ref": "refs/heads/main", "after": "a" * 40, "repository": {"default_branch": "main"}}


@pytest.fixture
def source() -> GitSource:
    """One that was looked at, so that its next look is an hour away."""
    made = source_sync.add_git_source(spec=f"{URL}@main", mode="draft", every_minutes=60, by=OLGA)
    Job.objects.update(run_after=timezone.now() + timedelta(hours=1))
    return made


@pytest.fixture
def secret(source: GitSource) -> str:
    return push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)[1]


def _send(number: int, body: Any, content_type: str = "application/json", **headers: str) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    client = Client(enforce_csrf_checks=True)
    return client.post(f"/hooks/sources/{number}", raw, content_type=content_type, headers=headers)


def _signed(secret: str, body: Any) -> str:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def _github(
    source: GitSource, secret: str, body: Any, event: str = "push", content_type: str = "application/json"
) -> Any:
    signature = {"X-Hub-Signature-256": f"sha256={_signed(secret, body)}", "X-GitHub-Event": event}
    return _send(source.pk, body, content_type, **signature)


def _due() -> list[Job]:
    return list(Job.objects.filter(kind=source_sync.KIND, state="queued", run_after__lte=timezone.now()))


def test_a_push_makes_a_look_due_at_once_and_once(source: GitSource, secret: str) -> None:
    first = _github(source, secret, PUSH)
    assert (first.status_code, first.json()) == (202, {"status": "queued", "message": "A look is due now"})
    again = _github(source, secret, PUSH)
    assert (again.status_code, again.json()["status"]) == (202, "waiting")
    assert len(_due()) == Job.objects.count() == 1
    source.refresh_from_db()
    assert (source.push_result, source.pushed_at is not None) == ("waiting: A look is due already", True)
    assert first["Cache-Control"] == "no-store"


@pytest.mark.parametrize("event", ["Push Hook", "Tag Push Hook"])
def test_gitlab_sends_the_secret_itself(event: str, source: GitSource, secret: str) -> None:
    body = {"ref": "refs/heads/main", "after": "b" * 40, "project": {"default_branch": "main"}}
    answer = _send(source.pk, body, **{"X-Gitlab-Token": secret, "X-Gitlab-Event": event})
    assert (answer.status_code, len(_due())) == (202, 1)


def test_gitea_and_forgejo_sign_without_a_prefix(source: GitSource, secret: str) -> None:
    headers = {"X-Gitea-Signature": _signed(secret, PUSH), "X-Gitea-Event": "push"}
    assert _send(source.pk, PUSH, **headers).status_code == 202
    assert len(_due()) == 1


def test_a_form_of_github_is_read(source: GitSource, secret: str) -> None:
    body = f"payload={quote(json.dumps(PUSH))}".encode()
    answer = _github(source, secret, body, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")


@pytest.mark.both_databases
def test_a_ping_is_answered_and_changes_nothing(source: GitSource, secret: str) -> None:
    answer = _github(source, secret, {"zen": "Keep it simple"}, event="ping")
    assert (answer.status_code, answer.json()["status"]) == (200, "pong")
    assert _due() == []
    source.refresh_from_db()
    assert source.push_result.startswith("pong")


@pytest.mark.parametrize(
    ("body", "event", "reason"),
    [
        (PUSH | {"ref": "refs/heads/topic/x"}, "push", "'topic/x' was pushed, and 'main' is followed"),
        (PUSH | {"ref": "refs/tags/v1"}, "push", "'v1' was pushed, and 'main' is followed"),
        (PUSH | {"after": "0" * 40}, "push", "'main' was deleted"),
        ({}, "issues", "an event issues is not a push"),
        ({}, "", "an event without a name is not a push"),
    ],
)
def test_what_is_no_push_to_it_is_ignored_with_the_reason(
    body: Any, event: str, reason: str, source: GitSource, secret: str
) -> None:
    answer = _github(source, secret, body, event=event)
    assert (answer.status_code, answer.json()) == (200, {"status": "ignored", "message": reason})
    assert _due() == []


def test_a_source_without_a_branch_follows_the_default_one() -> None:
    source = source_sync.add_git_source(spec=URL, mode="draft", every_minutes=60, by=OLGA)
    Job.objects.update(run_after=timezone.now() + timedelta(hours=1))
    secret = push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)[1]
    assert _github(source, secret, PUSH | {"ref": "refs/heads/topic"}).json()["status"] == "ignored"
    assert _github(source, secret, PUSH).json()["status"] == "queued"
    # Who does not tell the default branch is believed.
    assert _github(source, secret, {"ref": "refs/heads/any"}).json()["status"] == "waiting"


@pytest.mark.both_databases
def test_a_tag_that_is_followed_is_found(source: GitSource, secret: str) -> None:
    GitSource.objects.filter(pk=source.pk).update(ref="v1")
    assert _github(source, secret, PUSH | {"ref": "refs/tags/v1"}).json()["status"] == "queued"


@pytest.mark.both_databases
def test_a_push_during_a_look_is_followed_by_another_look(source: GitSource, secret: str) -> None:
    Job.objects.update(run_after=timezone.now())
    lease = queue.claim_job(timezone.now())
    assert lease is not None
    began = timezone.now()
    assert _github(source, secret, PUSH).json()["status"] == "waiting"
    source_sync._queue_again(source.pk, began)
    assert Job.objects.count() == 1
    Job.objects.filter(pk=lease.job_id).update(state="done", lease_expires_at=None, finished_at=timezone.now())
    source_sync._queue_again(source.pk, began)
    assert len(_due()) == 1


def _refusals(source: GitSource, secret: str) -> list[Any]:
    other = push_webhooks.create_push_secret(
        source_id=source_sync.add_git_source(spec=f"{URL}2", mode="draft", every_minutes=60, by=OLGA).pk, by=OLGA
    )[1]
    without = source_sync.add_git_source(spec=f"{URL}3", mode="draft", every_minutes=60, by=OLGA)
    signature = {"X-Hub-Signature-256": f"sha256={_signed(secret, PUSH)}", "X-GitHub-Event": "push"}
    return [
        _send(source.pk, PUSH | {"after": "c" * 40}, **signature),
        _send(source.pk, PUSH, **{"X-GitHub-Event": "push"}),
        _send(source.pk, PUSH, **{"X-Hub-Signature-256": f"sha256={_signed(other, PUSH)}", "X-GitHub-Event": "push"}),
        _send(source.pk, PUSH, **{"X-Gitlab-Token": "wrong", "X-Gitlab-Event": "Push Hook"}),
        _send(source.pk, PUSH, **{"X-Gitlab-Token": "größer", "X-Gitlab-Event": "Push Hook"}),
        _send(without.pk, PUSH, **{"X-Gitlab-Token": "", "X-Gitlab-Event": "Push Hook"}),
        _send(without.pk, PUSH, **{"X-Hub-Signature-256": f"sha256={_signed('', PUSH)}", "X-GitHub-Event": "push"}),
        _send(999_999, PUSH, **signature),
        _send(999_999_999, PUSH, **signature),
    ]


def test_a_wrong_signature_and_a_source_that_is_not_there_are_refused_alike(source: GitSource, secret: str) -> None:
    answers = _refusals(source, secret)
    assert {answer.status_code for answer in answers} == {403}
    (body,) = {answer.content for answer in answers}
    assert json.loads(body)["error"]["code"] == "FORBIDDEN"
    source.refresh_from_db()
    assert (source.pushed_at, source.sync_requested_at) == (None, None)


def test_guessing_is_limited_by_address_and_a_good_push_goes_on(source: GitSource, secret: str, settings: Any) -> None:
    settings.RATE_LIMITS = {"guess": Rate(2, 60)}
    codes = [_send(source.pk, PUSH, **{"X-Gitlab-Token": "wrong"}).status_code for _ in range(3)]
    assert codes == [403, 403, 429]
    assert _github(source, secret, PUSH).status_code == 202


def test_good_pushes_are_limited_by_source(source: GitSource, secret: str, settings: Any) -> None:
    settings.RATE_LIMITS = {"write": Rate(2, 60)}
    assert [_github(source, secret, PUSH).status_code for _ in range(3)] == [202, 202, 429]
    RATE_LIMITER.forget()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"ref": 1}', b'{"ref": "main"}', b"\xff\xfe", b'{"ref":' + b"[" * 100_000, b"null"]
)
def test_odd_bodies_that_are_signed_are_refused(body: bytes, source: GitSource, secret: str) -> None:
    answer = _github(source, secret, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST")
    assert _due() == []


def test_a_body_that_is_too_large_is_not_read(source: GitSource, secret: str) -> None:
    body = b"x" * (push_webhooks.BODY_BYTES_MAX + 1)
    answer = _send(source.pk, body, **{"X-Gitlab-Token": secret})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_other_methods_and_addresses_are_refused() -> None:
    answer = Client().get("/hooks/sources/1")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert Client().post("/hooks/sources/" + "9" * 30).status_code == 404


@pytest.mark.both_databases
def test_the_secret_is_made_rotated_and_dropped(source: GitSource, secret: str) -> None:
    newer = push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)[1]
    assert len(newer) >= 40
    assert newer != secret
    assert _github(source, newer, PUSH).status_code == 202
    push_webhooks.delete_secret(source_id=source.pk, by=OLGA)
    push_webhooks.delete_secret(source_id=source.pk, by=OLGA)
    assert _github(source, newer, PUSH).status_code == 403
    verbs = list(AuditEvent.objects.filter(verb__startswith="git_source.secret").values_list("verb", "detail__rotated"))
    assert verbs == [("git_source.secret", False), ("git_source.secret", True), ("git_source.secret_drop", None)]
    assert not any(newer in json.dumps(event.detail) for event in AuditEvent.objects.all())


def _event(kind: str = "capability.published") -> dict[str, Any]:
    return {"id": "1", "type": kind, "timestamp": "2026-01-01T00:00:00Z", "data": {"capability_id": "alpha"}}


def _told(number: int, secrets: list[str], body: Any, changes: dict[str, str] | None = None, *, ago: int = 0) -> Any:
    raw = json.dumps(body).encode()
    headers = sign_request(secrets_in_force=secrets, event_id="e", sent_at=int(time.time()) - ago, body=raw)
    return _send(number, raw, **headers | (changes or {}))


@pytest.fixture
def followed() -> GitSource:
    made = source_sync.add_registry(url="https://studio.example.com", mode="draft", every_minutes=60, by=OLGA)
    Job.objects.update(run_after=timezone.now() + timedelta(hours=1))
    return push_webhooks.set_secret(source_id=made.pk, secret=SECRET, by=OLGA)


def test_another_registry_tells_by_its_webhook(followed: GitSource) -> None:
    answer = _told(followed.pk, [SECRET], _event())
    assert (answer.status_code, answer.json()["status"], len(_due())) == (202, "queued", 1)
    # While the secret of there is changed, an event has a signature by each.
    assert _told(followed.pk, [generate_secret(), SECRET], _event("registry.restored")).json()["status"] == "waiting"
    assert _told(followed.pk, [SECRET], _event("webhook.test")).json()["status"] == "pong"
    ignored = _told(followed.pk, [SECRET], _event("agent_key.created"))
    assert ignored.json() == {"status": "ignored", "message": "an event agent_key.created changes nothing here"}


def test_an_event_that_is_old_changed_or_signed_by_another_is_refused(followed: GitSource) -> None:
    answers = [
        _told(followed.pk, [SECRET], _event(), ago=301),
        _told(followed.pk, [SECRET], _event(), ago=-301),
        _told(followed.pk, [generate_secret()], _event()),
        _told(followed.pk, [SECRET], _event(), {"webhook-id": "another"}),
        _told(followed.pk, [SECRET], _event(), {"webhook-timestamp": "1e9"}),
        _told(followed.pk, [SECRET], _event(), {"webhook-signature": ""}),
        # Other forms are those of git hosts.
        _send(followed.pk, _event(), **{"X-Gitlab-Token": SECRET}),
        _send(followed.pk, _event(), **{"X-Hub-Signature-256": f"sha256={_signed(SECRET, _event())}"}),
    ]
    assert {answer.status_code for answer in answers} == {403}
    assert _due() == []


def test_a_secret_belongs_to_its_kind_of_source(source: GitSource, followed: GitSource) -> None:
    with pytest.raises(InvalidRequest, match="made here"):
        push_webhooks.set_secret(source_id=source.pk, secret=SECRET, by=OLGA)
    with pytest.raises(InvalidRequest, match="makes the secret"):
        push_webhooks.create_push_secret(source_id=followed.pk, by=OLGA)


# A secret follows another


@pytest.mark.both_databases
def test_the_old_secret_is_taken_for_a_day_beside_the_new_one(source: GitSource, secret: str) -> None:
    new = push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)[1]
    assert _github(source, secret, PUSH).status_code == 202
    source.refresh_from_db()
    assert source.push_result == "queued: A look is due now (signed with the old secret)"
    assert _github(source, new, PUSH).status_code == 202
    source.refresh_from_db()
    assert source.push_result == "waiting: A look is due already"
    until = source.previous_hook_secret_until
    assert until is not None
    assert timedelta(hours=23) < until - timezone.now() <= timedelta(hours=24)
    GitSource.objects.update(previous_hook_secret_until=timezone.now())
    assert _github(source, secret, PUSH).status_code == 403
    assert _github(source, new, PUSH).status_code == 202


def test_of_two_old_secrets_the_later_one_is_taken(source: GitSource, secret: str) -> None:
    second = push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)[1]
    push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)
    assert _send(source.pk, PUSH, **{"X-Gitlab-Token": second, "X-Gitlab-Event": "Push Hook"}).status_code == 202
    assert _send(source.pk, PUSH, **{"X-Gitlab-Token": secret, "X-Gitlab-Event": "Push Hook"}).status_code == 403


@pytest.mark.both_databases
def test_the_old_secret_is_ended_now_and_audited_once(source: GitSource, secret: str) -> None:
    new = push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)[1]
    told = AuditEvent.objects.get(verb="git_source.secret", detail__rotated=True).detail
    assert told["old_secret_until"]
    assert secret not in str(told)
    for _ in range(2):
        push_webhooks.expire_previous_secret(source_id=source.pk, by=OLGA)
    assert AuditEvent.objects.filter(verb="git_source.old_secret_end").count() == 1
    assert _github(source, secret, PUSH).status_code == 403
    assert _github(source, new, PUSH).status_code == 202


def test_dropping_ends_the_old_secret_too(source: GitSource, secret: str) -> None:
    new = push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)[1]
    push_webhooks.delete_secret(source_id=source.pk, by=OLGA)
    assert {_github(source, one, PUSH).status_code for one in (secret, new)} == {403}
    push_webhooks.create_push_secret(source_id=source.pk, by=OLGA)
    assert _github(source, new, PUSH).status_code == 403


def test_the_secret_of_another_registry_follows_in_the_same_way() -> None:
    mirror = source_sync.add_registry(url="https://a.example", mode="draft", every_minutes=60, by=OLGA)
    first, second = generate_secret(), generate_secret()
    for given in (first, first, second, second):
        push_webhooks.set_secret(source_id=mirror.pk, secret=given, by=OLGA)
    assert AuditEvent.objects.filter(verb="git_source.secret").count() == 2
    event = json.dumps({"type": "capability.published"}).encode()

    def told(secret: str) -> int:
        sent = sign_request(secrets_in_force=[secret], event_id="e1", sent_at=int(time.time()), body=event)
        return int(_send(mirror.pk, event, **sent).status_code)

    assert (told(first), told(second), told(generate_secret())) == (202, 202, 403)
    push_webhooks.expire_previous_secret(source_id=mirror.pk, by=OLGA)
    assert (told(first), told(second)) == (403, 202)
