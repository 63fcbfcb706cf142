"""The form that an open browser must not be enough for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from studio.pages.dangerous_actions import DangerousAction

if TYPE_CHECKING:
    from studio.pages.permissions import StudioRequest


def _allows(request: StudioRequest, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG001 (one of several)
    """To say no is harmless."""
    return request.POST.get("decision") == "allow"


ACTIONS: Final = {"connection_allow": DangerousAction("an assistant that acts for the member", _allows)}
