"""What a message says no to: "don't log my workout", "not the weight, only the workout" (docs/contract.md 4).

Rules without a model, for requests and wishes alone: "the server does not boot" and "I did not get my refund" deny
nothing. A denial ends with its clause.
"""

from __future__ import annotations

import re
from typing import Final

from capability_kit.text.stop_words import STOP_WORDS
from capability_kit.text.tokenizer import UNSPACED, fold_text, tokenize

Span = tuple[int, int]

# Where a clause begins: at the start, behind a mark, or behind a word that opens a request.
_START: Final = r"(?:^|(?<=[,.;:!?\n\u2014(]))\s*(?:(?:please|pls|and|but|so|ok|okay|well|stop)[\s,]+)*"
# "and" goes on with the same denial where a noun follows: "not the weight and the meals".
_REST: Final = (
    r"(?:(?!\s+(?:but|only|just|instead|then|because|since)\b|\s+and\s+(?!the\b|my\b|an?\b|any\b|our\b|your\b|this\b|that\b))"
    r"[^,.;:!?\n\u2014)])+"
)
# What begins like a denial and is none: "don't forget to log it", "don't skip it", "not only that", "not sure",
# "no, log it", "no disk space left".
_NONE: Final = (
    r"(?!\s*(?:(?:let\s+me\s+)?(?:forget|miss|skip|omit|ignore|stop|fail|neglect|lose|leave\s+out)|only|just|yet|bad|one|doubt"
    r"|wonder|luck|hesitate|worry|know|understand|get\s+(?:it|why|how)|see|think|remember|work|sure|able"
    r"|idea|longer|more\s+(?:space|disk|memory|room)|matter|problem|working|responding|starting|found|enough)\b)"
)
# "No refund is showing", "no space": something is missing, and wanted. Spanish says so with the same word.
_MISSING: Final = (
    r"(?!\s+(?:disk|space|memory|room|money|access|internet|connection|sound|response|option|way|puedo|puede|pude|funciona"
    r"|s\u00e9|se|me|he|ha|hay|encuentro|recib\w+|olvid\w+|te\s+olvid\w+|dej\w+\s+de|s[o\u00f3]lo|\u00fanicamente|entiendo|tengo|veo)\b)"
    r"(?![^,.;:!?\n]*\b(?:is|are|was|were|being|showing|showed|came|arrived|works?|left|available|found)\b)"
)
_PATTERNS: Final = (
    # English: a request in the negative, at the beginning of a clause.
    rf"{_START}(?P<a>(?:do\s+not|don['\u2019]?t|never){_NONE}(?!\s+(?:you|we|they|mind|disturb)\b)\s+{_REST})",
    rf"{_START}(?P<b>(?:not{_NONE}|(?:skip|omit|leave\s+out|ignore|forget(?:\s+about)?)(?!\s+(?:to|nothing)\b))\s+{_REST})",
    rf"{_START}(?P<c>no{_NONE}{_MISSING}\s+{_REST})",
    # A wish in the negative, anywhere.
    (
        r"(?<!not that )\b(?P<d>(?:i|we)(?:\s+(?:really|just|also))?\s+"
        r"(?:do\s+not|don['\u2019]?t|did\s+not|didn['\u2019]?t|would\s+not"
        r"|wouldn['\u2019]?t)"
        rf"(?:\s+(?:really|even))?\s+(?:want|need|wish|mean|care|ask|like|require)\b"
        rf"(?!\s+to\s+(?:forget|miss|skip|lose|not|be\s+without)\b){_REST})"
    ),
    (
        r"\b(?P<e>(?:(?:i|we)(?:['\u2019]m|['\u2019]re|\s+am|\s+are)|this\s+is|that['\u2019]?s|it['\u2019]?s)\s+not\s+"
        rf"(?:asking|talking|looking|interested|about|going\s+to\s+(?:use|need|want))\b{_REST})"
    ),
    rf"\b(?P<f>(?:i|we)\s+(?:will\s+not|won['\u2019]?t)\s+(?:use|need|be\s+using|want)\b{_REST})",
    rf"\b(?P<g>(?:you|there['\u2019]?s|there\s+is)\s+(?:do\s+not|don['\u2019]?t|needn['\u2019]?t|no)\s+(?:have\s+to|need(?:\s+to|\s+for)?)\b{_REST})",
    rf"\b(?P<h>no\s+need\s+(?:to|for)\b{_REST})",
    (
        r"\b(?P<i>(?:(?<!do )(?<!be )(?<!live )(?<!go )without(?!\s+(?:further|fail|delay|doubt|question|exception)\b)"
        rf"|instead\s+of|rather\s+than|other\s+than(?!\s+(?:that|this)\b)|except(?:\s+for)?|but\s+not)\s+{_REST})"
    ),
    # German.
    rf"{_START}(?:bitte\s+)?(?P<j>(?:nicht(?!\s+(?:nur|blo\u00df|vergessen|schlecht)\b)|keine?n?(?!\s+(?:ahnung|sorge|frage|problem|angst)\b)|ohne)\s+{_REST})",
    rf"\b(?P<k>ich\s+(?:will|m\u00f6chte|brauche|wollte)\s+(?:\w+\s+){{0,2}}(?:keine?n?|nicht)\b{_REST})",
    rf"\b(?P<l>(?:statt|anstatt|anstelle|ohne)\s+{_REST})",
    # Spanish and French.
    rf"\b(?P<m>no\s+(?:quiero|necesito|hace\s+falta|queremos|necesitamos)\b{_REST})",
    rf"\b(?P<n>(?:sin|en\s+vez\s+de|en\s+lugar\s+de)\s+{_REST})",
    rf"\b(?P<o>je\s+ne\s+(?:veux|voudrais|souhaite)\s+(?:pas|plus)\b{_REST})",
    rf"{_START}(?P<p>pas\s+(?:de\s+|d['\u2019]|le\s+|la\s+|les\s+|mon\s+|ma\s+|mes\s+){_REST})",
    rf"\b(?P<q>(?:sans|au\s+lieu\s+d[e'\u2019]|plut\u00f4t\s+que)\s*{_REST})",
    # Chinese; Japanese, where the denial stands behind what it denies.
    (
        r"(?:^|(?<=[\uff0c\u3002\uff1b\uff01\uff1f\u3001,\s])|\u8bf7|\u8acb|\u6211)"
        r"(?P<r>(?:\u4e0d\u8981|[\u522b\u5225](?![\u4eba\u7684\u5904\u8655])|\u4e0d\u7528|\u4e0d\u9700\u8981|\u65e0\u9700|\u4e0d\u60f3|\u4e0d\u662f)(?!\u5fd8)"
        r"[^\uff0c\u3002\uff1b\uff01\uff1f\u3001,;\n]+)"
    ),
    (
        r"(?:^|(?<=[\u3002\u3001\uff01\uff1f,\s]))(?P<s>[^\u3002\u3001\uff01\uff1f,\s]+?"
        r"(?:\u3067\u306f\u306a\u304f\u3066?|\u3058\u3083\u306a\u304f\u3066?|\u3057\u306a\u3044\u3067(?:\u304f\u3060\u3055\u3044)?"
        r"|\u306f(?:\u4e0d\u8981|\u3044\u308a\u307e\u305b\u3093|\u3044\u3089\u306a\u3044)))"
    ),
)
_DENIAL: Final = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _PATTERNS)
# A word that some denial has; most messages have none.
_CUE: Final = re.compile(
    r"n['\u2019]?t\b|\b(?:not?|never|skip|omit|leave|ignore|forget|without|instead|rather|other|except|nicht|keine?n?|ohne"
    r"|an?statt|anstelle|statt|sin|en\s+vez|en\s+lugar|ne|pas|sans|au\s+lieu|plut\u00f4t)\b"
    r"|[\u522b\u5225]|\u4e0d\u8981|\u4e0d\u7528|\u4e0d\u9700\u8981|\u65e0\u9700|\u4e0d\u60f3|\u4e0d\u662f"
    r"|\u306a\u304f|\u306a\u3044|\u4e0d\u8981|\u3044\u308a\u307e\u305b\u3093",
    re.IGNORECASE,
)
# Longer messages tell a story.
_LENGTH_MAX: Final = 500
_FILLER_WORDS: Final = "please pls ok okay thanks stop yet now today well bitte danke"
_FILLERS: Final = frozenset(_FILLER_WORDS.split())


def find_denials(message: str) -> list[Span]:
    """Where a message says no to something: places of code points, in their order, none within another."""
    if len(message) > _LENGTH_MAX or _CUE.search(message) is None:
        return []
    found = sorted(match.span(match.lastgroup or 0) for pattern in _DENIAL for match in pattern.finditer(message))
    kept: list[Span] = []
    for start, end in found:
        if kept and start < kept[-1][1]:
            kept[-1] = (kept[-1][0], max(kept[-1][1], end))
        else:
            kept.append((start, end))
    return kept


def blank_denials(message: str) -> str:
    """The message with spaces in the place of what it says no to, so that all else keeps its place."""
    for start, end in find_denials(message):
        message = message[:start] + " " * (end - start) + message[end:]
    return message


def asks_for_something(message: str) -> bool:
    """Whether a message has a word that is neither a stop word nor one such as "please"."""
    if UNSPACED.search(message):
        return True
    words = {fold_text(message[word.start : word.end]) for word in tokenize(message)}
    return bool(words - STOP_WORDS - _FILLERS)
