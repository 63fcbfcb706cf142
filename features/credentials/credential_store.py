"""Credentials: who makes them, to whom they may be sent, and how they end (docs/contract.md 3.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.utils import timezone

from capability_kit.http_address import HttpAddress
from capability_rules.errors import InvalidRequest
from features.credentials.models import Credential
from registry.access.stored_secrets import SecretUnreadable, decrypt_secret, encrypt_secret, renew_encryption
from registry.access.teams import require_admin
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NameConflict, NotFound, SourceMisconfigured, StatusConflict
from registry.core import audit
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction

KIND: Final = "credential.encrypt"
CREDENTIALS_MAX: Final = 200
HOSTS_MAX: Final = 20
SECRET_LENGTH_MAX: Final = 4000
_HOST: Final = re.compile(
    r"(?=.{1,255}\Z)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?|\[[0-9a-f:.]+\](?::[0-9]{1,5})?"
)
_USERNAME: Final = re.compile(r"[!-9;-~]{0,100}")
# Most git hosts take a token with any name; this one is taken by all that were looked at.
USERNAME: Final = "x-access-token"
# A use is written down again after this long.
_NOTE_AGAIN: Final = timedelta(minutes=10)


def create_credential(
    *, name: str, hosts: Sequence[str], secret: str, by: Actor, username: str = ""
) -> Credential:  # fmt: skip
    """Keep a secret for these hosts, such as `github.com` or `git.example.com:8443`.

    Raises `InvalidRequest` for another form of one of them, `NameConflict`, and `Forbidden` for who is not an admin.
    """
    _require_right(by)
    name, bound = name.strip(), sorted({host.strip().lower() for host in hosts})
    if not 1 <= len(name) <= 70 or not name.isprintable():
        raise InvalidRequest("A credential's name has 1 to 70 printable characters")
    if not 1 <= len(bound) <= HOSTS_MAX or not all(_HOST.fullmatch(host) for host in bound):
        words = "write them without https:// and path, such as github.com"
        raise InvalidRequest(f"A credential is for 1 to {HOSTS_MAX} hosts: {words}")
    if not _USERNAME.fullmatch(username):
        raise InvalidRequest("A user name has at most 100 characters, without blanks and colons")
    given = _checked_secret(secret)
    with write_transaction():
        if Credential.objects.filter(name=name).exists():
            raise NameConflict(f"There is a credential named '{name}'")
        if Credential.objects.filter(ended_at__isnull=True).count() >= CREDENTIALS_MAX:
            raise InvalidRequest(f"At most {CREDENTIALS_MAX} credentials are kept; end one first")
        row = Credential.objects.create(
            name=name, hosts=bound, username=username, secret=encrypt_secret(given), created_by=str(by)
        )
        audit.record(by=by, verb="credential.create", subject=name, detail={"hosts": bound, "username": username})
    return row


def _require_right(by: Actor) -> None:
    if by.kind == "agent_key":
        raise Forbidden("A key can neither keep nor end a credential")
    require_admin(by, "keep credentials")


def _checked_secret(secret: str) -> str:
    given = secret.strip()
    if not 1 <= len(given) <= SECRET_LENGTH_MAX or not given.isascii() or not given.isprintable():
        raise InvalidRequest(f"A secret has 1 to {SECRET_LENGTH_MAX:,} printable ASCII characters in one line")
    return given


def replace_secret(*, name: str, secret: str, by: Actor) -> Credential:
    """Another secret under the same name, from now on. Raises `NotFound`, `InvalidRequest`, `StatusConflict` where it
    is ended, `Forbidden`."""
    _require_right(by)
    given = _checked_secret(secret)
    with write_transaction():
        row = get_credential(name)
        if row.ended_at is not None:
            raise StatusConflict(f"The credential '{name}' is ended: make another one")
        update_row(row, secret=encrypt_secret(given), replaced_at=timezone.now())
        audit.record(by=by, verb="credential.replace", subject=name)
    return row


def open_to_members(*, name: str, is_open: bool, by: Actor) -> Credential:
    """Whether members import with it, and so read what it reads. The same again changes nothing. Raises as above."""
    _require_right(by)
    with write_transaction():
        row = get_credential(name)
        if row.ended_at is not None:
            raise StatusConflict(f"The credential '{name}' is ended: make another one")
        if row.is_open != is_open:
            update_row(row, is_open=is_open)
            audit.record(by=by, verb="credential.open" if is_open else "credential.close", subject=name)
    return row


def end_credential(*, name: str, by: Actor, why: str = "") -> Credential:
    """Forget the secret; what uses it stops. Ending twice changes nothing. Raises `NotFound`, `Forbidden`."""
    _require_right(by)
    with write_transaction():
        row = get_credential(name)
        if row.ended_at is None:
            _end(row, by, why)
    return row


def _end(row: Credential, by: Actor, why: str) -> None:
    update_row(row, secret="", ended_at=timezone.now(), ended_by=str(by))
    audit.record(by=by, verb="credential.end", subject=row.name, detail={"why": why} if why else {})


def get_credential(name: str) -> Credential:
    """The credential of this name, ended ones too. Raises `NotFound`."""
    return get_row(Credential.objects.filter(name=name), NotFound(f"There is no credential named '{name[:70]}'"))


def list_credentials(*, in_force: bool = False) -> list[Credential]:
    """All of them by name, with `in_force` those that are not ended."""
    found = Credential.objects.all()
    return list(found.filter(ended_at__isnull=True) if in_force else found)


def require_host(row: Credential, url: str) -> None:
    """Raises `InvalidRequest` where an address is at a host that the credential is not for."""
    if _host_of(url) not in row.hosts:
        bound = ", ".join(row.hosts[:5])
        raise InvalidRequest(f"The credential '{row.name}' is for {bound}, not for {_host_of(url)}")


def _host_of(url: str) -> str:
    address = HttpAddress.parse(url)
    if address is None:
        return ""
    # No credential is for what is not encrypted on its way.
    return address.host_and_port if address.scheme == "https" else f"http://{address.host_and_port}"


def open_secret(row: Credential, url: str, *, used_for: str) -> tuple[str, str]:
    """User name and secret for a request to `url`, and a note of who used it.

    Raises `SourceMisconfigured` where it is ended, not for this host, or encrypted under another SECRET_KEY: such a one
    is ended here.
    """
    row.refresh_from_db()
    if row.ended_at is not None:
        raise SourceMisconfigured(f"The credential '{row.name}' is ended: choose another one")
    if _host_of(url) not in row.hosts:
        raise SourceMisconfigured(f"The credential '{row.name}' is not for {_host_of(url)}")
    try:
        secret = decrypt_secret(row.secret)
    except SecretUnreadable:
        why = "It was encrypted under another SECRET_KEY"
        with write_transaction():
            _end(row, Actor("system", "credentials"), why)
        raise SourceMisconfigured(f"The credential '{row.name}' is ended. {why}: enter the secret again") from None
    _note_use(row, used_for)
    return row.username or USERNAME, secret


def _note_use(row: Credential, used_for: str) -> None:
    """Each user of a credential is in the audit log once for each secret, and the last use is kept."""
    now, user = timezone.now(), used_for[:200]
    is_noted = row.last_used_for == user and row.last_used_at is not None and now - row.last_used_at < _NOTE_AGAIN
    if is_noted:
        return
    with write_transaction():
        since = row.replaced_at or row.created_at
        known = audit.find_last(row.name, "credential.use", detail__used_for=user, at__gte=since)
        update_row(row, last_used_at=now, last_used_for=user)
        if known is None:
            audit.record(
                by=Actor("system", "credentials"), verb="credential.use", subject=row.name, detail={"used_for": user}
            )


def encrypt_stored(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler of the daily job: what a former SECRET_KEY encrypted is encrypted under the present one."""
    return lambda: renew_encryption(Credential.objects.filter(ended_at__isnull=True), "secret")
