"""Whether a text in Latin letters is English: what it is made of decides which sentence model is asked."""

from __future__ import annotations

import re
from typing import Final

from capability_kit.text.stop_words import STOP_WORDS
from registry.matching.wordpiece import tokenize

_MORE_ENGLISH: Final = """
    you he she we us am me is it's isn't don't what's the at does did why because than there
"""
# Words of both, such as German "was" and Spanish "no", tell nothing.
_OF_BOTH: Final = frozenset(["a", "am", "an", "as", "do", "he", "in", "me", "no", "on", "over", "so", "was", "will"])
_ENGLISH: Final = (STOP_WORDS | frozenset(_MORE_ENGLISH.split())) - _OF_BOTH
# Of German, Spanish, French, Italian, Portuguese, Dutch, Polish and Turkish, without those that English has too.
_OTHER_WORDS: Final = """
    meinem meiner deinem deiner einem unser unsere diese dieser dieses der das den dem ein eine einen einer ist
    sind und oder nicht ich du er sie wir ihr mein meine meinen dein wie wer wo wann warum mit für auf von zu
    zum zur im am bei nach aus wenn kann können möchte bitte es mir mich hat habe haben wird el la los las un
    una unos del al y yo tú mi mis tu su son era qué cómo cuál cuándo dónde por para con en se lo le he ha
    quiero puedo hay está este esta les des au aux et ou ne pas je il elle nous vous mon ma mes ton ce cette ces
    est sont quel quelle comment quand où pourquoi avec sur dans qui que combien puis peux peut d l j qu gli uno
    di da non io mio mia che come quando dove perché su per sono è questo questa posso vorrei os as um uma dos
    das em na não eu meu minha seu qual como onde com posso het een van niet ik mijn wat hoe waar waarom met
    voor op zijn dit dat kan wil w z na nie jest jak co kiedy gdzie mój moja się czy ja za bir bu ve için benim
    var olan ile
"""
_OTHER: Final = frozenset(_OTHER_WORDS.split()) - _ENGLISH - _OF_BOTH
# Fitted to Django's interface text in eight languages and its English original (docs/matching.md).
_OF_PIECES, _OF_ACCENTS, _OF_OTHER_WORDS, _OF_ENGLISH_WORDS = 0.45, 0.43, 0.8, -2.2
# Names of products are in many pieces too; alone those tell only where nearly each word is.
_PIECES_ALONE_FROM: Final = 0.9
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_CHARACTERS_MAX: Final = 300


def is_english(text: str) -> bool:
    """Whether nothing tells that a text is of another language: its small words, letters with accents, and how many
    pieces an English vocabulary needs for its words."""
    text = text[:_CHARACTERS_MAX].lower()
    words = _WORD.findall(text)
    letters = [character for character in text if character.isalpha()]
    if not words:
        return True
    parts = [part for word in words for part in re.split("['\u2019]", word)]
    pieces = (len(tokenize(text)) - 2) / max(1, len(_TOKEN.findall(text))) - 1
    accents = 5 * sum(not character.isascii() for character in letters) / len(letters)
    others = sum(part in _OTHER for part in parts) / len(parts)
    if not accents and not others and pieces < _PIECES_ALONE_FROM:
        return True
    evidence = (
        _OF_PIECES * min(2.0, pieces)
        + _OF_ACCENTS * min(1.0, accents)
        + _OF_OTHER_WORDS * others
        + _OF_ENGLISH_WORDS * sum(word in _ENGLISH for word in words) / len(words)
    )
    return evidence <= 0
