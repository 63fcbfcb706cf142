"""Messages that go on with what was said: "again", "the same for yesterday", "make it shorter"."""

from __future__ import annotations

import re
from typing import Final

from capability_kit.text.stop_words import STOP_WORDS
from capability_kit.text.tokenizer import UNSPACED, fold_text, tokenize

_WORDS_MAX: Final = 8
# What refers to something said before.
_REFERENCES: Final = """
    again another better bigger continue fewer it less longer louder more next previous redo repeat retry same
    shorter simpler slower smaller faster that these this those them undo yesterday
    nochmal nochmals wieder dasselbe gleiche gleichen kurzer langer weiter mehr weniger gestern es das
    otra mismo misma repite repitelo continua menos ayer corto larga largo lo
    encore meme repete continue plus moins hier court courte long longue
"""
# What may stand beside it without naming anything else.
_NEUTRAL: Final = """
    change go going good great kindly last little lot make much now ok okay one only please pls point quick retry right
    short second sentence sentences sir still thanks third time times today tomorrow tonight try twice two week weeks
    month months morning evening day days year monday tuesday wednesday thursday friday saturday sunday yes undo bit
    formal casual
    bitte mach mache machen noch einmal mal und fur von heute morgen den die der ein eine etwas zu kurz lang ja nein
    vez hazlo mas por favor para hoy manana una un y el la de si que corta
    la le les fois chose pour s'il te vous plait aujourd'hui demain fais une un et de oui
"""
_REFERENCE: Final = frozenset(_REFERENCES.split())
_ALLOWED: Final = _REFERENCE | frozenset(_NEUTRAL.split()) | STOP_WORDS
# Chinese and Japanese, phrase by phrase.
_UNSPACED: Final = re.compile(
    "(?:\u518d\u6765\u4e00\u6b21|\u518d\u4e00\u6b21|\u518d\u505a\u4e00\u6b21|\u91cd\u65b0|\u91cd\u6765|\u7ee7\u7eed|\u4e00\u6837|\u540c\u6837"
    "|\u6628\u5929|\u4eca\u5929|\u660e\u5929|\u77ed\u4e00\u70b9|\u957f\u4e00\u70b9|\u7b80\u77ed\u70b9|\u66f4\u77ed|\u66f4\u957f|\u7684|\u4e5f|\u8bf7|\u5427|\u5462"
    "|\u3082\u3046\u4e00\u5ea6|\u3082\u3046\u3044\u3061\u3069|\u540c\u3058|\u6628\u65e5|\u4eca\u65e5|\u660e\u65e5|\u3082\u3063\u3068|\u77ed\u304f|\u9577\u304f"
    "|\u7d9a\u3051\u3066|\u306b\u3064\u3044\u3066|\u306e|\u3082|\u3092|\u306b|\u3057\u3066|\u304f\u3060\u3055\u3044|\u304a\u9858\u3044|\u3067|[\\s\u3001\u3002\uff0c\uff1f\uff01!?.,])+"
)


def is_follow_up(message: str) -> bool:
    """Whether a message names nothing itself, so that it is about what the conversation is about already."""
    if UNSPACED.search(message):
        return _UNSPACED.fullmatch(message) is not None
    found = tokenize(message, most=_WORDS_MAX + 1)
    words = {fold_text(message[word.start : word.end]) for word in found}
    return len(found) <= _WORDS_MAX and bool(words & _REFERENCE) and words <= _ALLOWED
