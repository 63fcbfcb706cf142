"""Secrets as the database has them: encrypted under a key that is derived from SECRET_KEY.

Who reads a backup or the database alone can compute no code, sign no event and log in nowhere. Rows of before are plain
text and go on working; a daily job of each table encrypts them, and what a former SECRET_KEY encrypted, under the
present key.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db.models import Model

from registry.common import caches
from registry.core.rows import update_row

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_PREFIX: Final = "fernet:"
# Names what is derived, so that no other use of SECRET_KEY gets the same bytes.
_DERIVATION: Final = b"capability-studio secrets of second factors, Fernet, 1"


class SecretUnreadable(Exception):
    """It was encrypted under a SECRET_KEY that is neither the present one nor in SECRET_KEY_FALLBACKS, or changed."""


def encrypt_secret(text: str) -> str:
    """Encrypt a secret for the database."""
    return _PREFIX + _ciphers()[0].encrypt(text.encode()).decode()


def decrypt_secret(stored: str) -> str:
    """The secret; of a row of before, which is plain text, the row's. Raises `SecretUnreadable`."""
    if not stored.startswith(_PREFIX):
        return stored
    for cipher in _ciphers():
        if (text := _try(cipher, stored)) is not None:
            return text
    raise SecretUnreadable


def is_current(stored: str) -> bool:
    """Whether it is encrypted under the present key."""
    return stored.startswith(_PREFIX) and _try(_ciphers()[0], stored) is not None


def renew_encryption(rows: Iterable[Model], *columns: str) -> None:
    """Encrypt what is not under the present key, row by row; one that cannot be read stays, and its next use says so.
    The caller holds the lock."""
    for row in rows:
        stored = {column: str(getattr(row, column)) for column in columns}
        for column, secret in stored.items():
            if secret and not is_current(secret):
                with suppress(SecretUnreadable):
                    update_row(row, **{column: encrypt_secret(decrypt_secret(secret))})


def _try(cipher: Fernet, stored: str) -> str | None:
    from cryptography.fernet import InvalidToken

    try:
        return cipher.decrypt(stored.removeprefix(_PREFIX).encode()).decode()
    except InvalidToken:
        return None


def _ciphers() -> tuple[Fernet, ...]:
    """The present one first."""
    return _derive((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=1)
def _derive(keys: tuple[str, ...]) -> tuple[Fernet, ...]:
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = (HKDF(algorithm=SHA256(), length=32, salt=None, info=_DERIVATION).derive(key.encode()) for key in keys)
    return tuple(Fernet(base64.urlsafe_b64encode(key)) for key in derived)


caches.register(_derive.cache_clear)
