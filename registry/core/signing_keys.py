"""The key that signs revisions and checkpoints. It is never in the database: anyone who can write there cannot sign.

`cryptography` is imported here at the first use only: most commands sign nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

from capability_kit.signatures.dsse import ALGORITHM, PublicKey
from registry.common import caches
from registry.common.errors import SigningKeyUnusable
from registry.common.private_file import create_private_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_FILE_BYTES_MAX: Final = 64 * 1024
_END: Final = "-----END "
# Names what is derived, so that no other use of SECRET_KEY gets the same bytes.
_DERIVATION: Final = b"capability-studio signing key, Ed25519, 1"


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """What signs, and the public keys whose signatures are valid: the present one first, then those of before."""

    private: Ed25519PrivateKey
    public: tuple[PublicKey, ...]

    def sign(self, message: bytes) -> tuple[str, bytes]:
        """The id of the present key, and its signature of 64 bytes."""
        return self.public[0].keyid, self.private.sign(message)


def get_signing_keys() -> SigningKeys:
    """The keys of this registry; the file in DATA_DIR is made at the first call.

    Raises `SigningKeyUnusable` where the file cannot be read, written or used.
    """
    return _read(settings.SIGNING_KEY_FILE, settings.SECRET_KEY, tuple(settings.SECRET_KEY_FALLBACKS))


def build_key_list() -> dict[str, Any]:
    """`{"keys": [{"keyid", "algorithm", "public_key", "status"}]}`; `status` is `active` for the one that signs, else
    `former`. Raises what `get_signing_keys` raises."""
    rows = [
        {"keyid": key.keyid, "algorithm": ALGORITHM, "public_key": str(key), "status": "former" if at else "active"}
        for at, key in enumerate(get_signing_keys().public)
    ]
    return {"keys": rows}


@lru_cache(maxsize=1)
def _read(path: Path | None, secret_key: str, fallbacks: tuple[str, ...]) -> SigningKeys:
    if path is None:
        keys = [_derive(secret) for secret in (secret_key, *fallbacks)]
        return SigningKeys(keys[0], tuple(dict.fromkeys(map(_public, keys))))
    try:
        if not path.exists():
            _make(path)
        with path.open("rb") as file:
            text = file.read(_FILE_BYTES_MAX).decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in ASCII"
        raise SigningKeyUnusable(f"The file of the signing key, {path.name}, cannot be used: {reason}") from error
    return _parse(text, path)


caches.register(_read.cache_clear)


def _derive(secret_key: str) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    seed = HKDF(algorithm=SHA256(), length=32, salt=None, info=_DERIVATION).derive(secret_key.encode())
    return Ed25519PrivateKey.from_private_bytes(seed)


def _public(key: Ed25519PrivateKey) -> PublicKey:
    return PublicKey(key.public_key().public_bytes_raw())


def _parse(text: str, path: Path) -> SigningKeys:
    """The first block is the private key; the others are public keys, or private keys that sign no more."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    found = [_load(block, path) for block in _blocks(text)]
    if not found or not isinstance(found[0], Ed25519PrivateKey):
        raise SigningKeyUnusable(
            f"The file of the signing key, {path.name}, does not begin with an Ed25519 private key in PEM. "
            "Make one with: openssl genpkey -algorithm ed25519 -out FILE"
        )
    public = [PublicKey(key.public_bytes_raw()) if isinstance(key, Ed25519PublicKey) else _public(key) for key in found]
    return SigningKeys(found[0], tuple(dict.fromkeys(public)))


def _blocks(text: str) -> list[bytes]:
    """Each PEM block of the file; what stands between them is a comment."""
    blocks: list[bytes] = []
    for part in text.split("-----BEGIN ")[1:]:
        body, _, rest = part.partition(_END)
        label = rest.partition("-----")[0]
        blocks.append(f"-----BEGIN {body}{_END}{label}-----\n".encode())
    return blocks


def _load(block: bytes, path: Path) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    try:
        is_public = block.startswith(b"-----BEGIN PUBLIC KEY")
        key = load_pem_public_key(block) if is_public else load_pem_private_key(block, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SigningKeyUnusable(
            f"The file of the signing key, {path.name}, has a block that cannot be read: {error}"
        ) from error
    if not isinstance(key, Ed25519PrivateKey | Ed25519PublicKey):
        raise SigningKeyUnusable(
            f"The file of the signing key, {path.name}, has a key of another kind: expected Ed25519"
        )
    return key


def _make(path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    create_private_file(path, pem)
