"""Push webhooks of a source's host: verified by the source's own secret, they queue a sync at once.

GitHub and Gitea (Forgejo) sign the body of a push with HMAC-SHA256, GitLab sends the secret itself; another registry
signs its events as our own webhooks are signed. Nothing is fetched here.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import parse_qs

from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.sources import source_sync
from features.sources.audit_rows import record_event
from features.sources.models import GitSource
from registry.access.stored_secrets import SecretUnreadable, decrypt_secret, encrypt_secret, renew_encryption
from registry.common import rate_limits
from registry.common.actors import Actor
from registry.common.errors import Forbidden
from registry.common.net.webhook_signatures import PREVIOUS_SECRET_RETENTION, TEST, generate_secret, sign_request
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.rows import update_row
from registry.core.transactions import write_transaction

BODY_BYTES_MAX: Final = 5 * 1024 * 1024
_PINGS: Final = frozenset({"ping"})
_PUSHES: Final = frozenset({"push", "push hook", "tag push hook", "system hook"})
_NOTHING: Final = "0" * 40
_WHSEC: Final = re.compile(r"whsec_(?:[A-Za-z0-9+/]{4}){6,22}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_SECONDS: Final = re.compile(r"[0-9]{1,12}")
_AGE_SECONDS_MAX: Final = 300
# As long as a webhook of ours goes on signing by the secret before.
PREVIOUS_SECRET_ACCEPTED: Final = PREVIOUS_SECRET_RETENTION

DeliveryStatus = Literal["queued", "waiting", "ignored", "pong"]


@dataclass(frozen=True, slots=True)
class PushDelivery:
    """What a git host sends: `event` as its header names it, `signature` the hex of an HMAC, `token` the secret.

    Another registry sends `signature` as Standard Webhooks has it, with `event_id` and `sent_at`, seconds since 1970.
    """

    event: str
    body: bytes
    signature: str = ""
    token: str = ""
    is_form: bool = False
    event_id: str = ""
    sent_at: str = ""


@dataclass(frozen=True, slots=True)
class PushResult:
    """What came of it: a look is `queued`, or one was `waiting` already; `ignored` for the reason in `words`."""

    status: DeliveryStatus
    words: str


_PING_RESULT: Final = PushResult("pong", "The address and the secret are right")


def create_push_secret(*, source_id: int, by: Actor) -> tuple[GitSource, str]:
    """A secret for the source's address, shown this once; for 24 hours pushes signed with the one before are taken too.

    Of two secrets before it only the later one is. Raises `NotFound`, and `InvalidRequest` for another registry, which
    makes the secret itself.
    """
    with write_transaction():
        source = source_sync.get_source(source_id)
        if source.kind != GitSource.Kind.GIT:
            raise InvalidRequest("The other registry makes the secret: make a webhook there, and give its secret here")
        secret = secrets.token_urlsafe(32)
        _put_secret(source, secret, by)
    return source, secret


def set_secret(*, source_id: int, secret: str, by: Actor) -> GitSource:
    """Keep the secret that another registry has made for its webhook to this source's address; the one before is
    taken for 24 hours too. The same again changes nothing.

    Raises `NotFound`, and `InvalidRequest` for another form, or for a repository.
    """
    secret = secret.strip()
    if not _WHSEC.fullmatch(secret):
        raise InvalidRequest("The secret of a webhook begins with whsec_; the other registry shows it when it is made")
    with write_transaction():
        source = source_sync.get_source(source_id)
        if source.kind != GitSource.Kind.REGISTRY:
            raise InvalidRequest("The secret of a repository is made here")
        if _read(source.hook_secret) != secret:
            _put_secret(source, secret, by)
    return source


def _put_secret(source: GitSource, secret: str, by: Actor) -> None:
    """The caller holds the lock."""
    old, now = source.hook_secret, timezone.now()
    until = now + PREVIOUS_SECRET_ACCEPTED if old else None
    update_row(
        source,
        hook_secret=encrypt_secret(secret),
        hook_secret_at=now,
        previous_hook_secret=old,
        previous_hook_secret_until=until,
    )
    more = {"old_secret_until": until.isoformat(timespec="seconds")} if until else {}
    record_event(source, "git_source.secret", by, {"rotated": bool(old), **more})


def expire_previous_secret(*, source_id: int, by: Actor) -> GitSource:
    """Take nothing more that is signed with the secret before the newest one. Raises `NotFound`; where none is taken
    nothing changes."""
    with write_transaction():
        source = source_sync.get_source(source_id)
        is_taken = source.has_two_secrets
        if source.previous_hook_secret:
            update_row(source, previous_hook_secret="", previous_hook_secret_until=None)
        if is_taken:
            record_event(source, "git_source.old_secret_end", by)
    return source


def delete_secret(*, source_id: int, by: Actor) -> GitSource:
    """Its address takes nothing any more. Raises `NotFound`; without a secret nothing changes."""
    with write_transaction():
        source = source_sync.get_source(source_id)
        if source.hook_secret:
            nothing = {"hook_secret": "", "hook_secret_at": None}
            update_row(source, **nothing, previous_hook_secret="", previous_hook_secret_until=None)
            record_event(source, "git_source.secret_drop", by)
    return source


def push_url(source: GitSource) -> str:
    """Where its host sends pushes, below the registry's own address."""
    return f"/hooks/sources/{source.pk}"


def receive_push(*, source_id: int, delivery: PushDelivery) -> PushResult:
    """Take a delivery. The same one twice leaves one look waiting.

    Raises `Forbidden` for a wrong signature and for a source that is not there, in the same words; `InvalidRequest`
    for a body that is signed and yet no push; `RateLimited`.
    """
    source = GitSource.objects.filter(pk=source_id).first()
    is_registry = source is not None and source.kind == GitSource.Kind.REGISTRY
    fits = _is_signed_event if is_registry else _is_signed
    # Both are always tried, so that the time does not reveal which one matched.
    by_new, by_old = [fits(secret, delivery) for secret in _in_force(source)]
    if source is None or not (by_new or by_old):
        raise Forbidden("The signature does not match, or this address accepts no pushes")
    rate_limits.consume("write", f"git source {source_id}")
    ignored = _ignored_event(delivery) if is_registry else _reason_to_ignore(source, delivery)
    if ignored is None:
        with write_transaction():
            is_new = source_sync.sync_now(source)
            heard = (
                PushResult("queued", "A look is due now") if is_new else PushResult("waiting", "A look is due already")
            )
            _note(source, heard, by_old=not by_new)
        return heard
    with write_transaction():
        _note(source, ignored, by_old=not by_new)
    return ignored


def _in_force(source: GitSource | None) -> tuple[str, str]:
    """The secret and the one before it. A missing one, one that cannot be read, or that of a missing source is replaced
    by one that is never valid: the same work is done."""
    new = source.hook_secret if source is not None else ""
    old = source.previous_hook_secret if source is not None and source.has_two_secrets else ""
    return _read(new) or generate_secret(), _read(old) or generate_secret()


def _read(stored: str) -> str:
    """The secret; empty for one of another SECRET_KEY."""
    try:
        return decrypt_secret(stored)
    except SecretUnreadable:
        return ""


def encrypt_stored(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: encrypts what sources keep under the present key."""
    return lambda: renew_encryption(GitSource.objects.all(), "hook_secret", "previous_hook_secret", "read_key")


def _note(source: GitSource, heard: PushResult, *, by_old: bool) -> None:
    more = " (signed with the old secret)" if by_old else ""
    words = f"{heard.status}: {heard.words}"[: 300 - len(more)] + more
    GitSource.objects.filter(pk=source.pk).update(pushed_at=timezone.now(), push_result=words)


def _is_signed(secret: str, delivery: PushDelivery) -> bool:
    if delivery.signature:
        expected = hmac.new(secret.encode(), delivery.body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(expected.encode(), delivery.signature.lower().encode())
    return hmac.compare_digest(secret.encode(), delivery.token.encode())


def _is_signed_event(secret: str, delivery: PushDelivery) -> bool:
    """By Standard Webhooks: one of several signatures, of a moment that is not long ago."""
    sent_at = int(delivery.sent_at) if _SECONDS.fullmatch(delivery.sent_at) else 0
    if abs(time.time() - sent_at) > _AGE_SECONDS_MAX:
        return False
    signed = sign_request(secrets_in_force=[secret], event_id=delivery.event_id, sent_at=sent_at, body=delivery.body)
    expected = signed["webhook-signature"].encode()
    return any(hmac.compare_digest(expected, one.encode()) for one in delivery.signature.split(" ")[:5])


def _ignored_event(delivery: PushDelivery) -> PushResult | None:
    """None where what agents can load has changed there."""
    kind = str(_push_of(delivery).get("type", ""))
    if kind == TEST:
        return _PING_RESULT
    if kind.startswith("capability.") or kind == "registry.restored":
        return None
    return PushResult("ignored", f"an event {kind[:60] or 'without a name'} changes nothing here")


def _reason_to_ignore(source: GitSource, delivery: PushDelivery) -> PushResult | None:
    """None where it is a push to what the source follows."""
    event = delivery.event.strip().lower()
    if event in _PINGS:
        return _PING_RESULT
    if event not in _PUSHES:
        shown = delivery.event.strip()[:60] or "without a name"
        return PushResult("ignored", f"an event {shown} is not a push")
    push = _push_of(delivery)
    ref = push.get("ref")
    if not isinstance(ref, str) or not ref.startswith("refs/"):
        raise InvalidRequest('A push names what was pushed, such as "ref": "refs/heads/main"')
    name = ref.removeprefix("refs/heads/").removeprefix("refs/tags/")
    wanted = source.ref or _default_branch(push)
    if wanted and name != wanted:
        return PushResult("ignored", f"'{name[:100]}' was pushed, and '{wanted[:100]}' is followed")
    if set(str(push.get("after", ""))) == set(_NOTHING):
        return PushResult("ignored", f"'{name[:100]}' was deleted")
    return None


def _push_of(delivery: PushDelivery) -> dict[str, Any]:
    """The payload: the body itself, or the field that GitHub puts it in where a form was chosen there."""
    try:
        text = delivery.body.decode("utf-8")
        if delivery.is_form:
            text = parse_qs(text, strict_parsing=True, max_num_fields=10)["payload"][0]
        push = json.loads(text)
    except (ValueError, KeyError, RecursionError):
        push = None
    if not isinstance(push, dict):
        raise InvalidRequest("The body is not a JSON object; choose the content type application/json there")
    return push


def _default_branch(push: dict[str, Any]) -> str:
    """GitHub and Gitea send it with the repository, GitLab with the project; empty where it is missing."""
    for key in ("repository", "project"):
        told = push.get(key)
        branch = told.get("default_branch") if isinstance(told, dict) else None
        if isinstance(branch, str):
            return branch
    return ""
