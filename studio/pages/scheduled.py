"""The pending release of a capability, as components/scheduled.html draws it."""

from __future__ import annotations

from typing import Any

from registry.models import Capability
from registry.publishing.scheduled_releases import find_pending_release, find_stop


def build_scheduled_context(capability: Capability | None) -> dict[str, Any]:
    """Nothing where no release is scheduled."""
    release = find_pending_release(capability.capability_id) if capability is not None else None
    return {"scheduled": release, "stop": find_stop(release)} if release is not None else {}
