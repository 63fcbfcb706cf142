"""The authorization server that `OAUTH_ISSUER` names: its keys, and what a token of it proves (RFC 8414, 9068, 8725).

Imported only where that is set: PyJWT is part of the extra `oidc`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from capability_kit.json_text import as_mapping
from capability_rules.errors import RegistryUnavailable, SourceUnreadable
from features.oauth.clients import fetch_json
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


_KEYS: Final[list[Mapping[str, Any]]] = []
# When they were read, and when the server was last asked for them, of `time.monotonic`.
_AT: Final[dict[str, float]] = {}
_LOCK: Final = threading.Lock()
caches.register(_KEYS.clear)
caches.register(_AT.clear)


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
    if _is_younger("read", KEYS_SECONDS):
        yield tuple(_KEYS)
        # Nobody waits for another one's question while there are keys.
        if _is_younger("asked", ASK_SECONDS):
            return
    with _LOCK:
        if not _is_younger("asked", ASK_SECONDS):
            _AT["asked"] = time.monotonic()
            try:
                _KEYS[:], _AT["read"] = _fetch_keys(), time.monotonic()
            except (IdTokenInvalid, SourceUnreadable) as error:
                logger.warning("the keys of OAUTH_ISSUER cannot be read: %s", str(error)[:300])
    if not _is_younger("read", KEYS_SECONDS):
        raise RegistryUnavailable("The keys of the authorization server cannot be read; try again in a minute")
    yield tuple(_KEYS)


def _is_younger(what: str, seconds: float) -> bool:
    return time.monotonic() - _AT.get(what, -inf) < seconds


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
