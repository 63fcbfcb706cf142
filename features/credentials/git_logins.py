"""What git signs in with at a host: a credential by its name, or a token that somebody wrote into an address."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from django.utils import timezone

from features.credentials import credential_store
from features.credentials.models import Credential
from registry.access.operators import is_admin
from registry.common.actors import Actor
from registry.common.errors import Forbidden
from registry.importing.git_reader import GitLogin, check_access, parse_git_url

# A name, a token or both before the host.
_LOGIN: Final = re.compile(r"https://(?P<login>[^/?#@\s]+)@")


def open_login(row: Credential, source: str, *, used_for: str) -> GitLogin:
    """For git at an address; raises as `credential_store.open_secret` does."""
    username, secret = credential_store.open_secret(row, parse_git_url(source).url, used_for=used_for)
    return GitLogin(row.name, username, secret)


def take_login(source: str, by: Actor) -> tuple[str, str]:
    """An address without the token in it, and the name of the credential that the token is kept as; empty for none.

    Raises `SourceUnreadable` where the host does not take the token, and for who may keep no credential.
    """
    found = _LOGIN.match(source)
    if found is None or (by.kind == "operator" and not is_admin(by)):
        return source, ""
    plain = _LOGIN.sub("https://", source, count=1)
    first, _, second = (unquote(part) for part in found["login"].partition(":"))
    username, secret = (first, second) if second else ("", first)
    host = urlsplit(parse_git_url(plain).url).netloc
    check_access(plain, GitLogin("in the address", username or credential_store.USERNAME, secret))
    name = f"{host}, {timezone.now():%Y-%m-%d %H:%M:%S}"
    row = credential_store.create_credential(name=name, hosts=[host], username=username, secret=secret, by=by)
    return plain, row.name


def open_for_import(source: str, name: str, by: Actor) -> tuple[str, GitLogin | None]:
    """For `Feature.import_login`: the address without a token in it, which is kept, and the credential of it or of this
    name, where `by` may import with it.

    Raises `NotFound`, `Forbidden`, and `SourceUnreadable` where it is ended, not for this host, or not taken there.
    """
    source, kept = take_login(source, by)
    if not (kept or name):
        return source, None
    row = find_for_import(kept or name, by)
    return source, open_login(row, source, used_for=f"import of {source} by {by.name}")


def find_for_import(name: str, by: Actor) -> Credential:
    """The credential of this name. Raises `NotFound`, and `Forbidden` where `by` may not import with it."""
    row = credential_store.get_credential(name)
    if not may_import_with(row, by):
        raise Forbidden(f"The credential '{row.name}' is not open to members: ask an admin to import, or to open it")
    return row


def list_for_import(by: Actor) -> list[Credential]:
    """Those in force that `by` may import with, by name; one query."""
    return [row for row in credential_store.list_credentials(in_force=True) if may_import_with(row, by)]


def may_import_with(row: Credential, by: Actor) -> bool:
    """Admins, the command line, and members where an admin has opened it; no key."""
    if by.kind == "agent_key":
        return False
    return row.is_open or by.kind != "operator" or is_admin(by)
