"""Secrets and signatures of the Standard Webhooks specification."""

from __future__ import annotations

import base64

from registry.common.net.webhook_signatures import generate_secret


def test_a_secret_is_32_random_bytes() -> None:
    """The specification wants 24 to 64."""
    secret = generate_secret()
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert secret != generate_secret()
