"""Languages by their BCP 47 tags: by whose rules words are stemmed, and in which language a text seems to be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

# The algorithm of snowballstemmer by the first part of a tag. English is stemmed everywhere (stemmer.py).
ALGORITHMS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
# Of these the words are found as they are written.
_NOT_STEMMED: Final = frozenset(
    ["bg", "en", "he", "hr", "ja", "km", "ko", "lo", "lv", "mk", "my", "sk", "sl", "th", "uk", "vi", "zh"]
)
# Letters of a script by the language that it is taken for, and those that say that it is another one: Ukrainian,
# Belarusian, Serbian and Macedonian; Urdu; Persian.
_SCRIPTS: Final = (
    (
        "ru",
        "\u0400-\u04ff",
        (("", "[\u0456\u0457\u0454\u0491\u045e\u0458\u0459\u045a\u045b\u0452\u045f\u045c\u0453]"),),
    ),
    ("ar", "\u0600-\u06ff", (("", "[\u0679\u0688\u06d2]"), ("fa", "[\u06af\u067e\u0686\u06cc\u06a9]"))),
    ("el", "\u0370-\u03ff", ()),
    ("hy", "\u0530-\u058f", ()),
    ("ta", "\u0b80-\u0bff", ()),
)
# Small words that are not English; a word of two of these languages counts for both.
_SMALL_WORDS: Final = {
    "de": (
        "und oder der das den dem ist sind ich wir nicht mit für auf ein eine einen einem einer zu zur zum "
        "bei von bitte mein meine wie kann möchte"
    ),
    "es": (
        "el los las y con para del una por qué cómo mi mis quiero puedo está este esta sus al cuando de la un "
        "se o"
    ),
    "fr": (
        "le les et des du une pour avec sur dans mon ma mes est sont quel quelle comment je nous vous ce "
        "cette aux où veux un la de se"
    ),
    "it": (
        "il gli e di della delle dei per con uno sono mio mia che come quando perché questo questa vorrei nel "
        "nella la un o si"
    ),
    "pt": (
        "os uma dos das em na não meu minha seu com como quando você isto são pelo pela quero ao para de o e "
        "ou se"
    ),
    "nl": "het een van niet ik mijn met voor op zijn dit dat hoe waar en aan naar wil bij de",
    "pl": "w z na nie jest jak co kiedy gdzie mój moja się czy do oraz dla przez chcę",
    "tr": "bir bu ve için benim var ile nas\u0131l ne mi istiyorum olarak veya de",
    "sv": "och att det är inte jag som på för med till ett hur kan vill",
}  # fmt: skip
_WORDS: Final = {
    word: tuple(language for language, words in _SMALL_WORDS.items() if word in words.split())
    for words in _SMALL_WORDS.values()
    for word in words.split()
}
_ENGLISH_WORDS: Final = (
    "the and or of to for with is are be from when this that it your you use by an on i my do how what where can have"
)
_ENGLISH: Final = frozenset(_ENGLISH_WORDS.split())
_WORD: Final = re.compile(r"[^\W\d_]+")
_CHARACTERS_MAX: Final = 1000
_WORDS_LEAST: Final = 2


def primary_language(tag: str) -> str:
    """The language of a tag without script and region: `zh` of `zh-Hans`."""
    return tag.partition("-")[0].lower()


def is_known_language(tag: str) -> bool:
    """Whether anything here goes by the language: not `go`, which is one for programs."""
    return primary_language(tag) in ALGORITHMS or primary_language(tag) in _NOT_STEMMED


def get_stemmed_language(tag: str, texts: Iterable[str] = ()) -> str:
    """By whose rules words are stemmed beside those of English: the declared language's, or without a tag that of the
    texts; empty where those are English, unclear or of a language that is not stemmed."""
    language = primary_language(tag) if tag else detect_language(" ".join(texts))
    return language if language in ALGORITHMS else ""


def detect_language(text: str) -> str:
    """The language of a text by its letters and small words; empty where that is English or not clear."""
    text = text[:_CHARACTERS_MAX].lower()
    if not text.isascii():
        letters = sum(map(str.isalpha, text))
        for language, script, others in _SCRIPTS:
            if 2 * len(re.findall(f"[{script}]", text)) > letters:
                return next((other for other, signs in others if re.search(signs, text)), language)
    counts = dict.fromkeys(_SMALL_WORDS, 0)
    english = 0
    for word in _WORD.findall(text):
        english += word in _ENGLISH
        for language in _WORDS.get(word, ()):
            counts[language] += 1
    first, second = sorted(counts, key=lambda language: -counts[language])[:2]
    return first if counts[first] >= max(_WORDS_LEAST, counts[second] + 1, english + 1) else ""
