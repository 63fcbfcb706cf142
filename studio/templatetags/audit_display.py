"""How what the registry keeps of people and keys is shown."""

from __future__ import annotations

import json
import re
from typing import Final

from django import template

from registry.models import AuditEvent
from studio.middleware.time_zones import stored_moment_words

register = template.Library()
_OF_MOMENTS: Final = ("_at", "_until")
_DIGEST: Final = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}")


@register.filter
def plain(value: object) -> str:
    """A value of a JSON document as people write it."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value) or "(empty)"
    if isinstance(value, str):
        return value or "(empty)"
    return json.dumps(value, ensure_ascii=False)


@register.filter
def detail_shown(event: AuditEvent) -> list[tuple[str, str, str]]:
    """`(name, words, whole)` of a row's details, without empty ones. A digest is shown by its beginning and a
    time in the reader's zone; then `whole` is the stored value."""
    shown = []
    for name, value in event.detail.items():
        if value in ("", [], {}):
            continue
        whole = plain(value)
        words = stored_moment_words(whole) if name.endswith(_OF_MOMENTS) else _DIGEST.sub(r"\1…", whole)
        shown.append((name, words, whole if words != whole else ""))
    return shown
