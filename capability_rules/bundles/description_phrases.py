"""The phrases that a description names: what it quotes, its sentences and what they list.

Authors of Agent Skills write no triggers and no example messages; what a user would say is quoted in the description,
or listed in it. What the description says the skill is *not* for is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from capability_kit.text.stop_words import STOP_WORDS
from capability_kit.text.tokenizer import UNSPACED, fold_and_stem, fold_text, tokenize

# More of them find no more messages, and take others' (docs/matching.md).
PHRASES_MAX: Final = 8
_WORDS_MAX: Final = 12
# Sentences that are longer are lists, or have clauses that stand alone.
_WHOLE_WORDS_MAX: Final = 8
_UNSPACED_LEAST: Final = 3
# An apostrophe begins no quotation: one stands before and after a space or a mark.
_QUOTED: Final = re.compile(
    '["\u201c\u201e\u00ab\u300c\u300e](.{2,80}?)["\u201d\u201c\u00bb\u300d\u300f]'
    "|(?<![\\w'\u2019])['\u2018](.{3,80}?)[,.]?['\u2019](?!\\w)"
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+|[\u3002\uff1b\uff01\uff1f;]")
_LIST_JOINT: Final = re.compile(r",\s*(?:and\s+|or\s+)?|\s+[\u2013\u2014]\s+|\s*[()]\s*|:\s|[\u3001\uff0c]")
# What people ask for, in brackets or after the words that begin a list of examples.
_LIST: Final = re.compile(
    r"\b(?:requests?|repairs?|questions?|problems?|complaints?|topics?|wishes)\s+"
    r"(?:\(([^()]{3,200})\)|(?:such as|including|like|e\.g\.),?\s+([^().;:!?\n]{3,200}))",
    re.IGNORECASE,
)
_LIST_LEAD: Final = re.compile(r"^(?:e\.g\.|i\.e\.|such as|including|like)[\s,]+", re.IGNORECASE)
_LIST_ENTRIES: Final = re.compile(r",\s*|\s+(?:and|or)\s+|[\u3001\uff0c]")
_LISTED_WORDS_MAX: Final = 3
# How descriptions begin to say when a skill is for; what follows is what a user wants.
_LEAD: Final = re.compile(
    r"^(?:(?:or|and|also|please|this|the|you\s+should|always|proactively|only|skill|should\s+be)\s+)*"
    r"(?:(?:used?|using|activated?|triggers?|triggered|invoked?|apply|helps?|provides?)\b\s*)?"
    r"(?:(?:this\s+skill|it|this|proactively)\s+)*(?:(?:for|when(?:ever)?|if|on|to|with|in)\s+)?"
    r"(?:(?:requests?\s+like|(?:the\s+)?users?\s+(?:asks?|wants?|needs?|mentions?|says?|requests?|invokes?)"
    r"|they\s+(?:say|mention)|you\s+(?:need|want|are)|asked|wants(?=\s+to)|developers?\s+(?:need|want))\s*)?"
    r"(?:(?:to|for|about|like)\s+)?[\s:]*",
    re.IGNORECASE,
)
_EXCLUSION: Final = re.compile(
    r"\b(?:not\s+(?:for|when|use|to)|do\s+not|don['\u2019]t|distinct\s+from|instead\s+of|rather\s+than|never|unlike"
    r"|for\s+\S+,\s+see)\b.*",
    re.IGNORECASE | re.DOTALL,
)
# What every description of a skill says.
_EMPTY_WORDS: Final = """
    skill skills asks asking mention mentions request requests task tasks tool tools etc workflow workflows support
    supports
"""
_EMPTY: Final = frozenset(_EMPTY_WORDS.split())
_VERBS: Final = """
    add adjust allow analyze answer apply ask automate back begin bring build call change check choose clean collect
    compare complete configure connect convert copy cover create decide define delete deliver deploy describe design
    detect develop discuss display do download draft edit enable ensure evaluate execute expand explain explore extract
    fetch fill find fix follow format generate get give go guide handle help identify implement import improve include
    inspect install integrate keep launch learn leave list load look maintain make manage measure move need offer open
    optimize organize pay perform plan prepare process produce provide publish query read receive recommend record
    refine remove render replace report return review revise rewrite run save scan search select send set share show
    simplify solve start stop store submit suggest summarize support take tell test think track train transform
    translate try turn understand update upgrade upload use validate verify view visualize walk want watch work write
"""
VERBS: Final = tuple(_VERBS.split())
VERB_STEMS: Final = frozenset(map(fold_and_stem, VERBS))
_EDGES: Final = " \t,.;:!?-*\u2014\u3002"


def find_phrases(description: str, *, most: int = PHRASES_MAX) -> tuple[str, ...]:
    """What a description names, first what it quotes, each once; none that says as much as the whole."""
    named = (*find_quotations(description), *_find_clauses(_QUOTED.sub(";", description)))
    whole = fold_text(description.strip(_EDGES))
    distinct = {fold_text(phrase): phrase for phrase in reversed(named) if fold_text(phrase) != whole}
    return tuple(reversed(distinct.values()))[:most]


def find_quotations(description: str) -> tuple[str, ...]:
    """What a description quotes, such as what users say, in its order; not what stands behind "not for"."""
    spoken = _without_exclusions(description)
    found = ((match[1] or match[2]).strip(_EDGES) for match in _QUOTED.finditer(spoken))
    return tuple(dict.fromkeys(phrase for phrase in found if says_something(phrase)))


def find_sentences(description: str) -> list[str]:
    """Its sentences, without what they quote and what they say it is not for."""
    return [
        found
        for one in _SENTENCE_END.split(_QUOTED.sub(";", _without_exclusions(description)))
        if (found := one.strip(_EDGES))
    ]


def find_listed_requests(description: str) -> tuple[str, ...]:
    """The entries of lists of two or more, in brackets or after "such as", of what people ask for, such as "requests
    (towels, minibar)": of at most three words, in lower case."""
    found: list[str] = []
    for match in _LIST.finditer(_without_exclusions(description)):
        listed = _LIST_LEAD.sub("", (match[1] or match[2]).strip(_EDGES))
        entries = [part.strip(_EDGES) for part in _LIST_ENTRIES.split(listed)]
        if len(entries) > 1:
            found += [one.lower() for one in entries if 0 < len(one.split()) <= _LISTED_WORDS_MAX and one[0].isalpha()]
    return tuple(dict.fromkeys(found))


def says_something(phrase: str) -> bool:
    """Whether a phrase has two words that are not stop words, or as much in a script without spaces."""
    if len(UNSPACED.findall(phrase)) >= _UNSPACED_LEAST:
        return True
    words = {fold_text(phrase[word.start : word.end]) for word in tokenize(phrase, most=2 * _WORDS_MAX)}
    return len(words - STOP_WORDS - _EMPTY) >= 2


def names_something(phrase: str) -> bool:
    """Whether a phrase has a word that is neither a stop word nor a verb that says little, such as make."""
    if UNSPACED.search(phrase):
        return says_something(phrase)
    words = [word for word in tokenize(phrase) if fold_text(phrase[word.start : word.end]) not in STOP_WORDS | _EMPTY]
    return any(word.stem not in VERB_STEMS for word in words)


def _without_exclusions(description: str) -> str:
    """Quotations and all, sentence by sentence."""
    return "\n".join(_EXCLUSION.sub("", sentence) for sentence in _SENTENCE_END.split(description))


def _find_clauses(text: str) -> Iterator[str]:
    """Sentences without their lead, and of the longer ones the parts that marks set off."""
    for sentence in _SENTENCE_END.split(text):
        said = _LEAD.sub("", _EXCLUSION.sub("", sentence).strip(_EDGES), count=1).strip(_EDGES)
        if says_something(said):
            yield said
        if len(said.split()) > _WHOLE_WORDS_MAX or UNSPACED.search(said):
            parts = (part.strip(_EDGES) for part in _LIST_JOINT.split(said))
            yield from (part for part in parts if len(part.split()) <= _WORDS_MAX and says_something(part))
