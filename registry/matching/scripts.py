"""Which scripts a text is written in, and letters that say that its language is none that the models read."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

# Of the multilingual model; Chinese counts twice, in its two scripts.
LANGUAGES: Final = (
    "Arabic", "Chinese", "Traditional Chinese", "Dutch", "English", "French", "German", "Italian", "Japanese", "Korean",
    "Polish", "Portuguese", "Russian", "Spanish", "Thai", "Turkish",
)  # fmt: skip
SCRIPTS_OF_MINILM: Final = frozenset({"LATIN"})
SCRIPTS_OF_SIXTEEN: Final = frozenset(
    {"LATIN", "ARABIC", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC", "HANGUL", "CYRILLIC", "THAI"}
)
# Letters of languages beside the sixteen: Scandinavian, Czech, Slovak, Hungarian, Romanian, Baltic, Croatian,
# Vietnamese; Ukrainian, Belarusian, Serbian and Macedonian; Persian and Urdu. One, as in the name Bjørn, says nothing.
_OTHER_LETTERS: Final = re.compile(
    "[\u00e5\u00f8\u00f0\u00fe\u0159\u011b\u016f\u010f\u0165\u0148\u013e\u013a\u0155\u0151\u0171\u0103\u0219\u021b"
    "\u0101\u0113\u012b\u016b\u0123\u0137\u013c\u0146\u0117\u012f\u0173\u010d\u0161\u017e\u0111\u01a1\u01b0"
    "\u1ea0-\u1ef9\u0456\u0457\u0454\u0491\u045e\u0458\u0459\u045a\u045b\u0452\u045f\u045c\u0453"
    "\u06af\u067e\u0686\u06cc\u06a9\u0679\u0688\u06d2]",
    re.IGNORECASE,
)
_OTHER_FROM: Final = 2
_LETTERS_MAX: Final = 400


def list_scripts(text: str) -> frozenset[str]:
    """The scripts of the letters of a text (of its beginning), by the first word of Unicode's names: LATIN, CJK."""
    return frozenset(filter(None, (_script(letter) for letter in set(text[:_LETTERS_MAX]))))


@lru_cache(maxsize=20_000)
def _script(character: str) -> str:
    if not character.isalpha():
        return ""
    # Those of other widths and of formulas are read as the plain ones.
    plain = unicodedata.normalize("NFKC", character)[:1]
    return unicodedata.name(plain, "UNKNOWN").split(" ", 1)[0]


def is_of_sixteen(text: str) -> bool:
    """Whether a text may be of one of the languages that the multilingual model reads."""
    if not list_scripts(text) <= SCRIPTS_OF_SIXTEEN:
        return False
    return len(_OTHER_LETTERS.findall(text[:_LETTERS_MAX])) < _OTHER_FROM
