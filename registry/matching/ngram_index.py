"""What a sentence is made of in words, and which known sentences share it: an inverted index in numpy.

Three kinds of parts, each its own TF-IDF space of unit length: stems, pairs of neighboring stems, and pieces of three
and four letters, which see through inflection and misspelling.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from capability_kit.text.tokenizer import fold_text, split_words, stem_words

Floats = npt.NDArray[np.float32]
# Numbers of parts, and how often each is there.
TermCounts = tuple[npt.NDArray[np.int32], npt.NDArray[np.uint32]]
_NO_NUMBERS: Final = np.array([], np.int32)
_NO_COUNTS: Final = np.array([], np.uint32)
# Past these, parts of texts that are long gone are forgotten with all others.
_PARTS_KEPT_MAX: Final = 2_000_000
# Weights of the three spaces beside vectors, and without them.
WITH_VECTORS: Final = (0.3, 0.15, 0.3)
WITHOUT_VECTORS: Final = (0.4, 0.2, 0.4)
# So many texts are counted in one array: more take no less time, and memory.
_AT_ONCE: Final = 500
_PIECE_LENGTHS: Final = (3, 4)
_WORDS_MAX: Final = 200


def extract_features(text: str) -> tuple[list[str], list[str], list[str]]:
    """Stems, pairs of stems, pieces of letters."""
    words = split_words(text, most=_WORDS_MAX)
    stems = stem_words(words)
    pairs = [f"{first} {second}" for first, second in itertools.pairwise(stems)]
    return stems, pairs, [*itertools.chain.from_iterable(map(_extract_pieces, words))]


# The few that are kept are most words of any text.
@lru_cache(maxsize=5_000)
def _extract_pieces(word: str) -> tuple[str, ...]:
    padded = f" {fold_text(word)} "
    return tuple(padded[at : at + length] for length in _PIECE_LENGTHS for at in range(len(padded) - length + 1))


class FeatureIndex:
    """A number for each part, and known texts as the numbers of their parts.

    Kept between two indexes, because nearly all texts of the next one are those of the last.
    """

    of_part: Mapping[str, int] = {}
    _texts: Mapping[str, tuple[TermCounts, ...]] = {}

    def __init__(self, extract: Callable[[str], Sequence[Sequence[str]]] = extract_features) -> None:
        """`extract` makes a text's parts, of one kind or several."""
        self._extract = extract

    def of_texts(self, texts: Sequence[str]) -> list[tuple[TermCounts, ...]]:
        """For each text the parts of each kind: their numbers, each once, and how often each is in it."""
        if len(self.of_part) > _PARTS_KEPT_MAX:
            self.of_part, self._texts = {}, {}
        # A part that is met for the first time is given the next number.
        of_part = defaultdict(itertools.count(len(self.of_part)).__next__, self.of_part)
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        found = dict(self._texts)
        for at in range(0, len(new), _AT_ONCE):
            some = new[at : at + _AT_ONCE]
            kinds = zip(*map(self._extract, some), strict=True)
            found |= zip(some, zip(*[_count_parts(kind, of_part) for kind in kinds], strict=True), strict=True)
        self._texts = {text: found[text] for text in texts}
        self.of_part = dict(of_part)
        return [self._texts[text] for text in texts]


def _count_parts(texts: Sequence[Sequence[str]], of_part: Mapping[str, int]) -> list[TermCounts]:
    """Those of many texts at once, for which numpy takes a fifth of the time."""
    lengths = [*map(len, texts)]
    numbers = np.fromiter(map(of_part.__getitem__, itertools.chain.from_iterable(texts)), np.int64, sum(lengths))
    rows = np.repeat(np.arange(len(texts)), lengths)
    found, counts = np.unique(rows << 32 | numbers, return_counts=True)
    numbers, counts = (found & 0xFFFFFFFF).astype(np.int32), counts.astype(np.uint32)
    ends = np.searchsorted(found, np.arange(len(texts) + 1) << 32).tolist()
    return [(numbers[start:end], counts[start:end]) for start, end in itertools.pairwise(ends)]


class NgramSpace:
    """TF-IDF vectors of known sentences for one kind of parts, kept by part."""

    def __init__(self, of_part: Mapping[str, int], sentences: Sequence[TermCounts]) -> None:
        """`of_part` has the number of each part that `sentences` are made of."""
        self.count = len(sentences)
        self._of_part = of_part
        numbers = np.concatenate([numbers for numbers, _ in sentences] or [_NO_NUMBERS])
        counts = np.concatenate([counts for _, counts in sentences] or [_NO_COUNTS])
        rows = np.repeat(np.arange(self.count, dtype=np.int32), [len(numbers) for numbers, _ in sentences])
        known = np.bincount(numbers, minlength=1)
        self._idf = np.log((1 + self.count) / (1 + known)) + 1
        values = (1 + np.log(counts)) * self._idf[numbers]
        lengths = np.sqrt(np.bincount(rows, values * values, minlength=self.count))
        by_part = np.argsort(numbers, kind="stable")
        self._rows = rows[by_part]
        self._values = (values / lengths[rows])[by_part].astype(np.float32)
        self._starts = np.concatenate([[0], np.cumsum(known)])

    def likeness(self, sentence: Sequence[str]) -> Floats:
        """The cosine with each known sentence."""
        counts = Counter(sentence)
        known = [(self._of_part[part], count) for part, count in counts.items() if part in self._of_part]
        numbers = np.array([number for number, _ in known], np.int64)
        # Numbers go on in later indexes, and some are of texts that are not in this one.
        is_here = numbers < len(self._idf)
        is_here[is_here] = self._starts[numbers[is_here]] < self._starts[numbers[is_here] + 1]
        places = numbers[is_here]
        if not len(places):
            return np.zeros(self.count, np.float32)
        weights = (1 + np.log(np.array([count for _, count in known], np.float64)[is_here])) * self._idf[places]
        weights = (weights / np.sqrt(np.sum(weights * weights))).astype(np.float32)
        found = [slice(self._starts[place], self._starts[place + 1]) for place in places]
        rows = np.concatenate([self._rows[one] for one in found])
        values = np.concatenate([self._values[one] for one in found])
        values *= np.repeat(weights, self._starts[places + 1] - self._starts[places])
        return np.bincount(rows, weights=values, minlength=self.count).astype(np.float32)

    def matrix(self) -> Floats:
        """The cosines of all known sentences with each other."""
        found = np.zeros((self.count, self.count), np.float32)
        for start, end in itertools.pairwise(self._starts):
            rows, values = self._rows[start:end], self._values[start:end]
            found[np.ix_(rows, rows)] += np.outer(values, values)
        return found


class NgramSpaces:
    """The three spaces together."""

    def __init__(
        self, texts: Sequence[str], weights: tuple[float, float, float], numbers: FeatureIndex | None = None
    ) -> None:
        """`numbers` are those of the index before, to be gone on with."""
        numbers = numbers or FeatureIndex()
        split = numbers.of_texts(texts)
        self.weights = weights
        self.spaces = [NgramSpace(numbers.of_part, [sentence[kind] for sentence in split]) for kind in range(3)]

    def likeness(self, text: str) -> Floats:
        """The weighted sum of the cosines with each known sentence."""
        found: Any = sum(
            weight * space.likeness(kind)
            for weight, space, kind in zip(self.weights, self.spaces, extract_features(text), strict=True)
        )
        return np.asarray(found, np.float32)

    def matrix(self) -> Floats:
        """The weighted sum of the cosines of all known sentences with each other."""
        found: Any = sum(weight * space.matrix() for weight, space in zip(self.weights, self.spaces, strict=True))
        return np.asarray(found, np.float32)
