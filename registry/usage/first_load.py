"""The first load of a revision: who publishes something new waits for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from registry.models import AgentKey, LoadCount


@dataclass(frozen=True, slots=True)
class FirstLoad:
    """An empty `key_name` is a public read; `at` is when that key was last used, and None where that is unknown."""

    key_name: str
    at: datetime | None


def find_first_load(capability_id: str, revision: int) -> FirstLoad | None:
    """Who has loaded a revision, the first that was counted. A count is in the database about a second after the load
    (registry/snapshot/watcher.py)."""
    found = LoadCount.objects.filter(capability_id=capability_id, revision=revision).order_by("pk")
    key_name = found.values_list("key_name", flat=True).first()
    if key_name is None:
        return None
    return FirstLoad(key_name, AgentKey.objects.filter(name=key_name).values_list("last_used_at", flat=True).first())
