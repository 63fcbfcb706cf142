"""The forms of git mirrors that an open browser must not be enough for."""

from __future__ import annotations

from typing import Final

from studio.pages.dangerous_actions import DangerousAction

ACTIONS: Final = {
    "git_mirror_create": DangerousAction("where releases are pushed to"),
    "git_mirror_start": DangerousAction("where releases are pushed to"),
    "git_mirror_continue": DangerousAction("where releases are pushed to"),
}
