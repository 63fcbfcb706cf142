"""Where fixed texts occur in a text, for some thousand of them at once.

The longest word of a fixed text is inside of a word of the text. A text of 64 KB has some three thousand different
words, and most of them were seen in texts before: which fixed words are inside of a word is found out once per word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

_HEAD = 3
_WORDS_KEPT = 50_000
# A word that is longer is encoded: it is not seen twice.
_LONGEST_KEPT = 64
_WORD = re.compile(r"\w+")


@cache
def longest_part(literal: str) -> tuple[str, int]:
    """The longest word of a fixed text and its offset; the text itself, if it has only signs."""
    found = max(_WORD.finditer(literal), key=lambda match: match.end() - match.start(), default=None)
    return (found.group(), found.start()) if found else (literal, 0)


@cache
def _with_parts(literals: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((each, longest_part(each)[0]) for each in literals)


class LiteralIndex:
    """The fixed words that are looked for, by their first letters, three at most; `signs` are those without letters."""

    def __init__(self, literals: Iterable[str]) -> None:
        heads: dict[int, dict[str, list[str]]] = {size: {} for size in (1, 2, _HEAD)}
        parts = sorted({longest_part(literal)[0] for literal in literals})
        self.signs = tuple(part for part in parts if not _WORD.fullmatch(part))
        for literal in filter(_WORD.fullmatch, parts):
            size = min(len(literal), _HEAD)
            heads[size].setdefault(literal[:size], []).append(literal)
        self._heads = [(size, by_head) for size, by_head in heads.items() if by_head]
        self.known: dict[str, tuple[tuple[str, int], ...]] = {}

    def inside(self, word: str) -> tuple[tuple[str, int], ...]:
        """(fixed word, offset) for each occurrence inside of a word."""
        found = self.known.get(word)
        if found is None:
            found = tuple(self._search(word))
            if len(word) <= _LONGEST_KEPT:
                if len(self.known) >= _WORDS_KEPT:
                    self.known.clear()
                self.known[word] = found
        return found

    def _search(self, word: str) -> Iterator[tuple[str, int]]:
        for size, by_head in self._heads:
            for at in range(len(word) - size + 1):
                head = word[at : at + size]
                if head in by_head:
                    for literal in by_head[head]:
                        if word.startswith(literal, at):
                            yield literal, at


class LiteralPlaces:
    """Where each fixed word of an index occurs in one text."""

    def __init__(self, text: str, index: LiteralIndex) -> None:
        self._text = text
        self._starts: dict[str, list[int]] | None = None
        self._words: dict[str, list[tuple[str, int]]] = {}
        self._places: dict[str, list[int]] = {}
        known = index.known
        for word in set(_WORD.findall(text)):
            found = known.get(word)
            for literal, offset in index.inside(word) if found is None else found:
                self._words.setdefault(literal, []).append((word, offset))
        self._places.update((sign, places) for sign in index.signs if (places := list(find_places(text, sign, 1))))

    def keep_possible(self, literals: tuple[str, ...]) -> list[str]:
        """Those of the fixed texts whose longest word occurs, in their order."""
        words, signs = self._words, self._places
        return [each for each, part in _with_parts(literals) if part in words or part in signs]

    def may_have(self, literal: str) -> bool:
        """Whether the longest word of a fixed text occurs."""
        part = longest_part(literal)[0]
        return part in self._words or part in self._places

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
            if self._starts is None:
                self._starts = self._find_starts()
            places = [start + offset for word, offset in self._words.get(part, ()) for start in self._starts[word]]
            places.sort()
            self._places[part] = places
        return places

    def _find_starts(self) -> dict[str, list[int]]:
        """Where the words begin in which something is."""
        starts: dict[str, list[int]] = {word: [] for found in self._words.values() for word, _ in found}
        get = starts.get
        for match in _WORD.finditer(self._text):
            begun = get(match.group())
            if begun is not None:
                begun.append(match.start())
        return starts


def find_places(text: str, word: str, step: int = 0) -> Iterator[int]:
    """Every place of a word, each `step` characters behind the one before at least: its own length if not given."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + (step or len(word)))
