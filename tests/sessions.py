"""Sessions that tests begin without a sign-in; a command imports this where pages need not be loaded."""

from __future__ import annotations

import time

from django.test import Client


def confirm_identity(client: Client, *, seconds_ago: float = 0) -> None:
    """Make the browser's session one in which the person has shown who they are, as a sign-in does."""
    session, then = client.session, time.time() - seconds_ago
    session.update(
        {"began_at": then, "seen_at": time.time(), "identity_confirmed_at": then, "signed_in_by": ["password"]}
    )
    session.save()
