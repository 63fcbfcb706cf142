"""Tokens of an identity provider, verified with the keys that it publishes (OpenID Connect Core 1.0, 3.1.3.7).

Imported only where `OIDC_ISSUER` or `OAUTH_ISSUER` is set: PyJWT is part of the extra `oidc`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import jwt

from registry.common import caches

# Signatures by a private key. Not `none`, and not HS256 and its kind: there the key that verifies also signs, and
# somebody who knows the public key could use it for that.
ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
# A provider that withdraws a key is obeyed after this long.
KEYS_SECONDS: Final = 3600.0
CLOCK_SECONDS: Final = 60
_KEYS_MAX: Final = 50
_REQUIRED: Final = ("iss", "sub", "aud", "exp", "iat")
Keys = Sequence[Mapping[str, Any]]
# By the address of the keys: when they were read, and what was found.
_READ: Final[dict[str, tuple[float, Keys]]] = {}
caches.register(_READ.clear)


class IdTokenInvalid(Exception):
    """The token proves nothing; the message says why, for the log."""


def iterate_keys(url: str, read: Callable[[str], Any]) -> Iterator[Keys]:
    """The keys as they were read last, then as they are now: a provider that has changed them is asked once for a token
    that no known key has signed. `read` returns the document at the address."""
    held = _READ.get(url)
    if held is not None and time.monotonic() - held[0] < KEYS_SECONDS:
        yield held[1]
    keys = read_keys(read(url))
    _READ[url] = time.monotonic(), keys
    yield keys


def read_keys(document: Any) -> Keys:
    """The keys of a set (RFC 7517). Raises `IdTokenInvalid`."""
    found = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise IdTokenInvalid("its set of keys has no list 'keys'")
    return [key for key in found[:_KEYS_MAX] if isinstance(key, dict)]


def verify_id_token(token: str, key_sets: Iterable[Keys], *, issuer: str, client_id: str) -> dict[str, Any]:
    """The claims of a token of this issuer for this client, signed by a key of one of the sets, tried in order.

    `nonce` and `auth_time` depend on what was asked, and are the caller's to check. Raises `IdTokenInvalid`.
    """
    claims = verify_token(token, key_sets, issuers=(issuer,), audience=client_id)
    _require_party(claims, client_id)
    return claims


def verify_token(
    token: str,
    key_sets: Iterable[Keys],
    *,
    issuers: Collection[str],
    audience: str,
    types: Collection[str] | None = None,
) -> dict[str, Any]:
    """The claims of a token of one of these issuers for this audience; `types` are those that its header may name, in
    lower case. Raises `IdTokenInvalid`."""
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, RecursionError, TypeError, ValueError) as error:
        raise IdTokenInvalid(f"it is not a signed token: {error}") from None
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise IdTokenInvalid(f"it is signed by {str(algorithm)[:20]!r}, which is not a signature by a private key")
    if types is not None and str(header.get("typ", "JWT")).lower() not in types:
        raise IdTokenInvalid(f"it is a {str(header['typ'])[:20]!r}")
    candidates = (key for keys in key_sets for key in _candidates(keys, header))
    return _verify(token, candidates, algorithm, issuers, audience)


def _candidates(keys: Keys, header: Mapping[str, Any]) -> Iterator[jwt.PyJWK]:
    """The keys that may have signed the token: for signatures, of its name and of its algorithm."""
    for key in keys:
        is_named = header.get("kid") is None or key.get("kid") in (None, header["kid"])
        if not is_named or key.get("use", "sig") != "sig" or key.get("alg", header["alg"]) != header["alg"]:
            continue
        try:
            yield jwt.PyJWK(dict(key), algorithm=header["alg"])
        except (jwt.PyJWTError, TypeError, ValueError, AttributeError, KeyError):
            # A key of another kind, or a damaged one, beside good ones.
            continue


def _verify(
    token: str, keys: Iterable[jwt.PyJWK], algorithm: str, issuers: Collection[str], audience: str
) -> dict[str, Any]:
    for key in keys:
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=issuers,
                audience=audience,
                leeway=CLOCK_SECONDS,
                options={"require": list(_REQUIRED)},
            )
        except jwt.InvalidSignatureError:
            continue
        except (jwt.PyJWTError, RecursionError, TypeError, ValueError, OverflowError) as error:
            raise IdTokenInvalid(str(error)[:200]) from None
        return claims
    raise IdTokenInvalid("none of the provider's keys has signed it")


def _require_party(claims: Mapping[str, Any], client_id: str) -> None:
    """The party that the token was issued to: required where it has several audiences."""
    party, audience = claims.get("azp"), claims["aud"]
    if party is None and isinstance(audience, list) and len(audience) > 1:
        raise IdTokenInvalid("it is for several audiences and does not say whom it was issued to (azp)")
    if party not in (None, client_id):
        raise IdTokenInvalid("it was issued to another client (azp)")
