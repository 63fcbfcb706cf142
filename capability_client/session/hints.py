"""Hints: which capabilities a message may be about. The model decides, and loads (docs/requirements.md B)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.bundles.bundle import ListingEntry
from capability_kit.text.denials import blank_denials
from capability_kit.text.sanitize import one_line
from capability_kit.text.trigger_matching import TriggerHit, TriggerIndex

# What scores less has a word in common with the message, hardly more.
NEAR_MISS_FROM: Final = 0.1
LINE_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class Hint:
    """One capability that fits, with the phrases that led to it. `notes` say what speaks against it, if anything."""

    capability_id: str
    name: str
    description: str
    priority: int
    score: float
    triggers: tuple[str, ...] = ()
    notes: str = ""

    def line(self) -> str:
        """The capability on one line of the prompt, with the phrase that led to it."""
        led = f' (because of "{one_line(self.triggers[0], most=80)}")' if self.triggers else ""
        return f"{self.capability_id} ({one_line(self.name, most=80)}): {one_line(self.description)}{led}{self.notes}"

    def short_line(self) -> str:
        """For the prompt, where it is not sure that it fits: 80 characters, and what speaks against it."""
        return one_line(f"{self.capability_id}: {self.description}", most=LINE_CHARACTERS) + self.notes


@dataclass
class TurnHints:
    """What this turn hints, and what it came near to; what is loaded or taken away meanwhile is dropped."""

    found: tuple[Hint, ...] = ()
    near: tuple[Hint, ...] = ()

    def drop(self, capability_id: str) -> None:
        """Neither hint a capability nor name it."""
        self.found = tuple(hint for hint in self.found if hint.capability_id != capability_id)
        self.near = tuple(hint for hint in self.near if hint.capability_id != capability_id)


def local_hints(message: str, index: TriggerIndex, entries: Mapping[str, ListingEntry]) -> list[Hint]:
    """By the intent triggers of the list alone, without those that the message says no to; works without a network.
    Weak hits count half."""
    hits: dict[str, list[TriggerHit]] = {}
    for hit in index.find(blank_denials(message)):
        hits.setdefault(hit.owner, []).append(hit)
    found = []
    for capability_id, own in hits.items():
        score = max(0.5 if hit.is_weak else 1.0 for hit in own)
        triggers = tuple(dict.fromkeys(hit.trigger for hit in own))
        found.append(_hint(entries[capability_id], score, triggers))
    return rank_hints(found)


def hints_from_match(answer: Mapping[str, Any], entries: Mapping[str, ListingEntry]) -> list[Hint]:
    """The hints for a response of capability_match, first what the message needs; near misses are not hints, nor
    is what the user alone starts."""
    if answer.get("decision") not in ("match", "ambiguous"):
        return []
    found = []
    entries = {name: entry for name, entry in entries.items() if not entry.is_closed_to_model}
    needed = [each for each in _listed(answer.get("needed")) if isinstance(each, str) and each in entries]
    for row in _listed(answer.get("matches")):
        entry = entries.get(str(row.get("capability_id"))) if isinstance(row, dict) else None
        if entry is None or row.get("below_threshold") is True:
            continue
        triggers = [hit.get("trigger") for hit in _listed(row.get("matched_triggers")) if isinstance(hit, dict)]
        kept = tuple(trigger for trigger in triggers if isinstance(trigger, str))
        found.append(_hint(entry, _score(row.get("score")), kept))
    known = {hint.capability_id for hint in found}
    found += [_hint(entries[name], 0.0, ()) for name in dict.fromkeys(needed) if name not in known]
    ranked = rank_hints(found)
    return sorted(ranked, key=lambda each: each.capability_id not in needed)


def find_near_misses(answer: Mapping[str, Any], entries: Mapping[str, ListingEntry]) -> list[Hint]:
    """What a response of capability_match came near to without reaching its threshold, the nearest first: not hinted,
    but named to the model, which knows more of what is meant."""
    found = []
    for row in _listed(answer.get("matches")):
        entry = entries.get(str(row.get("capability_id"))) if isinstance(row, dict) else None
        if entry is None or entry.is_closed_to_model or row.get("below_threshold") is not True:
            continue
        score = _score(row.get("score"))
        if score >= NEAR_MISS_FROM:
            found.append(_hint(entry, score, ()))
    return sorted(found, key=lambda each: (-each.score, each.capability_id))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _score(value: Any) -> float:
    """Between 0 and 1; 0 for what is not such a number, which another registry may send."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 0.0


def rank_hints(hints: list[Hint]) -> list[Hint]:
    """By priority, then score, then id."""
    return sorted(hints, key=lambda each: (-each.priority, -each.score, each.capability_id))


def _hint(entry: ListingEntry, score: float, triggers: tuple[str, ...]) -> Hint:
    return Hint(entry.capability_id, entry.name, entry.description, entry.priority, score, triggers)
