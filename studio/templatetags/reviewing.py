"""Diffs with what was said about their lines, and what happened to a capability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import template

from registry.models import AuditEvent
from studio.templatetags.words import who

register = template.Library()


@register.filter
def at(table: Mapping[Any, Any] | None, key: object) -> Any:
    """What stands under a key; nothing where there is none."""
    return table.get(key) if table else None


_HAPPENED: Final = {
    "capability.deprecate": "Deprecated",
    "capability.retire": "Retired",
    "capability.restore": "Restored",
    "draft.discard": "Draft put away",
    "draft.import": "Draft imported",
    "review.ask": "Review asked for",
    "review.approve": "Approved",
    "review.send_back": "Sent back",
    "review.withdraw": "Review withdrawn",
    "review.comment": "Commented in the review",
    "review.reply": "Answered in the review",
    "review.resolve": "Comment resolved",
    "review.reopen": "Comment opened again",
    "release.change": "Release planned for another time",
    "release.cancel": "Planned release called off",
    "release.fail": "Planned release not made",
    "incident.open": "Incident opened",
    "incident.close": "Incident closed",
}


@register.filter
def happened(event: AuditEvent) -> str:
    """A row of the audit log about a capability, as one would say it."""
    detail = event.detail
    numbered = {
        "capability.publish": f"Published as revision {detail.get('revision')}",
        "capability.rollback": f"Rolled back to revision {detail.get('to')}",
        "capability.visibility": f"Made {detail.get('visibility')}",
        "release.schedule": f"Release planned for {str(detail.get('due_at', ''))[:16].replace('T', ' ')} UTC",
        "release.done": f"Planned release made, revision {detail.get('revision')}",
    }
    return numbered.get(event.verb) or _HAPPENED.get(event.verb, event.verb)


@register.filter
def actor(event: AuditEvent) -> str:
    """Who did it, in words."""
    return who(f"{event.actor_kind}:{event.actor_name}")


@register.filter
def reason(event: AuditEvent) -> str:
    """The note or the words that were given; empty where none were."""
    return next((str(event.detail[key]) for key in ("note", "words", "why", "details") if event.detail.get(key)), "")
