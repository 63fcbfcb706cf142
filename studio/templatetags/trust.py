"""How what the registry keeps of people and keys is shown."""

from __future__ import annotations

import json

from django import template

from registry.models import AuditEvent
from studio.templatetags.words import who

register = template.Library()


@register.filter
def actor_words(event: AuditEvent) -> str:
    """Who did it, in words."""
    return who(f"{event.actor_kind}:{event.actor_name}")


@register.filter
def plain(value: object) -> str:
    """A value of a JSON document as people write it."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value) or "(empty)"
    if isinstance(value, str):
        return value or "(empty)"
    return json.dumps(value, ensure_ascii=False)
