"""Word stems: "weighed" and "weigh" are one word. M. F. Porter, "An algorithm for suffix stripping", 1980.

Implemented here because the client has only three dependencies; a test compares it with a published stemmer over tens
of thousands of words. Words of other scripts are their own stems.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_STEP_2: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3: Final = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4: Final = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip
_ASCII_WORD: Final = re.compile(r"[a-z]{3,}")
# The word as consonants and vowels, runs folded to one letter each.
_RUN: Final = re.compile(r"c+|v+")
_LENGTH_MAX: Final = 64


def stem(word: str) -> str:
    """The stem of one word in lower case. Words that are not of a to z, or shorter than three letters, stay."""
    return _stem(word) if len(word) <= _LENGTH_MAX and _ASCII_WORD.fullmatch(word) else word


# Only what can be a word is kept: a message that is one word of 100 KB must not stay in memory.
@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    word = _past_and_progressive(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    return _final_e(_without_ending(word))


def _shape(stem: str) -> str:
    """`c` and `v` for each letter; y is a vowel after a consonant."""
    shape = ""
    for letter in stem:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """How often a vowel run is followed by a consonant run."""
    runs = "".join(run[0] for run in _RUN.findall(_shape(stem)))
    return runs.count("vc")


def _has_vowel(stem: str) -> bool:
    return "v" in _shape(stem)


def _ends_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant, the last none of w, x, y: hop, but not snow."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_progressive(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        base = word.removesuffix(ending)
        if base != word:
            return _restore_ending(base) if _has_vowel(base) else word
    return word


def _restore_ending(base: str) -> str:
    """What is left of hoping, hopping and conflated is hope, hop and conflate."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _ends_double(base) and base[-1] not in "lsz":
        return base[:-1]
    if _measure(base) == 1 and _ends_short(base):
        return base + "e"
    return base


def _replaced(word: str, endings: dict[str, str]) -> str:
    """The longest ending that fits is replaced where something is left to stand on."""
    for ending in sorted(endings, key=len, reverse=True):
        base = word.removesuffix(ending)
        if base != word:
            return base + endings[ending] if _measure(base) > 0 else word
    return word


def _without_ending(word: str) -> str:
    for ending in sorted(_STEP_4, key=len, reverse=True):
        base = word.removesuffix(ending)
        if base == word:
            continue
        fits = _measure(base) > 1 and (ending != "ion" or base.endswith(("s", "t")))
        return base if fits else word
    return word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if _measure(base) > 1 or (_measure(base) == 1 and not _ends_short(base)):
            word = base
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word
