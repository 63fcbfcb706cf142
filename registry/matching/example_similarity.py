"""What is known of each capability in sentences, and how near a message comes to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from registry.matching import kernel_classifier
from registry.matching.calibration import Background, Calibration, UsualNearness
from registry.matching.ngram_index import WITH_VECTORS, WITHOUT_VECTORS, FeatureIndex, Floats, NgramSpaces
from registry.matching.row_products import RowProducts
from registry.matching.skill_doc_similarity import SkillDocSimilarity

# Beyond these, single sentences are too many to compare with each message: centroids decide.
UTTERANCES_MAX: Final = 20_000
# How much the nearest sentences count beside the head, and the sharpness where there is no head.
_NEAR_WEIGHT: Final = 6.0
_SHARPNESS_WITHOUT_HEAD: Final = 12.0
# What the usual nearness is read as, so that what is calibrated and what is not have about one scale.
_USUAL: Final = np.float32(0.17)


@dataclass(frozen=True)
class TrainingExamples:
    """Sentences with the class that each belongs to; sorted by class, each class has one at least."""

    texts: tuple[str, ...]
    labels: npt.NDArray[np.int64]
    classes: int

    @property
    def fingerprint(self) -> str:
        """What a stored head was fitted on."""
        described = json.dumps([self.texts, self.labels.tolist()], ensure_ascii=False).encode()
        return hashlib.sha256(described).hexdigest()


def build_training_examples(sentences: Sequence[Sequence[str]]) -> TrainingExamples:
    """One list of sentences for each class."""
    labels = np.repeat(np.arange(len(sentences), dtype=np.int64), [len(of_class) for of_class in sentences])
    return TrainingExamples(tuple(chain.from_iterable(sentences)), labels, len(sentences))


@dataclass(frozen=True)
class SimilarityScores:
    """How near a message is to each class: `score` ranks, `probability` sums to 1, `sentence` is 0 to 1.

    `nearest` is the similarity of the nearest sentences alone, `sentence` by how much more than usual that is.
    """

    score: Floats
    probability: Floats
    sentence: Floats
    nearest: Floats


class ExampleSimilarity:
    """Immutable; rebuilt when a capability's sentences change."""

    def __init__(
        self,
        samples: TrainingExamples,
        vectors: Floats | None,
        weights: Floats | None = None,
        numbers: FeatureIndex | None = None,
        *,
        is_fitted: bool = True,
        skill_docs: SkillDocSimilarity | None = None,
        background: Background | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        """`vectors` are the samples' own, in order; `weights` those of a head, which `is_fitted` says was fitted on
        these samples and not extended; `numbers` and `calibration` those of the evidence before, to be gone on with.
        Beside vectors, `skill_docs` of the same classes count, and what a `background` of messages is as near to
        counts less."""
        self.samples = samples
        self.vectors = vectors
        self.starts = np.searchsorted(samples.labels, np.arange(samples.classes))
        is_large = len(samples.texts) > UTTERANCES_MAX
        shares = WITHOUT_VECTORS if vectors is None else WITH_VECTORS
        self.spaces = None if is_large else NgramSpaces(samples.texts, shares, numbers)
        self.centroids = None if vectors is None else _centroids(vectors, self.starts)
        if is_large:
            self.vectors = None
        self._products = None if self.vectors is None else RowProducts(self.vectors)
        self._center_products = None if self.centroids is None else RowProducts(self.centroids)
        self.weights = weights
        self.is_fitted = weights is not None and is_fitted
        self.skill_docs = skill_docs
        self.usual = None if background is None else self._calibrated(background, calibration or Calibration(), vectors)
        if not self.is_fitted and kernel_classifier.is_cheap_to_fit(len(samples.texts), samples.classes):
            self.weights, self.is_fitted = self.fit(), True

    @property
    def is_settled(self) -> bool:
        """Whether a job has nothing to add: there is a head, or there will be none."""
        return (
            self.is_fitted
            or self.spaces is None
            or not kernel_classifier.can_fit(len(self.samples.texts), self.samples.classes)
        )

    def rows_of(self, place: int) -> slice:
        """Where the samples of a class are."""
        end = self.starts[place + 1] if place + 1 < len(self.starts) else len(self.samples.texts)
        return slice(int(self.starts[place]), int(end))

    def vectors_of(self, place: int) -> Floats | None:
        """Those of a class's samples; None without any, and where there are too many to be kept."""
        return None if self.vectors is None else self.vectors[self.rows_of(place)]

    def fit(self) -> Floats:
        """The head's weights. Takes from milliseconds to a minute: see `head.is_quick`."""
        return kernel_classifier.fit_classifier(self.likeness_matrix(), self.samples.labels, self.samples.classes)

    def likeness_matrix(self) -> Floats:
        """Of all samples with each other."""
        if self.spaces is None:
            raise ValueError("too many sentences to compare each with each")
        likeness = self.spaces.matrix()
        return likeness if self.vectors is None else likeness + self.vectors @ self.vectors.T

    def nearness(self, message: str, vector: Floats | None) -> SimilarityScores:
        """`vector` is the message's own, None where there is no embedder."""
        by_words = np.zeros(len(self.samples.texts), np.float32)
        if self.spaces is not None:
            by_words = self.spaces.likeness(message)
        by_vector = None if self._products is None or vector is None else self._products.with_vector(vector)
        nearest = self._two_nearest(by_words if by_vector is None else by_vector)
        if self._center_products is not None and vector is not None and by_vector is None:
            nearest = self._center_products.with_vector(vector)
        sentence = nearest if vector is None else self._beyond_usual(nearest, message, vector)
        if self.weights is not None:
            likeness = by_words if by_vector is None else by_words + by_vector
            described = 0.0 if self.skill_docs is None or vector is None else self.skill_docs.described_share
            score = np.float32(1 - described) * (likeness @ self.weights + np.float32(_NEAR_WEIGHT) * nearest)
            score += np.float32(described * _SHARPNESS_WITHOUT_HEAD) * sentence
        else:
            score = np.float32(_SHARPNESS_WITHOUT_HEAD) * self._without_head(sentence, by_words, vector)
        probability = kernel_classifier.predict_probabilities(score)
        return SimilarityScores(score, probability, np.clip(sentence, 0, 1), np.clip(nearest, 0, 1))

    def _beyond_usual(self, nearest: Floats, message: str, vector: Floats) -> Floats:
        """With what the skill docs say, and without what everyday messages are as near to."""
        docs = self.skill_docs
        nearness = nearest if docs is None else nearest + docs.nearness(vector)
        shared = np.float32(0) if docs is None else docs.shared_words(message)
        if self.usual is None:
            return np.asarray(nearness + shared, np.float32)
        return np.asarray(self.usual.exceed(nearness, vector) + shared + _USUAL, np.float32)

    def _calibrated(
        self, background: Background, calibration: Calibration, vectors: Floats | None
    ) -> UsualNearness | None:
        if vectors is None or not self.samples.classes:
            return None
        ends = [*self.starts[1:], len(self.samples.texts)]
        spans = [slice(start, end) for start, end in zip(self.starts, ends, strict=True)]
        docs = self.skill_docs
        shares = np.zeros(len(spans), np.float32) if docs is None else docs.shares

        def nearness(place: int, messages: Floats) -> Floats:
            if self.vectors is None and self.centroids is not None:
                found = messages @ self.centroids[place]
            else:
                likeness = messages @ vectors[spans[place]].T
                two = np.sort(likeness, axis=1)[:, -2:]
                found = two.sum(axis=1) / np.float32(two.shape[1])
            of_doc = np.float32(0) if docs is None else docs.nearness_of(place, messages)
            return np.asarray(found + of_doc, np.float32)

        texts = self.samples.texts
        prose = docs.texts if docs is not None else [""] * len(spans)
        keys = [(texts[span], float(shares[at]), prose[at], self.vectors is None) for at, span in enumerate(spans)]
        foreign = np.array([background.foreign_share(vectors[span]) for span in spans], np.float32)
        return calibration.measure(background, keys, nearness, foreign_shares=foreign, described_shares=shares)

    def _without_head(self, sentence: Floats, by_words: Floats, vector: Floats | None) -> Floats:
        """Nearest sentences, the middle of all of them, and shared words."""
        if self._center_products is None or vector is None:
            return sentence * np.float32(2)
        found = sentence + self._center_products.with_vector(vector) + np.float32(0.7) * self._two_nearest(by_words)
        return np.asarray(found, np.float32)

    def _two_nearest(self, likeness: Floats) -> Floats:
        """The mean of the two nearest samples of each class; of a class with one, that one."""
        best = np.maximum.reduceat(likeness, self.starts)
        rest = likeness.copy()
        # The first place of each class's best is taken out, so that the next best shows.
        places = np.flatnonzero(likeness == best[self.samples.labels])
        first = places[np.unique(self.samples.labels[places], return_index=True)[1]]
        rest[first] = -np.inf
        second = np.maximum.reduceat(rest, self.starts)
        return np.asarray((best + np.where(np.isfinite(second), second, best)) / 2, np.float32)


def _centroids(vectors: Floats, starts: npt.NDArray[np.int64]) -> Floats:
    sums = np.add.reduceat(vectors, starts, axis=0)
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12), np.float32)
