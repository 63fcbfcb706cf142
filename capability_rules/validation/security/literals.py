"""Where fixed texts occur in a text, for some thousand of them at once.

The longest word of a fixed text is inside of a word of the text. A text of 64 KB has some three thousand different
words, and most of them were seen in texts before: which fixed words are inside of a word is found out once per word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_HEAD = 3
_WORDS_KEPT = 50_000
# A word that is longer is encoded: it is not seen twice.
_LONGEST_KEPT = 64
_WORD = re.compile(r"\w+")


# Bounded, because names of files are looked for too, and authors choose these.
@lru_cache(maxsize=20_000)
def longest_part(literal: str) -> tuple[str, int]:
    """The longest word of a fixed text and its offset; the text itself, if it has only signs."""
    found = max(_WORD.finditer(literal), key=lambda match: match.end() - match.start(), default=None)
    return (found.group(), found.start()) if found else (literal, 0)


@lru_cache(maxsize=5_000)
def _with_parts(literals: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((each, longest_part(each)[0]) for each in literals)


class LiteralIndex:
    """The fixed words that are looked for, by their first letters, three at most; `signs` are those without letters."""

    def __init__(self, literals: Iterable[str]) -> None:
        heads: dict[int, dict[str, set[int]]] = {size: {} for size in (1, 2, _HEAD)}
        parts = sorted({longest_part(literal)[0] for literal in literals})
        self.signs = tuple(part for part in parts if not _WORD.fullmatch(part))
        self._words = frozenset(filter(_WORD.fullmatch, parts))
        for literal in self._words:
            size = min(len(literal), _HEAD)
            heads[size].setdefault(literal[:size], set()).add(len(literal))
        # By the beginning of a word the lengths to try: a thousand names may begin alike.
        self._heads = [(size, by_head) for size, by_head in heads.items() if by_head]
        self.known: dict[str, frozenset[str]] = {}

    def inside(self, word: str) -> frozenset[str]:
        """The fixed words that occur inside of a word."""
        found = self.known.get(word)
        if found is None:
            found = frozenset(self._search(word))
            if len(word) <= _LONGEST_KEPT:
                if len(self.known) >= _WORDS_KEPT:
                    self.known.clear()
                self.known[word] = found
        return found

    def _search(self, word: str) -> Iterator[str]:
        for size, by_head in self._heads:
            for at in range(len(word) - size + 1):
                for length in by_head.get(word[at : at + size], ()):
                    if (found := word[at : at + length]) in self._words:
                        yield found


class LiteralPlaces:
    """Where each fixed word of an index occurs in one text."""

    def __init__(self, text: str, index: LiteralIndex) -> None:
        self._text = text
        known = index.known
        words = set(_WORD.findall(text))
        self._present = {part for word in words for part in (known.get(word) or index.inside(word))}
        self._present.update(sign for sign in index.signs if sign in text)
        self._places: dict[str, list[int]] = {}

    def keep_possible(self, literals: tuple[str, ...]) -> list[str]:
        """Those of the fixed texts whose longest word occurs, in their order."""
        present = self._present
        return [each for each, part in _with_parts(literals) if part in present]

    def find(self, literal: str, text: str = "") -> list[int]:
        """Every place of a fixed text, in order; overlapping ones too. `text` may differ from the one that was read in
        its blanks."""
        part, before = longest_part(literal)
        places = self._find_part(part)
        if part == literal:
            return places
        starts_with = (text or self._text).startswith
        return [at - before for at in places if at >= before and starts_with(literal, at - before)]

    def _find_part(self, part: str) -> list[int]:
        places = self._places.get(part)
        if places is None:
            places = self._places[part] = list(find_places(self._text, part, 1)) if part in self._present else []
        return places


def find_places(text: str, word: str, step: int = 0) -> Iterator[int]:
    """Every place of a word, each `step` characters behind the one before at least: its own length if not given."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + (step or len(word)))
