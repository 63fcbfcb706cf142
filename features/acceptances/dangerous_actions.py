"""The form of waivers that an open browser must not be enough for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from features.acceptances.waived_findings import ERROR_PREFIXES
from studio.pages.dangerous_actions import DangerousAction

if TYPE_CHECKING:
    from studio.pages.permissions import StudioRequest


def _may_be_error(request: StudioRequest, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG001 (one of several)
    """Admins alone waive errors, and of those only what these codes begin with; some of them are warnings too."""
    return request.user.can_administer and request.POST.get("code", "").startswith(ERROR_PREFIXES)


ACTIONS: Final = {
    "waiver_create": DangerousAction("publishing in spite of an error", _may_be_error),
}
