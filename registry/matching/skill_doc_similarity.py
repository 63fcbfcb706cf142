"""How near a message comes to the skill docs: for capabilities that have hardly any example messages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from capability_kit.text.tokenizer import stems
from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.ngram_index import FeatureIndex, Floats, NgramSpace
from registry.matching.row_products import RowProducts

# Beside the similarity of the nearest sentences; chosen on half of the messages of docs/matching.md.
_VECTOR_WEIGHT = np.float32(0.8)
_WORDS_WEIGHT = np.float32(0.6)
_WORDS_MAX = 200


def extract_stems(text: str) -> tuple[list[str]]:
    """The one kind of parts that skill docs are compared by beside vectors."""
    return (stems(text, most=_WORDS_MAX),)


def prose_texts(known: Sequence[CapabilityProfile]) -> list[str]:
    """The texts whose vectors are needed, in order: of capabilities whose skill doc counts."""
    return [one.prose for one in known if one.described_share]


class SkillDocSimilarity:
    """Immutable: of the capabilities at one moment."""

    def __init__(
        self, known: Sequence[CapabilityProfile], vectors: Floats, numbers: FeatureIndex | None = None
    ) -> None:
        """`vectors` are those of `prose_texts`; `numbers` those of the index before, to be gone on with."""
        self.shares = np.array([one.described_share for one in known], np.float32)
        self.vectors = np.zeros((len(known), vectors.shape[1]), np.float32)
        self.vectors[self.shares > 0] = vectors
        self._products = RowProducts(self.vectors)
        numbers = numbers or FeatureIndex(extract_stems)
        self.texts = [one.prose if one.described_share else "" for one in known]
        counted = numbers.of_texts(self.texts)
        self._space = NgramSpace(numbers.of_part, [parts[0] for parts in counted])

    @property
    def described_share(self) -> float:
        """How much skill docs count in this registry, 0 to 1."""
        return float(self.shares.mean()) if len(self.shares) else 0.0

    def nearness(self, vector: Floats) -> Floats:
        """By vectors, of each capability."""
        return np.asarray(self.shares * _VECTOR_WEIGHT * self._products.with_vector(vector), np.float32)

    def nearness_of(self, place: int, messages: Floats) -> Floats:
        """By vectors, of many messages to the capability at a place."""
        return np.asarray(self.shares[place] * _VECTOR_WEIGHT * (messages @ self.vectors[place]), np.float32)

    def shared_words(self, message: str) -> Floats:
        """By words, of each capability."""
        return np.asarray(self.shares * _WORDS_WEIGHT * self._space.likeness(extract_stems(message)[0]), np.float32)
