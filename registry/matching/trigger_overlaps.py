"""Triggers of a bundle that other capabilities have as well: the same words, however they are written."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from capability_rules.bundles.profile import CapabilityProfile


@dataclass(frozen=True, slots=True)
class Overlap:
    """`place` is the index in intent_triggers; `others` the capabilities with such a trigger, in order."""

    place: int
    trigger: str
    others: tuple[str, ...]


def find_trigger_overlaps(candidate: CapabilityProfile, owners_of: Callable[[str], Collection[str]]) -> list[Overlap]:
    """By the order of the bundle's own triggers; `owners_of` are the published capabilities with a trigger."""
    found = (
        (place, trigger, tuple(sorted({*owners_of(trigger)} - {candidate.capability_id})))
        for place, trigger in enumerate(candidate.triggers)
    )
    return [Overlap(place, trigger, others) for place, trigger, others in found if others]
