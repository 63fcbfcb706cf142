"""Capabilities by a few letters of their id or name, for whoever wants to jump to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import Case, IntegerField, Q, Value, When

from registry.models import Capability

FOUND_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Jump:
    """A capability to jump to; `name` is its id where nothing was published yet."""

    capability_id: str
    name: str
    status: str


def find_capabilities(text: str, *, limit: int = FOUND_MAX) -> list[Jump]:
    """What has every word of `text` in its id or name, in any case; what begins with the text comes first."""
    words = text.replace("\0", "").split()
    if not words:
        return []
    fits = Q()
    for word in words:
        fits &= Q(capability_id__icontains=word) | Q(published_revision__name__icontains=word)
    begins = Q(capability_id__istartswith=words[0]) | Q(published_revision__name__istartswith=words[0])
    weight = Case(When(begins, then=Value(0)), default=Value(1), output_field=IntegerField())
    found = Capability.objects.filter(fits).annotate(weight=weight).order_by("weight", "capability_id")
    rows = found.values_list("capability_id", "published_revision__name", "status")[:limit]
    return [Jump(capability_id, name or capability_id, status) for capability_id, name, status in rows]
