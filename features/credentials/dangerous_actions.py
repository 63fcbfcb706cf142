"""The forms of credentials that an open browser must not be enough for."""

from __future__ import annotations

from typing import Final

from studio.pages.dangerous_actions import DangerousAction

ACTIONS: Final = {
    "credential_list": DangerousAction("a secret that is sent to others"),
    "credential_replace": DangerousAction("a secret that is sent to others"),
    "credential_open": DangerousAction("who may import with a secret"),
}
