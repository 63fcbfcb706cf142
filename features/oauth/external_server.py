"""The authorization server that `OAUTH_ISSUER` names: its keys, and what a token of it proves (RFC 8414, 9068, 8725).

Imported only where that is set: PyJWT is part of the extra `oidc`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from capability_kit.json_text import as_mapping
from capability_rules.errors import RegistryUnavailable, SourceUnreadable
from features.oauth.documents import fetch_json
from features.oauth.server_address import get_external_issuer, get_resource
from registry.common import caches
from registry.common.errors import Unauthenticated
from registry.common.net.guarded_client import parse_address
from studio.pages.id_tokens import KEYS_SECONDS, IdTokenInvalid, Keys, read_keys, verify_token

logger = logging.getLogger(__name__)
ASK_SECONDS: Final = 60.0
_BYTES_MAX: Final = 128 * 1024
# What an access token calls itself; an ID token for the same audience has no scope.
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})


@dataclass
class _HeldKeys:
    """`read_at` and `asked_at` are of `time.monotonic`."""

    keys: Keys = ()
    read_at: float = -inf
    asked_at: float = -inf

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.read_at < KEYS_SECONDS

    @property
    def may_ask(self) -> bool:
        return time.monotonic() - self.asked_at >= ASK_SECONDS


_HELD: Final = _HeldKeys()
_LOCK: Final = threading.Lock()


@caches.register
def _forget() -> None:
    _HELD.keys, _HELD.read_at, _HELD.asked_at = (), -inf, -inf


def verify_access_token(token: str) -> dict[str, Any]:
    """The claims of a token for this resource.

    Raises `Unauthenticated`, and `RegistryUnavailable` where the server's keys cannot be had.
    """
    issuers, audience = _list_issuers(), settings.OAUTH_AUDIENCE or get_resource()
    try:
        return verify_token(token, _iterate_keys(), issuers=issuers, audience=audience, types=_TYPES)
    except IdTokenInvalid as error:
        raise Unauthenticated(f"The token is not taken here: {error}") from None


def _list_issuers() -> tuple[str, str]:
    """Some servers name themselves with a slash at the end, which the setting is without."""
    return get_external_issuer(), f"{get_external_issuer()}/"


def _iterate_keys() -> Iterator[Keys]:
    """The keys as they were read last, then as they are now. Whatever tokens say, the server is asked once a minute."""
    if _HELD.is_fresh:
        yield _HELD.keys
        # Nobody waits for another one's question while there are keys.
        if not _HELD.may_ask:
            return
    with _LOCK:
        if _HELD.may_ask:
            _HELD.asked_at = time.monotonic()
            try:
                _HELD.keys, _HELD.read_at = _fetch_keys(), time.monotonic()
            except (IdTokenInvalid, SourceUnreadable) as error:
                logger.warning("the keys of OAUTH_ISSUER cannot be read: %s", str(error)[:300])
    if not _HELD.is_fresh:
        raise RegistryUnavailable("The keys of the authorization server cannot be read; try again in a minute")
    yield _HELD.keys


def _fetch_keys() -> Keys:
    """Raises `SourceUnreadable`, `IdTokenInvalid`."""
    parts = urlsplit(get_external_issuer())
    places = (
        f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}",
        f"{get_external_issuer()}/.well-known/openid-configuration",
    )
    why = ""
    for place in places:
        try:
            found = as_mapping(fetch_json(place, bytes_max=_BYTES_MAX))
        except SourceUnreadable as error:
            why = error.message
            continue
        address, is_its_own = found.get("jwks_uri"), found.get("issuer") in _list_issuers()
        if is_its_own and isinstance(address, str) and parse_address(address, length_max=1000):
            return read_keys(fetch_json(address, bytes_max=_BYTES_MAX))
        why = f"{place} is not the metadata of this issuer, with a jwks_uri"
    raise SourceUnreadable(why)
