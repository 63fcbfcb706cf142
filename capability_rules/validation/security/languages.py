"""In which language a sentence is, by its script and its shortest words: enough to know what is not to be judged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Final

from capability_rules.validation.security.rule_loader import load_languages

ENGLISH: Final = "English"
# Scripts that one language, or one group of them, is written in; kana before the characters that Chinese has too.
_SCRIPTS: Final = (
    ("Japanese", re.compile("[\u3040-\u30ff]")),
    ("Chinese", re.compile("[\u3400-\u9fff]")),
    ("Korean", re.compile("[\u1100-\u11ff\uac00-\ud7af]")),
    ("Arabic script", re.compile("[\u0600-\u06ff]")),
    ("Hebrew", re.compile("[\u0590-\u05ff]")),
    ("Hindi", re.compile("[\u0900-\u097f]")),
    ("Thai", re.compile("[\u0e00-\u0e7f]")),
    ("Greek", re.compile("[\u0370-\u03ff]")),
    ("Cyrillic script", re.compile("[\u0400-\u04ff]")),
    ("another script", re.compile("[\u0530-\u058f\u0980-\u0dff\u0e80-\u10ff\u1200-\u18af]")),
)
# Of a sentence in words at least so many are short ones; code has the same letters here and there.
_SHORT_SHARE: Final = 0.15
_LETTER: Final = re.compile(r"[^\W\d_]")


@cache
def _by_word() -> dict[str, tuple[str, ...]]:
    """The languages that each of the short words is of."""
    found: dict[str, tuple[str, ...]] = {}
    for language, words in load_languages().items():
        for word in words:
            found[word] = (*found.get(word, ()), language)
    return found


def find_language(words: Sequence[str]) -> str:
    """The language of the folded words of a sentence; "" where too little of it says so."""
    text = "".join(words)
    letters = len(_LETTER.findall(text)) if not text.isascii() else 0
    for script, pattern in _SCRIPTS if letters else ():
        # A Chinese sentence has half as many characters as its English name has letters.
        if len(pattern.findall(text)) * 3 > letters:
            return script
    counts = Counter(language for word in words for language in _by_word().get(word, ()))
    (best, most), (_, second) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return best if most >= max(2, len(words) * _SHORT_SHARE, second + 1) else ""


def list_languages(sentences: Sequence[Sequence[str]]) -> list[str]:
    """The language of each sentence of a text; of one that does not tell, that of most others, else English."""
    found = [find_language(words) for words in sentences]
    usual = Counter(filter(None, found)).most_common(1)
    return [each or (usual[0][0] if usual else ENGLISH) for each in found]
