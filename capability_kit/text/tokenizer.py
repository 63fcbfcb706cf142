"""A message as words with their places: the ground of trigger matching and of every word count."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from capability_kit.text.stemmer import stem, stem_in_language

# A mark that combines with the letter before it belongs to the word; Python's \w leaves most of them out.
_MARKS: Final = "".join(chr(code) for code in range(0x300, 0x3100) if unicodedata.category(chr(code))[0] == "M")
# Written without spaces between words: Han, kana (of half width too), Thai, Lao, Myanmar, Khmer.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003134f"
)
UNSPACED: Final = re.compile(f"[{_UNSPACED}]")
# A Latin word within Chinese text is a word of its own: no space tells where it ends.
_LETTERS: Final = rf"[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[{_MARKS}])*"
# Names of programming languages that are not their letter alone: C#, F#, C++, Notepad++.
_SIGNED: Final = r"(?<![^\W_])[A-Za-z]#(?![\w#])|(?<![^\W_])[A-Za-z][A-Za-z0-9]*\+\+(?![A-Za-z_+])"
_WORD: Final = re.compile(rf"{_SIGNED}|{_LETTERS}(?:['\u2019]{_LETTERS})*|[{_UNSPACED}{_MARKS}]+")
# U+00AD, a soft hyphen, stands inside a word without being seen.
_HYPHENS: Final = frozenset("-\u2010\u2011\u2012\u2013\u00ad")
# Longer ones are distinguished by their beginning: a run of Chinese, or a message that is one word of 100 KB.
_LENGTH_MAX: Final = 1000
# These are kept in memory in their folded form. Longer ones nobody says twice: kept, they would fill it.
_LENGTH_KEPT: Final = 64


class Word(NamedTuple):
    """One word of a text: its stem, its place in code points, and whether a hyphen alone stands before the next."""

    stem: str
    start: int
    end: int
    is_hyphened: bool


def tokenize(text: str, *, most: int | None = None, language: str = "") -> list[Word]:
    """The words of a text in order, the first `most` of them, stemmed by the rules of English or of `language`."""
    places = [match.span() for match in islice(_WORD.finditer(text), None if most is None else most + 1)]
    following = [start for start, _ in places[1:]] + [-1]
    return [
        Word(fold_and_stem(text[start:end], language), start, end, after == end + 1 and text[end] in _HYPHENS)
        for (start, end), after in zip(places[:most], following, strict=False)
    ]


def stems(text: str, *, most: int | None = None) -> list[str]:
    """The stems of the words of a text in order, the first `most` of them: as `tokenize`, without the places."""
    return stem_words(split_words(text, most=most))


def split_words(text: str, *, most: int | None = None) -> list[str]:
    """The words of a text in order as they stand in it, the first `most` of them."""
    return _WORD.findall(text)[:most]


def stem_words(words: Iterable[str]) -> list[str]:
    """`fold_and_stem` of each, by the rules of English."""
    return [_kept_stem(word) if len(word) <= _LENGTH_KEPT else fold_and_stem(word) for word in words]


def count_stems(text: str) -> Counter[str]:
    """How often each stem of `stems` occurs, in the order in which they first do."""
    counts: Counter[str] = Counter()
    for word, count in Counter(_WORD.findall(text)).items():
        counts[fold_and_stem(word)] += count
    return counts


def fold_and_stem(word: str, language: str = "") -> str:
    """The stem without case, width or accent, and without a possessive 's; by the rules of English or of `language`."""
    if language:
        return _kept_language_stem(word, language) if len(word) <= _LENGTH_KEPT else fold_text(word)
    return _kept_stem(word) if len(word) <= _LENGTH_KEPT else stem(fold_text(word))


@lru_cache(maxsize=50_000)
def _kept_stem(word: str) -> str:
    return stem(fold_text(word))


@lru_cache(maxsize=100_000)
def _kept_language_stem(word: str, language: str) -> str:
    """Accents are part of an ending, so they are folded after it is gone."""
    return fold_text(stem_in_language(unicodedata.normalize("NFKC", word).casefold(), language))


def has_words(text: str) -> bool:
    """Whether there is anything in a text that can be matched: not in "👋", not in "?!"."""
    return _WORD.search(text) is not None


def fold_text(word: str) -> str:
    """One word without case, width, accent (of Latin, Greek and Cyrillic) and apostrophe."""
    return _kept_folded(word) if len(word) <= _LENGTH_KEPT else _folded(word[:_LENGTH_MAX])


@lru_cache(maxsize=50_000)
def _kept_folded(word: str) -> str:
    return _folded(word)


def fold_accents(text: str) -> str:
    """A text of any length without case, width and accent (of Latin, Greek and Cyrillic); all else stays."""
    if text.isascii():
        return text.casefold()
    text = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(letter for letter in text if not "\u0300" <= letter <= "\u036f"))


def _folded(word: str) -> str:
    return fold_accents(word).replace("\u2019", "'").removesuffix("'s").replace("'", "")
