"""Triggers of a bundle that other capabilities have as well: the same words, however they are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from agent_client.text.tokenizer import UNSPACED, tokenize
from registry.bundles.profile import CapabilityProfile


@dataclass(frozen=True, slots=True)
class Overlap:
    """`place` is the index in intent_triggers; `others` the capabilities with such a trigger, in order."""

    place: int
    trigger: str
    others: tuple[str, ...]


def find_trigger_overlaps(candidate: CapabilityProfile, published: Iterable[CapabilityProfile]) -> list[Overlap]:
    """By the order of the bundle's own triggers."""
    wanted: dict[str, list[str]] = {_form(trigger): [] for trigger in candidate.triggers}
    for other in published:
        if other.capability_id == candidate.capability_id:
            continue
        for form in {_form(trigger) for trigger in other.triggers} & wanted.keys():
            wanted[form].append(other.capability_id)
    found = [(place, trigger, wanted[_form(trigger)]) for place, trigger in enumerate(candidate.triggers)]
    return [Overlap(place, trigger, tuple(sorted(others))) for place, trigger, others in found if others]


@lru_cache(maxsize=100_000)
def _form(trigger: str) -> str:
    """Two triggers with one form are found by the same messages: `sign-up`, "Signing up" and "signup"."""
    if UNSPACED.search(trigger):
        return trigger.strip().lower()
    return "".join(word.stem for word in tokenize(trigger))
