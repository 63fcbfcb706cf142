"""What a bundle would do to everybody's example messages: which would lead elsewhere once it is published.

A sentence is matched against the other sentences of its own capability, except itself, and the bundle's: the one
that comes nearer, triggers counted in, would get it. The head is left out, since it is fitted after the publish.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.index import MatchIndex
from registry.matching.intent_duplicates import are_duplicates, mean_of_two_nearest
from registry.matching.matcher import Matcher
from registry.matching.ngram_index import Floats

# A candidate less similar than this, without a trigger, takes no other capability's sentence.
_NEAR_FROM: Final = 0.3
_SENTENCE_WEIGHT: Final = 2.0
_SHOWN_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class MovedUtterance:
    """An example message of `capability_id` that would lead to `leads_to`; `place` is its index in should_match."""

    sentence: str
    capability_id: str
    leads_to: str
    place: int


@dataclass(frozen=True, slots=True)
class UtteranceRegression:
    """`sentences` were matched against the bundle. `moved` are others' that it would take, `missed` its own that others
    would get; at most 50 of each are named, `moved_total` counts all. `duplicates` are capabilities that are for the
    same intent, the nearest first."""

    sentences: int
    moved: tuple[MovedUtterance, ...]
    missed: tuple[MovedUtterance, ...]
    moved_total: int
    duplicates: tuple[str, ...] = ()


def check_utterances(candidate: CapabilityProfile, index: MatchIndex) -> UtteranceRegression:
    """Compare the candidate with what is published; within 2 s at 1,000 capabilities with 10 sentences each.

    No message leads to what is closed to the model: it takes none from others, and misses none.
    """
    if candidate.is_closed_to_model:
        return UtteranceRegression(0, (), (), 0)
    stage = _Comparison(candidate, index)
    moved = stage.moved()
    total = sum(len(one.sentences) for one in stage.others) + len(candidate.sentences)
    missed = tuple(stage.missed()[:_SHOWN_MAX])
    return UtteranceRegression(total, tuple(moved[:_SHOWN_MAX]), missed, len(moved), stage.duplicates())


class _Comparison:
    """The candidate alone, as one class, beside the published index."""

    def __init__(self, candidate: CapabilityProfile, index: MatchIndex) -> None:
        self.candidate = candidate
        self.index = index
        self.published = index.matcher
        self.others = [one for one in self.published.known if one.capability_id != candidate.capability_id]
        texts = candidate.samples
        self.vectors = None if index.embedder is None else index.embedder.embed(texts)
        self.alone = Matcher([candidate], ExampleSimilarity(build_training_examples([texts]), self.vectors))

        own_and_closed = (
            one.is_closed_to_model or one.capability_id == candidate.capability_id for one in self.published.known
        )
        self._own_and_closed = np.fromiter(own_and_closed, bool, len(self.published.known))

    def moved(self) -> list[MovedUtterance]:
        """Others' sentences that the candidate would take, and does not take as it is published now."""
        evidence = self.published.evidence
        if evidence is None:
            return []
        near = self._nearness_of_all(evidence)
        found = []
        for row, (place, number, text) in self._golden().items():
            if near[row] < _NEAR_FROM and not self.alone.triggers.find(text):
                continue
            taken = _SENTENCE_WEIGHT * float(near[row]) + self._trigger(self.alone, 0, text)
            own = self._own(evidence, row, place, text)
            if taken > own and not self._is_taken_now(text, own):
                owner = self.published.known[place].capability_id
                found.append(MovedUtterance(text, owner, self.candidate.capability_id, number))
        return found

    def duplicates(self) -> tuple[str, ...]:
        """Other capabilities for the same intent."""
        evidence, own = self.published.evidence, self.alone.intent_of(self.candidate.capability_id)
        if evidence is None or evidence.centroids is None or own is None:
            return ()
        likeness = evidence.centroids @ own.middle
        likeness[self._own_and_closed] = -1
        places = [place for place in np.argsort(-likeness)[:_SHOWN_MAX] if not self._own_and_closed[place]]
        others = (self.published.intent_of(self.published.known[place].capability_id) for place in places)
        return tuple(one.profile.capability_id for one in others if one is not None and are_duplicates(own, one))

    def _golden(self) -> dict[int, tuple[int, int, str]]:
        """`{row among all samples: (place of the capability, index in should_match, sentence)}` of the others."""
        found: dict[int, tuple[int, int, str]] = {}
        row = 0
        for place, one in enumerate(self.published.known):
            numbers = {text: number for number, text in enumerate(one.sentences)}
            for text in one.samples:
                is_other = one.capability_id != self.candidate.capability_id and not one.is_closed_to_model
                if text in numbers and is_other:
                    found[row] = (place, numbers[text], text)
                row += 1
        return found

    def _nearness_of_all(self, evidence: ExampleSimilarity) -> Floats:
        """How near each published sample comes to the candidate: the mean of the two nearest of its samples."""
        if self.vectors is not None and evidence.vectors is not None:
            likeness = evidence.vectors @ self.vectors.T
        elif evidence.spaces is not None:
            likeness = np.stack([evidence.spaces.likeness(text) for text in self.candidate.samples], axis=1)
        else:
            return np.zeros(len(evidence.samples.texts), np.float32)
        return mean_of_two_nearest(likeness)

    def _own(self, evidence: ExampleSimilarity, row: int, place: int, text: str) -> float:
        """The score of the sentence's own capability, without the sentence itself."""
        rows = evidence.rows_of(place)
        if evidence.vectors is not None:
            likeness = evidence.vectors[rows] @ evidence.vectors[row]
        elif evidence.spaces is not None:
            likeness = evidence.spaces.likeness(text)[rows]
        else:
            return float("inf")
        rest = np.delete(likeness, row - rows.start)
        near = float(np.sort(rest)[-2:].mean()) if len(rest) else 0.0
        return _SENTENCE_WEIGHT * near + self._trigger(self.published, place, text)

    def _is_taken_now(self, text: str, own: float) -> bool:
        place = self.published.places.get(self.candidate.capability_id)
        if place is None or self.published.evidence is None:
            return False
        near = self.published.evidence.nearness(text, self.index.vector(text)).nearest[place]
        return _SENTENCE_WEIGHT * float(near) + self._trigger(self.published, place, text) > own

    def _trigger(self, matcher: Matcher, place: int, text: str) -> float:
        return matcher.trigger_scores(text).get(matcher.known[place].capability_id, 0.0)

    def missed(self) -> list[MovedUtterance]:
        """The candidate's own sentences that another capability comes nearer to."""
        evidence = self.published.evidence
        if evidence is None or not self.others:
            return []
        texts = list(self.candidate.samples)
        own_near = self._own_nearness(texts)
        found = []
        for number, text in enumerate(self.candidate.sentences):
            own = _SENTENCE_WEIGHT * own_near[texts.index(text)] + self._trigger(self.alone, 0, text)
            near = evidence.nearness(text, self.index.vector(text)).nearest * np.float32(_SENTENCE_WEIGHT)
            for owner, score in self.published.trigger_scores(text).items():
                near[self.published.places[owner]] += np.float32(score)
            near[self._own_and_closed] = -1
            best = int(near.argmax())
            if float(near[best]) > own:
                leads_to = self.published.known[best].capability_id
                found.append(MovedUtterance(text, self.candidate.capability_id, leads_to, number))
        return found

    def _own_nearness(self, texts: list[str]) -> list[float]:
        """Each of the candidate's samples against its other ones."""
        if self.alone.evidence is None:
            return [0.0 for _ in texts]
        if self.vectors is not None:
            likeness = self.vectors @ self.vectors.T
        elif self.alone.evidence.spaces is not None:
            likeness = self.alone.evidence.spaces.matrix()
        else:
            return [0.0 for _ in texts]
        rest = [np.sort(np.delete(row, place))[-2:] for place, row in enumerate(likeness)]
        return [float(two.mean()) if len(two) else 0.0 for two in rest]
