"""The forms of followed sources that an open browser must not be enough for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from studio.pages.dangerous_actions import DangerousAction

if TYPE_CHECKING:
    from studio.pages.permissions import StudioRequest


def _publishes_or_has_key(request: StudioRequest, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG001 (one of several)
    """A source that makes drafts does nothing by itself."""
    return request.POST.get("mode") == "publish" or bool(request.POST.get("read_key"))


ACTIONS: Final = {
    "source_create": DangerousAction("publishing by a source", _publishes_or_has_key),
    "source_change": DangerousAction("publishing by a source", _publishes_or_has_key),
    "source_secret": DangerousAction("the secret of a source"),
    "source_secret_keep": DangerousAction("the secret of a source"),
    "source_secret_end": DangerousAction("a source that takes no old secret"),
    "source_secret_drop": DangerousAction("a source without its secret"),
}
