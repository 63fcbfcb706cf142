"""Triggers that a name and a description offer: whole things that people say, or none (docs/matching.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from capability_kit.text.stop_words import STOP_WORDS
from capability_kit.text.tokenizer import fold_and_stem, fold_text, tokenize
from capability_rules.bundles.description_phrases import (
    VERB_STEMS,
    VERBS,
    find_listed_requests,
    find_quotations,
    find_sentences,
    names_something,
)

_WORDS_MAX: Final = 5
_NAME_WORDS_MAX: Final = 3
_LENGTH_MAX: Final = 80
_ASKED: Final = re.compile(
    r"\b(?:asks?|asked|asking|calls?)\s+(?:for|about)\s+|\b(?:mentions?|requests?|reports?)\s+(?=an?\b)", re.IGNORECASE
)
# How descriptions begin to say what a user does.
_WISH: Final = re.compile(
    r"\b(?:users?|customers?|guests?|people|somebody|someone|they|you|developers?)\s+(?:wants?|needs?|asks?|would like)"
    r"(?:\s+(?:you|it))?\s+to\s+|\b(?:used?|using)\s+(?:this\s+skill\s+)?(?:when(?:ever)?|for|to)\s+|\bwhen\s+",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r"\s*[,:;()\u2013\u2014]\s*(?:and\s+|or\s+)?|\s+(?:or|and)\s+(?=[\w-]+)", re.IGNORECASE)
# The object ends where how, where or for whom it is done begins.
_END: Final = re.compile(
    r"\s+(?:via|using|with|without|on|onto|in|into|from|for|to|through|by|at|across|against|between|based|following"
    r"|that|which|who|where|when|while|so|as|if|is|are|was|be|including|such|like|after|before|during|under)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLE: Final = re.compile(r"^(?:an?|the|my|some)\s+", re.IGNORECASE)
_PLAIN: Final = re.compile(r"(?:[^\W_]|['\u2019 -])+")
# What descriptions do, not what people ask for.
_ABOUT_WORDS: Final = """
    allow ask enable ensure follow give guide handle help include need offer provide support take use want work
"""
_ABOUT: Final = frozenset(_ABOUT_WORDS.split())
_VAGUE: Final = frozenset(("data", "questions", "information", "files", "results", "details", "issues", "alternatives"))
_BASES: Final = {fold_and_stem(verb): verb for verb in VERBS if verb not in _ABOUT}


def list_trigger_candidates(*, name: str, description: str, given: Sequence[str] = ()) -> list[str]:
    """The name, what the description quotes in a few words, what it says users ask for, and what it says is done: each
    once, none in `given`, those that another capability has too."""
    found = [*_names(name, description), *_quoted(description), *_requests(description), *_deeds(description)]
    stems = [_stems(phrase) for phrase in given]
    kept: list[str] = []
    for phrase in found:
        own = _stems(phrase)
        if own and own not in stems and len(phrase) <= _LENGTH_MAX and names_something(phrase):
            stems.append(own)
            kept.append(phrase)
    return kept


def _stems(phrase: str) -> tuple[str, ...]:
    return tuple(word.stem for word in tokenize(phrase))


def _names(name: str, description: str) -> Iterator[str]:
    """A name of a few words. That of an Agent Skill is a slug: only where the description says it too."""
    words = name.split()
    is_slug = len(words) == 1
    words = re.split(r"[-_]+", name) if is_slug else words
    phrase = " ".join(words).lower()
    if len(words) > _NAME_WORDS_MAX or not phrase:
        return
    if not is_slug or f" {' '.join(_stems(phrase))} " in f" {' '.join(_stems(description))} ":
        yield phrase


def _quoted(description: str) -> Iterator[str]:
    for phrase in find_quotations(description):
        if len(phrase.split()) <= _WORDS_MAX and _PLAIN.fullmatch(phrase):
            yield phrase.lower()


def _requests(description: str) -> Iterator[str]:
    """What stands after "asks for", and the entries of a list of requests."""
    for sentence in find_sentences(description):
        match = _ASKED.search(sentence)
        if match:
            for part in _JOINT.split(sentence[match.end() :]):
                phrase = _ARTICLE.sub("", _END.sub("", part)).lower()
                if 2 <= len(phrase.split()) <= _WORDS_MAX and _is_whole(phrase) and not _verb_of(phrase.split()[0]):
                    yield phrase
    yield from find_listed_requests(description)


def _deeds(description: str) -> Iterator[str]:
    """A verb with its whole object, as a user would ask for it: "set nutrition goals"."""
    for sentence in find_sentences(description):
        for part in _clauses(sentence):
            first, _, rest = part.partition(" ")
            verb, thing = _verb_of(first), _END.sub("", rest).strip()
            words = thing.split()
            is_thing = 1 <= len(words) < _WORDS_MAX and fold_text(thing) not in _VAGUE and _is_whole(thing)
            if verb and is_thing and fold_and_stem(words[0]) not in VERB_STEMS:
                yield f"{verb} {thing}".lower()


def _clauses(sentence: str) -> Iterator[str]:
    """The parts of a sentence that begin with a verb; an "and" between two objects is within one."""
    wish = list(_WISH.finditer(sentence))
    parts = _JOINT.split(sentence[wish[-1].end() :] if wish else sentence)
    firsts = [part.partition(" ")[0] for part in parts]
    for at, part in enumerate(parts):
        # The object may go on behind the joint: half of it is not what people say.
        is_last = at + 1 == len(parts) or firsts[at + 1].endswith("ing") or bool(_verb_of(firsts[at + 1]))
        if _verb_of(firsts[at]) and (is_last or _END.search(part)):
            yield part.strip()


def _verb_of(word: str) -> str:
    """The base of a verb, such as `book` for "booking"; empty for another word."""
    found = _BASES.get(fold_and_stem(word), "") if word.isalpha() else ""
    return found if fold_text(word) == found or re.search(r"(?:ing|s)\Z", word) else ""


def _is_whole(phrase: str) -> bool:
    """Whether it is words alone that neither end nor begin in the middle of something."""
    words = fold_text(_ARTICLE.sub("", phrase)).split()
    edges = {words[0], words[-1]} if words else STOP_WORDS
    return bool(_PLAIN.fullmatch(phrase)) and not edges & STOP_WORDS and words[-1].isalpha() and "not" not in words
