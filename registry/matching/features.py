"""What a sentence is made of in words, and which known sentences share it: an inverted index in numpy.

Three kinds of parts, each its own TF-IDF space of unit length: stems, pairs of neighbouring stems, and pieces of three
and four letters, which see through inflection and misspelling.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agent_client.words import folded, words

Floats = npt.NDArray[np.float32]
# Weights of the three spaces beside vectors, and without them.
BESIDE_VECTORS: Final = (0.3, 0.15, 0.3)
ALONE: Final = (0.4, 0.2, 0.4)
_PIECE_LENGTHS: Final = (3, 4)
_WORDS_MAX: Final = 200


def parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """Stems, pairs of stems, pieces of letters."""
    found = words(text)[:_WORDS_MAX]
    stems = [word.stem for word in found]
    pairs = [f"{first} {second}" for first, second in itertools.pairwise(stems)]
    pieces = []
    for word in found:
        padded = f" {folded(text[word.start : word.end])} "
        for length in _PIECE_LENGTHS:
            pieces += [padded[at : at + length] for at in range(len(padded) - length + 1)]
    return stems, pairs, pieces


class WordSpace:
    """TF-IDF vectors of known sentences for one kind of parts, kept by part."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        self.count = len(sentences)
        counts = [Counter(sentence) for sentence in sentences]
        frequency = Counter(part for count in counts for part in count)
        self.idf = {part: float(np.log((1 + self.count) / (1 + known))) + 1 for part, known in frequency.items()}
        rows: dict[str, list[int]] = {part: [] for part in frequency}
        values: dict[str, list[float]] = {part: [] for part in frequency}
        for row, count in enumerate(counts):
            for part, weight in self._unit(count).items():
                rows[part].append(row)
                values[part].append(weight)
        self._postings = {
            part: (np.array(rows[part], np.int32), np.array(values[part], np.float32)) for part in frequency
        }

    def _unit(self, count: Counter[str]) -> dict[str, float]:
        weights = {part: (1 + float(np.log(n))) * self.idf[part] for part, n in count.items() if part in self.idf}
        length = sum(weight * weight for weight in weights.values()) ** 0.5 or 1.0
        return {part: weight / length for part, weight in weights.items()}

    def likeness(self, sentence: Sequence[str]) -> Floats:
        """The cosine with each known sentence."""
        known = [(self._postings[part], weight) for part, weight in self._unit(Counter(sentence)).items()]
        if not known:
            return np.zeros(self.count, np.float32)
        rows = np.concatenate([rows for (rows, _), _ in known])
        values = np.concatenate([values * np.float32(weight) for (_, values), weight in known])
        return np.bincount(rows, weights=values, minlength=self.count).astype(np.float32)

    def matrix(self) -> Floats:
        """The cosines of all known sentences with each other."""
        found = np.zeros((self.count, self.count), np.float32)
        for rows, values in self._postings.values():
            found[np.ix_(rows, rows)] += np.outer(values, values)
        return found


class WordSpaces:
    """The three spaces together."""

    def __init__(self, texts: Sequence[str], weights: tuple[float, float, float]) -> None:
        split = [parts(text) for text in texts]
        self.weights = weights
        self.spaces = [WordSpace([sentence[kind] for sentence in split]) for kind in range(3)]

    def likeness(self, text: str) -> Floats:
        """The weighted sum of the cosines with each known sentence."""
        found: Any = sum(
            weight * space.likeness(kind)
            for weight, space, kind in zip(self.weights, self.spaces, parts(text), strict=True)
        )
        return np.asarray(found, np.float32)

    def matrix(self) -> Floats:
        """The weighted sum of the cosines of all known sentences with each other."""
        found: Any = sum(weight * space.matrix() for weight, space in zip(self.weights, self.spaces, strict=True))
        return np.asarray(found, np.float32)
