"""Which capability a message asks for: `match`, `ambiguous` or `none`, and why (docs/contract.md 4, docs/matching.md).

Three things are put together for each capability: its triggers in the message, the sentences known of it that come
nearest, and the probability that it is this capability rather than another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from capability_kit.text.tokenizer import tokenize
from capability_kit.text.trigger_matching import TriggerHit, TriggerIndex, list_main_languages
from capability_rules.bundles.profile import CapabilityProfile
from registry.matching import kernel_classifier
from registry.matching.example_similarity import ExampleSimilarity
from registry.matching.intent_duplicates import KnownIntent, are_duplicates
from registry.matching.ngram_index import Floats
from registry.matching.trigger_evidence import TriggerEvidence

Decision = Literal["match", "ambiguous", "none"]

TOP_DEFAULT: Final = 3
TOP_MAX: Final = 20
# How much a trigger moves the ranking, beside scores whose difference of 1 makes a capability 2.7 times as probable;
# three times as much where scores are of skill docs, which differ more.
_TRIGGER_WEIGHT: Final = 1.5
_WEAK: Final = 0.7
_TRUST_HALVED_AT: Final = 4
_TRUST_LEAST: Final = 0.25
# The parts are added with these weights, and the sum is brought to 0..1.
_PARTS: Final = {"probability": 1.0, "sentence": 2.0, "trigger": 1.0}
_SUM: Final = sum(_PARTS.values())
# The second is as good as the first from this share of its probability on.
_AMBIGUOUS_FROM: Final = 0.6
# A trigger that counts for this much decides alone: two on the same words are ambiguous.
_TOLD_FROM: Final = 0.3
# From this similarity on a probability counts in full.
_NEAR_ENOUGH_VECTORS: Final = 0.4
_NEAR_ENOUGH_WORDS: Final = 0.3
# What has less in common with a message is not a near miss.
_NEAR_MISS_FROM: Final = 0.1
TRIGGERS_SHOWN_MAX: Final = 20
_LESS_WHERE_DESCRIBED: Final = 0.1
# From which score on something is a match where nearness is calibrated, however many sentences are known of a
# capability; lower where most are known by their skill docs.
_CALIBRATED: Final = 1.54
_LESS_WHERE_SKILL_DOCS: Final = 0.14
# How many capabilities the threshold was chosen with, and the score of one that a message comes as near to as usual.
_USUAL_COUNT: Final = 50
_USUAL_SCORE: Final = 2.0


@dataclass(frozen=True, slots=True)
class Match:
    """One capability for a message. `parts` and `score` are 0 to 1."""

    capability_id: str
    score: float
    parts: dict[str, float]
    triggers: tuple[TriggerHit, ...]
    is_below_threshold: bool


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result, best first; `reason` says in a sentence why. `needed` are the ids that the message asks for."""

    decision: Decision
    matches: tuple[Match, ...]
    reason: str
    needed: tuple[str, ...] = ()


def list_trigger_languages(known: Sequence[CapabilityProfile]) -> frozenset[str]:
    """The languages beside English by whose rules the triggers of these capabilities are stemmed."""
    return list_main_languages(one.stemmed_language for one in known if one.triggers)


def _index_triggers(known: Sequence[CapabilityProfile]) -> TriggerIndex:
    languages = list_trigger_languages(known)
    language_of = {one.capability_id: one.stemmed_language for one in known if one.stemmed_language in languages}
    return TriggerIndex(
        (one.capability_id, trigger, language_of.get(one.capability_id, ""))
        for one in known
        for trigger in one.triggers
    )


class Matcher:
    """Immutable: made of what is published at one moment."""

    def __init__(
        self,
        known: Sequence[CapabilityProfile],
        evidence: ExampleSimilarity | None,
        *,
        triggers: TriggerIndex | None = None,
        trigger_evidence: TriggerEvidence | None = None,
    ) -> None:
        """`evidence` has one class for each capability, in the same order; None where nothing is published.

        `triggers` are those of all capabilities, and `trigger_evidence` what was counted for the matcher before.
        """
        self.known = tuple(known)
        self.evidence = evidence
        self.places = {one.capability_id: place for place, one in enumerate(self.known)}
        self._open_to_model = np.array([not one.is_closed_to_model for one in self.known], bool)
        self.triggers = _index_triggers(self.known) if triggers is None else triggers
        self._counts = (trigger_evidence or TriggerEvidence()).counts(self.known, self.triggers)
        has_vectors = evidence is not None and evidence.centroids is not None
        self._described = (
            0.0 if evidence is None or evidence.skill_docs is None else evidence.skill_docs.described_share
        )
        self.threshold = decision_threshold(self.known, has_vectors=has_vectors)
        if evidence is not None and evidence.usual is not None:
            self.threshold = (_CALIBRATED - _LESS_WHERE_SKILL_DOCS * self._described) / _SUM
        # Of pairs that stood side by side in a result: they are few, and the next message has them again.
        self._duplicates: dict[tuple[str, str], bool] = {}
        self._near_enough = np.float32(_NEAR_ENOUGH_VECTORS if has_vectors else _NEAR_ENOUGH_WORDS)

    def match(
        self,
        message: str,
        vector: Floats | None,
        *,
        top: int = TOP_DEFAULT,
        takes: Callable[[CapabilityProfile], bool] | None = None,
        counter: Callable[[CapabilityProfile], float] | None = None,
    ) -> MatchResult:
        """`vector` is the message's own; `takes` says which capabilities may be returned at all, of those that are open
        to the model; `counter` how near the message is to a sentence that must not lead there, 0 to 1.

        Where nothing fits, the reason names what would, were it not closed to the model."""
        taken = np.ones(len(self.known), bool)
        if takes is not None:
            taken = np.fromiter(map(takes, self.known), bool, len(self.known))
        allowed = taken & self._open_to_model
        if self.evidence is None or not taken.any():
            return _NOTHING_PUBLISHED
        hits = self.hits(message)
        trigger = self._trigger_scores(hits)
        nearness = self.evidence.nearness(message, vector)
        score = nearness.score + np.float32(_TRIGGER_WEIGHT * (1 + 2 * self._described)) * trigger

        def rank(among: npt.NDArray[np.bool_], most: int) -> list[Match]:
            probability = self._probabilities(np.where(among, score, np.float32(-np.inf)))
            # Among few, one is always likelier than the rest: that is informative only where there is something in
            # common.
            probability = probability * np.minimum(1, nearness.sentence / self._near_enough + 2 * trigger)
            said = _PARTS["sentence"] * nearness.sentence + _PARTS["trigger"] * trigger
            total = np.where(among, _PARTS["probability"] * probability + said, np.float32(-1))
            if counter is not None:
                self._hold_back(total, nearness.nearest, counter)
            order = np.argsort(-total, kind="stable")[:most]
            found = [self._match(place, total, probability, nearness.sentence, trigger, hits) for place in order]
            return [one for one in found if one.score > 0]

        verdict = self._decide(rank(allowed, max(top, 2)), top) if allowed.any() else _NOTHING_PUBLISHED
        if verdict.decision != "none" or np.array_equal(taken, allowed):
            return verdict
        first = next(iter(rank(taken, 1)), None)
        if first is None or self._open_to_model[self.places[first.capability_id]] or first.is_below_threshold:
            return verdict
        return replace(verdict, reason=f"'{first.capability_id}' fits, but is used only when it is named.")

    def _hold_back(self, total: Floats, sentence: Floats, counter: Callable[[CapabilityProfile], float]) -> None:
        """A sentence that must not lead here is nearer than any that must."""
        for place in np.argsort(-total)[:TOP_MAX]:
            one = self.known[place]
            if one.counter_sentences and counter(one) > max(float(sentence[place]), 0.5):
                total[place] = min(float(total[place]), self.threshold * _SUM * 0.9)

    def _probabilities(self, score: Floats) -> Floats:
        """Summing to 1, or less where there are few capabilities that are known by their skill docs: what is the
        likeliest of three is as likely as if there were as many as the threshold was chosen on."""
        missing = self._described * max(0, _USUAL_COUNT - len(self.known))
        if not missing:
            return kernel_classifier.predict_probabilities(score)
        best = max(float(score.max()), _USUAL_SCORE)
        raised = np.exp(score - np.float32(best))
        return np.asarray(raised / (raised.sum() + missing * np.exp(_USUAL_SCORE - best)), np.float32)

    def are_duplicates(self, one: str, other: str) -> bool:
        """Whether two capabilities are for one intent, as far as vectors tell; never without vectors."""
        first, second = sorted((one, other))
        found = self._duplicates.get((first, second))
        if found is None:
            known = self.intent_of(first), self.intent_of(second)
            found = known[0] is not None and known[1] is not None and are_duplicates(known[0], known[1])
            self._duplicates[first, second] = found
        return found

    def intent_of(self, capability_id: str) -> KnownIntent | None:
        """A capability with its vectors; None where there are none."""
        if self.evidence is None or self.evidence.centroids is None:
            return None
        place = self.places[capability_id]
        return KnownIntent(self.known[place], self.evidence.centroids[place], self.evidence.vectors_of(place))

    def hits(self, message: str) -> dict[str, list[TriggerHit]]:
        """The triggers in the message by the capability that they lead to."""
        by_owner: dict[str, list[TriggerHit]] = {}
        for hit in self.triggers.find(message):
            by_owner.setdefault(hit.owner, []).append(hit)
        return by_owner

    def trigger_scores(self, message: str) -> dict[str, float]:
        """`{capability_id: how specific its triggers in the message are}`, 0 to 1; without those that have none."""
        return self._trigger_strength(self.hits(message))

    def _trigger_strength(self, hits: dict[str, list[TriggerHit]]) -> dict[str, float]:
        return {
            owner: self._trigger_weight(owner) * max(self.trigger_score(hit) for hit in of_owner)
            for owner, of_owner in hits.items()
        }

    def _trigger_scores(self, hits: dict[str, list[TriggerHit]]) -> Floats:
        found = np.zeros(len(self.known), np.float32)
        for owner, told in self._trigger_strength(hits).items():
            found[self.places[owner]] = told
        return found

    def trigger_score(self, hit: TriggerHit) -> float:
        """How specific a hit is: 0 to 1, more for longer phrases, less for a content word alone."""
        length = 1 - 0.25 / max(1, len(tokenize(hit.trigger)))
        return self._counts.specificity(hit.owner, hit.trigger) * length * (_WEAK if hit.is_weak else 1.0)

    def _trigger_weight(self, owner: str) -> float:
        """A bare word counts less, the more whole sentences are known: they show how it occurs in one."""
        return max(_TRUST_LEAST, 1 / (1 + len(self.known[self.places[owner]].sentences) / _TRUST_HALVED_AT))

    def _match(
        self, place: int, total: Floats, probability: Floats, sentence: Floats, trigger: Floats,
        hits: dict[str, list[TriggerHit]],
    ) -> Match:  # fmt: skip
        capability_id = self.known[place].capability_id
        score = max(0.0, float(total[place]) / _SUM)
        parts = {
            "trigger": round(float(trigger[place]), 4),
            "sentence": round(float(sentence[place]), 4),
            "probability": round(float(probability[place]), 4),
        }
        shown = tuple(hits.get(capability_id, ())[:TRIGGERS_SHOWN_MAX])
        return Match(capability_id, round(min(1.0, score), 4), parts, shown, score < self.threshold)

    def _decide(self, found: list[Match], top: int) -> MatchResult:
        near = [one for one in found if one.triggers or one.parts["sentence"] >= _NEAR_MISS_FROM]
        if not near or near[0].is_below_threshold:
            reason = f"Nothing reaches the threshold of {self.threshold:.2f}."
            return MatchResult("none", tuple(near[:top]), reason)
        first = near[0]
        # One intent is answered once: the better of two that are for it.
        same = {one.capability_id for one in near[1:] if self.are_duplicates(one.capability_id, first.capability_id)}
        near = [replace(one, is_below_threshold=True) if one.capability_id in same else one for one in near]
        rivals = [one for one in near[1:] if _is_tied_with(one, first) and one.capability_id not in same]
        if rivals:
            near = [replace(one, is_below_threshold=False) if one in rivals else one for one in near]
            names = " and ".join(f"'{one.capability_id}'" for one in (first, *rivals[:2]))
            reason = f"{names} fit about equally well: ask which one is meant."
            return MatchResult("ambiguous", tuple(near[:top]), reason)
        return MatchResult("match", tuple(near[:top]), _reason(first), (first.capability_id,))


_NOTHING_PUBLISHED: Final = MatchResult("none", (), "No capability is published that could answer.")


def _is_tied_with(one: Match, first: Match) -> bool:
    """Whether it fits about as well as the first, or is led to by the same words."""
    if _is_told(one) and _is_told(first) and _places(first) <= _places(one):
        return True
    return not one.is_below_threshold and one.parts["probability"] >= _AMBIGUOUS_FROM * first.parts["probability"]


def _is_told(one: Match) -> bool:
    """Whether its triggers are what it is found by, rather than its sentences."""
    return one.parts["trigger"] >= _TOLD_FROM


def _places(one: Match) -> set[tuple[int, int]]:
    return {(hit.start, hit.end) for hit in one.triggers}


def _reason(first: Match) -> str:
    if first.triggers:
        named = ", ".join(dict.fromkeys(f"'{hit.trigger}'" for hit in first.triggers[:3]))
        return f"Matched the trigger {named} of '{first.capability_id}'."
    return f"The message is close to what is known of '{first.capability_id}'."


def decision_threshold(known: Sequence[CapabilityProfile], *, has_vectors: bool) -> float:
    """From which score on something is a match, 0 to 1, where nearness is not calibrated.

    The more example sentences a capability has, the nearer an own message comes to one of them, and so does a foreign
    one: the threshold rises with their usual number. Measured with 0, 5 and 20, and lower where what most of them are
    known by is their descriptions (docs/matching.md).
    """
    counts = sorted(len(one.sentences) for one in known)
    usual = counts[len(counts) // 2] if counts else 0
    start, rise = (1.52, 0.07) if has_vectors else (1.25, 0.085)
    if not usual and 2 * sum(len(one.phrases) > 1 for one in known) > len(known):
        start -= _LESS_WHERE_DESCRIBED
    return (start + rise * log(1 + min(usual, 50))) / _SUM
