"""What a new operator has done already, according to the audit log."""

from __future__ import annotations

from typing import Final

from registry.common.actors import Actor
from registry.models import AuditEvent

# The step of the tour that each write completes.
_STEPS: Final = {
    "draft.save": "make",
    "draft.import": "make",
    "capability.publish": "publish",
    "capability.rollback": "publish",
    "agent_key.create": "key",
}


def completed_steps(*, by: Actor) -> frozenset[str]:
    """Of `make`, `publish` and `key`, what this actor has done; one query."""
    events = AuditEvent.objects.filter(actor_kind=by.kind, actor_name=by.name, verb__in=_STEPS)
    return frozenset(_STEPS[verb] for verb in events.order_by().values_list("verb", flat=True).distinct())
