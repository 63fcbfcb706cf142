"""The forms of sharing that an open browser must not be enough for."""

from __future__ import annotations

from typing import Final

from studio.pages.dangerous_actions import DangerousAction

ACTIONS: Final = {"share_link_create": DangerousAction("a link that reads without a key")}
