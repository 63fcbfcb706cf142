"""Word stems: "weighed" and "weigh" are one word, as "Rechnungen" and "Rechnung" are in German (snowballstemmer).

English is stemmed by M. F. Porter, "An algorithm for suffix stripping", 1980, which leaves words of other scripts as
they are; other languages by their own algorithms.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import snowballstemmer  # type: ignore[import-untyped]

from capability_kit.text.languages import ALGORITHMS

_ASCII_WORD: Final = re.compile(r"[a-z]{3,}")
_LENGTH_MAX: Final = 64
# A stemmer of the package holds the word that it works on.
_OF_THREAD: Final = threading.local()


def stem(word: str) -> str:
    """The English stem of one word in lower case. Words that are not of a to z, or shorter than three letters, stay."""
    return _stem(word) if len(word) <= _LENGTH_MAX and _ASCII_WORD.fullmatch(word) else word


# Only what can be a word is kept: a message that is one word of 100 KB must not stay in memory.
@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return _stemmer("porter")(word)


def stem_in_language(word: str, language: str) -> str:
    """The stem of one word in lower case, with its accents, by the rules of a language of `languages.ALGORITHMS`."""
    return word if len(word) > _LENGTH_MAX else _stemmer(ALGORITHMS[language])(word)


def _stemmer(algorithm: str) -> Callable[[str], str]:
    made: dict[str, Callable[[str], str]] = _OF_THREAD.__dict__
    if algorithm not in made:
        made[algorithm] = snowballstemmer.stemmer(algorithm).stemWord
    return made[algorithm]
