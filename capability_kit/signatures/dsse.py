"""DSSE v1 envelopes with Ed25519: `{"payloadType", "payload", "signatures": [{"keyid", "sig"}]}`, both in base64.

https://github.com/secure-systems-lab/dsse/blob/master/protocol.md. `cryptography` is imported at the first use only, so
that a client without trusted keys does not need it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.errors import SignatureInvalid, SignatureMissing, SigningKeyUnknown
from capability_kit.json_text import parse_json

ALGORITHM: Final = "ed25519"
_PREFIX: Final = f"{ALGORITHM}:"
_KEY_BYTES: Final = 32
# A payload has some hundred bytes, and some hundred for each supporting file.
ENVELOPE_BYTES_MAX: Final = 1024 * 1024
SIGNATURES_MAX: Final = 16


class VerificationUnavailable(RuntimeError):
    """Trusted keys were given, and `cryptography`, which checks signatures, is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "Trusted keys were given, and signatures cannot be checked without the package cryptography. "
            "Install it: pip install 'capability-client[verify]'"
        )


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key of 32 bytes."""

    raw: bytes

    @property
    def keyid(self) -> str:
        """The hex SHA-256 of the 32 bytes: what an envelope names it by."""
        return hashlib.sha256(self.raw).hexdigest()

    def __str__(self) -> str:
        """`ed25519:` and the key in base64, as people copy it."""
        return _PREFIX + base64.b64encode(self.raw).decode("ascii")


def parse_public_key(text: str) -> PublicKey:
    """A key in the form `ed25519:BASE64`. Raises `ValueError`."""
    given = text.strip()
    try:
        raw = base64.b64decode(given.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if not given.startswith(_PREFIX) or len(raw) != _KEY_BYTES:
        raise ValueError(
            f"{given[:80]!r} is not a public key: expected ed25519: and 32 bytes in base64, as "
            "/.well-known/capability-studio-keys.json has them"
        )
    return PublicKey(raw)


def parse_key_list(document: Any) -> tuple[PublicKey, ...]:
    """The keys of `/.well-known/capability-studio-keys.json`. Raises `ValueError`."""
    rows = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError('expected {"keys": [{"public_key": "ed25519:..."}]}')
    return tuple(parse_public_key(str(row.get("public_key", ""))) for row in rows if row.get("algorithm") == ALGORITHM)


def require_cryptography() -> None:
    """Raises `VerificationUnavailable` where signatures cannot be checked."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise VerificationUnavailable from None


def encode_pae(payload_type: str, payload: bytes) -> bytes:
    """The pre-authentication encoding: the bytes that are signed."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def open_envelope(envelope: Any, *, payload_type: str, trusted: Iterable[PublicKey]) -> dict[str, Any]:
    """The payload of an envelope that one of the trusted keys has signed.

    Raises `SignatureMissing` for an envelope without a signature, `SigningKeyUnknown` where none of its keys is
    trusted, and `SignatureInvalid` for anything else that does not agree.
    """
    payload, signatures = _parts(envelope, payload_type)
    keys = {key.keyid: key for key in trusted}
    known = [(keys[row["keyid"]], row["sig"]) for row in signatures if row["keyid"] in keys]
    if not known:
        named = ", ".join(row["keyid"][:16] for row in signatures)
        raise SigningKeyUnknown(f"It was signed with a key that is not trusted here ({named})")
    message = encode_pae(payload_type, payload)
    if not any(_is_signed(key, signature, message) for key, signature in known):
        raise SignatureInvalid("The signature does not belong to what was signed")
    document = parse_json(payload)
    if not isinstance(document, dict):
        raise SignatureInvalid("What was signed is not a JSON object")
    return document


def _parts(envelope: Any, payload_type: str) -> tuple[bytes, list[dict[str, str]]]:
    if not isinstance(envelope, Mapping) or not isinstance(envelope.get("signatures"), list):
        raise SignatureMissing("There is no envelope with signatures")
    rows = envelope["signatures"]
    if not rows:
        raise SignatureMissing("The envelope has no signature")
    if envelope.get("payloadType") != payload_type:
        raise SignatureInvalid(f"The envelope has the type {str(envelope.get('payloadType'))[:80]!r}: {payload_type}")
    texts = [envelope.get("payload"), *(row.get("sig") if isinstance(row, Mapping) else None for row in rows)]
    if len(rows) > SIGNATURES_MAX or not all(isinstance(text, str) for text in texts):
        raise SignatureInvalid("The envelope has another form than DSSE v1")
    payload = _decoded(str(envelope["payload"]))
    return payload, [{"keyid": str(row.get("keyid", "")), "sig": row["sig"]} for row in rows]


def _decoded(text: str) -> bytes:
    if len(text) > ENVELOPE_BYTES_MAX:
        raise SignatureInvalid(f"The envelope is larger than {ENVELOPE_BYTES_MAX:,} bytes")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise SignatureInvalid("The envelope holds something that is not base64") from None


def _is_signed(key: PublicKey, signature: str, message: bytes) -> bool:
    require_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(_decoded(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True
