"""The forms of this part that an open browser must not be enough for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from features.acceptances import held_passages
from features.acceptances.accepted_findings import is_waivable_error
from registry.common.actors import Actor
from studio.pages.dangerous_actions import DangerousAction

if TYPE_CHECKING:
    from studio.pages.permissions import StudioRequest

# More than anyone decides about at once.
PASSAGES_MAX: Final = 50
KEY_MAX: Final = 200


def get_chosen_passages(request: StudioRequest) -> dict[str, set[str]]:
    """The ticked passages, `capability_id:fingerprint` each: `{capability_id: {fingerprint}}`; others are left out."""
    chosen: dict[str, set[str]] = {}
    for key in request.POST.getlist("chosen")[:PASSAGES_MAX]:
        capability_id, _colon, fingerprint = key[:KEY_MAX].partition(":")
        if capability_id and fingerprint and "\0" not in key:
            chosen.setdefault(capability_id, set()).add(fingerprint)
    return chosen


def _may_be_error(request: StudioRequest, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG001 (one of several)
    """Admins alone waive errors, and of those only what these codes begin with; some of them are warnings too."""
    return request.user.can_administer and is_waivable_error(request.POST.get("code", ""))


def _decides_alone(request: StudioRequest, arguments: Mapping[str, Any]) -> bool:  # noqa: ARG001 (one of several)
    """An admin who edited or sent the passages, where nobody else can decide about them."""
    return held_passages.is_decided_alone(get_chosen_passages(request), Actor("operator", request.user.get_username()))


_DECISION: Final = DangerousAction("publishing in spite of a doubt, by one person", _decides_alone)
ACTIONS: Final = {
    "decision_list": _DECISION,
    "decision_show": _DECISION,
    "waiver_create": DangerousAction("publishing in spite of an error", _may_be_error),
}
