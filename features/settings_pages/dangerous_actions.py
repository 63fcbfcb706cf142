"""The forms of settings that an open browser must not be enough for."""

from __future__ import annotations

from typing import Final

from studio.pages.dangerous_actions import DangerousAction

ACTIONS: Final = {
    "settings_model": DangerousAction("what conversations are sent to, and with which key"),
    "settings_mail": DangerousAction("what e-mails to members go through, and with which password"),
    "settings_data": DangerousAction("what is kept of users, and who reads without a key"),
}
