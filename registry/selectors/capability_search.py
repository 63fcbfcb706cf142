"""Which capabilities some words lead to in the Studio's list and in its palette, best first.

What has every word in its id or name comes first. Then what `capability_search` finds: by the index that this process
applies to agents, with vectors where there is an embedder; where none was made yet, by the words of the metadata alone,
since making it reads every skill doc. Last, where no name has the words, what is spelled nearly so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import Final

from capability_kit.text.tokenizer import fold_accents
from registry.catalog.facets import Facets

RESULTS_MAX: Final = 50
# Of a word that occurs nearly everywhere only this many are examined: it distinguishes nothing.
SUGGESTIONS_MAX: Final = 500
# Below this a vector says that two texts are in the same language, not that one is about the other.
VECTOR_SIMILARITY_MIN: Final = 0.35
# A word that is shorter is nearly like too many.
_SPELLED_FROM: Final = 4
_WORDS_MAX: Final = 5
_LIKE_FROM: Final = 0.75
_NAME_MAX: Final = 80
_WORD: Final = re.compile(r"[^\W_]+")


def rank_capabilities(text: str, among: Mapping[str, Facets]) -> dict[str, int]:
    """`{capability_id: place}` of what fits, out of `among`."""
    by_name = find_by_name(text, among)
    found = [*by_name, *_searched(text, among), *([] if by_name else find_by_spelling(text, among))]
    return {capability_id: place for place, capability_id in enumerate(dict.fromkeys(found))}


def find_by_name(text: str, among: Mapping[str, Facets]) -> list[str]:
    """The ids that have every word in id or name, with or without accents: the very id, then what begins with the text,
    then the rest."""
    begin = fold_accents(text)
    words = begin.split()
    found = []
    for capability_id, one in among.items():
        name = _folded_name(one.name)
        if all(word in capability_id or word in name for word in words):
            begins = capability_id.startswith(begin) or name.startswith(begin)
            found.append((capability_id != begin, not begins, capability_id))
    return [capability_id for *_, capability_id in sorted(found)]


def has_every_word(text: str, capability_id: str, one: Facets) -> bool:
    """Whether id, name, description, triggers or keywords hold each longer word of the text; of a word its beginning,
    so that another form of it counts."""
    known = one.known
    said = " ".join((capability_id, one.name, known.description, known.problem, *known.triggers, *known.keywords))
    said = fold_accents(said)
    words = [word for word in _WORD.findall(fold_accents(text)) if len(word) >= _SPELLED_FROM]
    return all(word[: max(_SPELLED_FROM, len(word) - 2)] in said for word in words)


def find_by_spelling(text: str, among: Mapping[str, Facets]) -> list[str]:
    """The ids that have, for each longer word of the text, a word in id or name that is spelled nearly like it; the
    nearest first."""
    words = _WORD.findall(fold_accents(text))[:_WORDS_MAX]
    likenesses = [_Likeness(word) for word in words if len(word) >= _SPELLED_FROM]
    found = []
    for capability_id, one in among.items() if likenesses else ():
        own = _searchable_words(capability_id, one.name)
        near = min(max(map(each.to, own), default=0.0) for each in likenesses)
        if near >= _LIKE_FROM:
            found.append((-near, capability_id))
    return [capability_id for _, capability_id in sorted(found)]


@lru_cache(maxsize=20_000)
def _folded_name(name: str) -> str:
    return fold_accents(name)


@lru_cache(maxsize=20_000)
def _searchable_words(capability_id: str, name: str) -> tuple[str, ...]:
    # Typing repeats the same comparison for thousands of words with each letter.
    return tuple(_WORD.findall(f"{capability_id} {fold_accents(name[:_NAME_MAX])}"))


class _Likeness:
    """How nearly words are spelled like one word, 0 to 1. The same words occur in many names: each is stored once."""

    def __init__(self, word: str) -> None:
        self._letter = word[0]
        self._matcher = SequenceMatcher(b=word[:64], autojunk=False)
        self._held: dict[str, float] = {}

    def to(self, word: str) -> float:
        """Words with another first letter are other words: misspelled words rarely begin with another letter."""
        if word[0] != self._letter:
            return 0.0
        if word not in self._held:
            self._matcher.set_seq1(word[:64])
            # What is cheap first: it is never less than what takes time.
            is_near = self._matcher.real_quick_ratio() >= _LIKE_FROM and self._matcher.quick_ratio() >= _LIKE_FROM
            self._held[word] = self._matcher.ratio() if is_near else 0.0
        return self._held[word]


def _searched(text: str, among: Mapping[str, Facets]) -> list[str]:
    # Brings numpy into the process: only a search needs it.
    from registry.matching.index import PUBLISHED_INDEX
    from registry.matching.search import default_ranking

    held = PUBLISHED_INDEX.index
    if held is None:
        return _by_metadata(text, among)
    vector = held.vector(text)
    found = held.search.search(
        text, vector, top=RESULTS_MAX, ranking=default_ranking(vector), takes=lambda one: one.capability_id in among
    )
    # Beside a vector a keyword is the share of the text that is found; without one, everything is a hit by words.
    is_hit = vector is None
    return [one.capability_id for one in found if is_hit or one.keyword > 0 or one.vector >= VECTOR_SIMILARITY_MIN]


def _by_metadata(text: str, among: Mapping[str, Facets]) -> list[str]:
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from registry.matching.search import SearchIndex, term_stems

    # The words of a text are folded as stems; first what could contain them at all, so that few are taken apart.
    parts = [word[:4] for word in fold_accents(text).split() if len(word) > 2]
    near = list(islice((one.known for one in among.values() if _may_hold(one, parts)), SUGGESTIONS_MAX))
    index = SearchIndex(near, [term_stems(one, "") for one in near], None)
    return [one.capability_id for one in index.search(text, None, top=RESULTS_MAX)]


def _may_hold(one: Facets, parts: list[str]) -> bool:
    known = one.known
    said = " ".join((known.name, known.description, known.problem, *known.triggers, *known.keywords))
    said = fold_accents(said)
    return bool(known.capability_id) and any(part in said for part in parts)
