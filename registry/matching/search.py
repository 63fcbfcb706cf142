"""`capability_search`: 0.7 of the vector and 0.3 of the keywords (docs/contract.md 4), the same on both databases.

Vectors represent what a capability is for: a playbook's problem, conditions and keywords, else name, description and
triggers; never the resolution, because people search by problem. A playbook has one more for each sentence of its
problem and conditions: a customer mentions one of them, not all. Keywords are searched in everything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from capability_kit.text.tokenizer import fold_and_stem, stems
from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.ngram_index import Floats

Ranking = Literal["hybrid", "coverage"]

TOP_DEFAULT: Final = 5
TOP_MAX: Final = 50
VECTOR_SHARE: Final = 0.7
KEYWORD_SHARE: Final = 0.3
# BM25's usual saturation and length correction.
_SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.75
# A skill doc is read up to here: what it is about is at its beginning.
_WORDS_MAX: Final = 600
_QUERY_WORDS_MAX: Final = 64
_STOP_WORDS: Final = (
    "a an and are as at be been but by can do does for from had has have he her him how i if in into is it its me my "
    "no not of on or our she so that the their them then there they this to us was we were what when where which who "
    "why will with would you your"
)
_STOP_STEMS: Final = frozenset(fold_and_stem(word) for word in _STOP_WORDS.split())
# Of what no keyword leads to, this many are added by vector.
_BY_VECTOR: Final = 100
_SENTENCES_MAX: Final = 12
# Less is a heading or an abbreviation, and near to nothing or to everything.
_SENTENCE_CHARACTERS_MIN: Final = 9
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result; `score`, `vector` and `keyword` are 0 to 1."""

    capability_id: str
    name: str
    score: float
    vector: float
    keyword: float


def default_ranking(vector: Floats | None) -> Ranking:
    """What measured better (docs/matching.md): beside a vector the share of the query that is found, else BM25."""
    return "hybrid" if vector is None else "coverage"


def texts_to_embed(one: CapabilityProfile) -> list[str]:
    """The texts of its vectors: all of it first, then the sentences of a playbook's problem and conditions."""
    if not one.problem:
        return [". ".join(text for text in (one.name, one.description, ", ".join(one.triggers)) if text)]
    told = "\n".join((one.problem, *one.conditions))
    sentences = [text for text in _SENTENCE_END.split(told) if len(text) >= _SENTENCE_CHARACTERS_MIN]
    return [" ".join((one.problem, *one.conditions, *one.keywords)), *sentences[:_SENTENCES_MAX]]


def term_stems(one: CapabilityProfile, skill_doc: str) -> Counter[str]:
    """The words that keywords are searched in."""
    own = (one.name, one.problem or one.description, " ".join((*one.keywords, *one.conditions, *one.triggers)))
    counted: Counter[str] = Counter()
    for text in (*own, skill_doc[: _WORDS_MAX * 12]):
        counted.update(stems(text, most=_WORDS_MAX))
    return counted


@dataclass(frozen=True, slots=True)
class NumberedWords:
    """The words of one capability: the number of each stem, once, and how often it is there."""

    numbers: npt.NDArray[np.int32]
    counts: Floats


def number_words(counted: Mapping[str, int], numbers: dict[str, int]) -> NumberedWords:
    """A stem that is met for the first time is given the next number in `numbers`."""
    found = [numbers.setdefault(stem, len(numbers)) for stem in counted]
    return NumberedWords(np.array(found, np.int32), np.array([*counted.values()], np.float32))


class SearchIndex:
    """Immutable: what is published at one moment."""

    def __init__(
        self,
        known: Sequence[CapabilityProfile],
        words: Sequence[Mapping[str, int]] | Sequence[NumberedWords],
        vectors: Floats | None,
        numbers: Mapping[str, int] | None = None,
    ) -> None:
        """`words` are the counted words of each, by number where `numbers` has the number of each stem; `vectors` those
        of all `texts_to_embed`, one after the other."""
        self.known = tuple(known)
        self.vectors = vectors
        lengths = [0, *(len(texts_to_embed(one)) for one in known)] if vectors is not None else [0] * (len(known) + 1)
        self._starts = np.cumsum(lengths)[:-1]
        own_numbers: dict[str, int] = {}
        numbered = [one if isinstance(one, NumberedWords) else number_words(one, own_numbers) for one in words]
        self._numbers = own_numbers if numbers is None else numbers
        stems = np.concatenate([one.numbers for one in numbered] or [np.zeros(0, np.int32)])
        counts = np.concatenate([one.counts for one in numbered] or [np.zeros(0, np.float32)])
        places = np.repeat(np.arange(len(numbered), dtype=np.int32), [len(one.numbers) for one in numbered])
        self._lengths = np.maximum(np.bincount(places, counts, minlength=len(numbered)), 1).astype(np.float32)
        by_stem = np.argsort(stems, kind="stable")
        self._places, self._counts = places[by_stem], counts[by_stem]
        self._ends = np.cumsum(np.bincount(stems, minlength=len(self._numbers)))

    def search(
        self,
        query: str,
        vector: Floats | None,
        *,
        top: int = TOP_DEFAULT,
        min_score: float = 0.0,
        ranking: Ranking = "hybrid",
        takes: Callable[[CapabilityProfile], bool] | None = None,
    ) -> list[SearchHit]:
        """Best first, equal ones by id. `min_score` is compared with the combined score."""
        if not self.known:
            return []
        allowed = np.array([takes is None or takes(one) for one in self.known], bool)
        by_vector = self._by_vector(vector)
        terms = _terms(query)
        raw = (self._bm25(terms) if ranking == "hybrid" else self._coverage(terms)) * allowed
        by_vector = by_vector * allowed
        places = self._result_set(raw, by_vector)
        by_keyword = raw if ranking == "coverage" else _min_max(raw, places)
        found = [self._found(int(place), by_vector, by_keyword, has_keywords=bool(raw.any())) for place in places]
        found = [one for one in found if one.score >= min_score]
        return sorted(found, key=lambda one: (-one.score, one.capability_id))[:top]

    def wholes(self, vector: Floats | None) -> dict[str, float]:
        """`{capability_id: cosine}` with the text for all of it; empty where there are no vectors."""
        if self.vectors is None or vector is None or not len(self.vectors):
            return {}
        near = self.vectors[self._starts] @ vector
        return {one.capability_id: float(found) for one, found in zip(self.known, near, strict=True)}

    def _by_vector(self, vector: Floats | None) -> Floats:
        """0 to 1 each: the mean of how near the whole text is, and the nearest of its texts."""
        if self.vectors is None or vector is None or not len(self.vectors):
            return np.zeros(len(self.known), np.float32)
        near = self.vectors @ vector
        both = (near[self._starts] + np.maximum.reduceat(near, self._starts)) / 2
        return np.asarray(np.clip(both, 0, 1), np.float32)

    def _result_set(self, raw: Floats, by_vector: Floats) -> list[int]:
        """What a keyword leads to, and what is nearest by vector."""
        nearest = np.argsort(-by_vector, kind="stable")[:_BY_VECTOR]
        return sorted({*np.flatnonzero(raw > 0).tolist(), *(int(p) for p in nearest if by_vector[p] > 0)})

    def _found(self, place: int, by_vector: Floats, by_keyword: Floats, *, has_keywords: bool) -> SearchHit:
        vector, keyword = float(by_vector[place]), float(by_keyword[place])
        if self.vectors is None:
            score = keyword
        elif not has_keywords:
            score = vector
        else:
            score = VECTOR_SHARE * vector + KEYWORD_SHARE * keyword
        one = self.known[place]
        score = min(1.0, max(0.0, score))
        return SearchHit(one.capability_id, one.name, round(score, 4), round(vector, 4), round(keyword, 4))

    def _posting(self, term: str) -> slice:
        """Where a stem's places and counts are; empty for one that does not occur."""
        number = self._numbers.get(term)
        # Numbers are shared with later indexes, which may have given more of them.
        if number is None or number >= len(self._ends):
            return slice(0, 0)
        return slice(self._ends[number - 1] if number else 0, self._ends[number])

    def _idf(self, term: str) -> float:
        count = len(self._places[self._posting(term)])
        return log(1 + (len(self.known) - count + 0.5) / (count + 0.5))

    def _bm25(self, terms: Sequence[str]) -> Floats:
        found = np.zeros(len(self.known), np.float32)
        usual = float(self._lengths.mean())
        for term in terms:
            posting = self._posting(term)
            places, counts = self._places[posting], self._counts[posting]
            held_back = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * self._lengths[places] / usual)
            found[places] += np.float32(self._idf(term)) * counts * (_SATURATION + 1) / (counts + held_back)
        return found

    def _coverage(self, terms: Sequence[str]) -> Floats:
        """The share of the query's weight, by how rare its words are, that each one contains."""
        found = np.zeros(len(self.known), np.float32)
        weights = {term: self._idf(term) for term in terms}
        whole = sum(weights.values()) or 1.0
        for term, weight in weights.items():
            found[self._places[self._posting(term)]] += np.float32(weight / whole)
        return found


def _terms(query: str) -> list[str]:
    """The stems to search for; words that occur in every sentence count only where there is nothing else."""
    asked = list(dict.fromkeys(stems(query)))
    telling = [stem for stem in asked if stem not in _STOP_STEMS]
    return (telling or asked)[:_QUERY_WORDS_MAX]


def _min_max(raw: Floats, places: Sequence[int]) -> Floats:
    """Brought to 0..1 within the hits; all equal, or a single one, is 1."""
    scaled = np.zeros_like(raw)
    hits = [place for place in places if raw[place] > 0]
    if not hits:
        return scaled
    low, high = float(raw[hits].min()), float(raw[hits].max())
    scaled[hits] = 1.0 if high == low else (raw[hits] - low) / (high - low)
    return scaled
