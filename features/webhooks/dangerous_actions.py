"""The forms of webhooks that an open browser must not be enough for."""

from __future__ import annotations

from typing import Final

from studio.pages.dangerous_actions import DangerousAction

ACTIONS: Final = {
    "webhook_list": DangerousAction("events to an address"),
    "webhook_change": DangerousAction("events to another address"),
    "webhook_enable": DangerousAction("events to an address"),
    "webhook_disable": DangerousAction("events to nobody"),
    "webhook_delete": DangerousAction("events to nobody"),
    "webhook_rotate": DangerousAction("the secret of a webhook"),
}
