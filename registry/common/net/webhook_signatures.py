"""Signatures by the Standard Webhooks specification (https://www.standardwebhooks.com), version v1: HMAC-SHA256."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

PREFIX: Final = "whsec_"
# The type of an event that somebody sends to see whether it arrives.
TEST: Final = "webhook.test"
# How long the secret before the newest one goes on signing beside it.
PREVIOUS_SECRET_RETENTION: Final = timedelta(hours=24)


def generate_secret() -> str:
    """`whsec_` and the base64 of 32 random bytes."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def sign_request(*, secrets_in_force: Sequence[str], event_id: str, sent_at: int, body: bytes) -> dict[str, str]:
    """The three headers of a delivery; `sent_at` in seconds since 1970 (UTC).

    One signature for each secret in force, the newest first.
    """
    signed = f"{event_id}.{sent_at}.".encode() + body
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": " ".join(_signature(secret, signed) for secret in secrets_in_force),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
