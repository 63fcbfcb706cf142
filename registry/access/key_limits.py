"""What a key may change: every capability, those of its team, or those that it names.

A key that a pipeline's secret store loses opens no more than that. What a key may see is another matter
(registry/snapshot/visibility.py).
"""

from __future__ import annotations

from typing import Final

from capability_rules.bundles.validation_context import VisibilityFilter
from registry.common.actors import Actor
from registry.common.errors import Forbidden
from registry.models import AgentKey, Capability, Team

_IDS_NAMED_MAX: Final = 10


def require_within_limit(capability_id: str, by: Actor, *, is_visible: VisibilityFilter | None = None) -> None:
    """Raises `Forbidden` where `by` is a key that may not change the capability, or may not create it.

    `is_visible` says of which capabilities the key may know: for one of which it may not, nothing tells that it exists.
    """
    key = _find_limited_key(by)
    if key is None:
        return
    if key.capability_ids is not None:
        is_within = capability_id in key.capability_ids
    else:
        capability = Capability.objects.filter(capability_id=capability_id).only("team").first()
        is_hidden = is_visible is not None and not is_visible(capability_id)
        is_within = capability is None or capability.team_id == key.team_id or is_hidden
    if not is_within:
        raise Forbidden(
            f"The key '{key.name}' may change {describe_limit(key)} only; '{capability_id}' is not one of them"
        )


def describe_limit(key: AgentKey) -> str:
    """What a limited key may change, such as `capabilities of the team 'Health'`; empty for one without a limit."""
    if key.team is not None:
        return f"capabilities of the team '{key.team.name}'"
    if key.capability_ids is None:
        return ""
    more = len(key.capability_ids) - _IDS_NAMED_MAX
    return ", ".join(key.capability_ids[:_IDS_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def find_team(by: Actor) -> Team | None:
    """The team that what `by` creates belongs to: that of its key."""
    key = _find_limited_key(by)
    return key.team if key is not None else None


def has_limit(by: Actor) -> bool:
    """Whether `by` is a key that may not change every capability."""
    return _find_limited_key(by) is not None


def _find_limited_key(by: Actor) -> AgentKey | None:
    if by.kind != "agent_key":
        return None
    key = AgentKey.objects.filter(name=by.name).select_related("team").first()
    return key if key is not None and (key.team_id is not None or key.capability_ids is not None) else None
