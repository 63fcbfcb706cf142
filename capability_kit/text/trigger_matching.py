"""Which intent triggers occur in a message, and where (docs/contract.md 4).

A trigger is found as its words in order, each by its stem, joined or not at hyphens: `sign-up` finds "signed up",
"sign-up" and "signup". Stems are those of English, and of the language of the trigger where it has one: `Rechnung
prüfen` finds "die Rechnungen prüfen", typed without accents too. Where the other parts of a hyphenated trigger are
function words, its content word alone is found as well, but weakly: `weigh-in` finds "weighed". In scripts without
spaces a trigger is found as a substring, in any width and composition; so is one of pictures alone, such as an emoji.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from capability_kit.text.tokenizer import (
    UNSPACED,
    Word,
    fold_accents,
    fold_and_stem,
    fold_text,
    has_words,
    tokenize,
)

FUNCTION_WORDS: Final = frozenset({"in", "out", "up", "off", "on", "down"})
# A message of nothing but triggers must not make an answer of megabytes.
HITS_MAX: Final = 1000
# By the rules of how many languages, beside English, a message is stemmed.
LANGUAGES_MAX: Final = 6
# A character with the marks behind it that make one with it: of kana (in half width too), and how an emoji is drawn.
_PRESENTATION: Final = "\ufe0e\ufe0f"
_CLUSTER: Final = re.compile(rf".[\u3099\u309a\uff9e\uff9f{_PRESENTATION}]*", re.DOTALL)
# In a trie's node: who is found where a trigger ends here.
_FOUND: Final = 0

Node = dict[Any, Any]


class TriggerHit(NamedTuple):
    """A trigger found at `start` to `end` (code points) of the message. Weak: by its content word alone."""

    owner: str
    trigger: str
    start: int
    end: int
    is_weak: bool


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text, stemmed by the rules of one language; "" is English."""

    text: str
    found: list[Word]
    language: str

    def stem_joined(self, first: int, last: int) -> str:
        """The stem of the words from the first to the last, written as one."""
        parts = (fold_text(self.text[part.start : part.end]) for part in self.found[first : last + 1])
        return fold_and_stem("".join(parts), self.language)


class TriggerIndex:
    """All triggers, as a trie of stems for each language: a look-up costs by the message and the number of languages,
    not by the number of triggers."""

    def __init__(self, triggers: Iterable[tuple[str, str] | tuple[str, str, str]]) -> None:
        """`triggers` are owner, phrase and, where its stems are not those of English alone, a language of
        `languages.ALGORITHMS`. More than `LANGUAGES_MAX` are for the caller to leave out (`list_main_languages`)."""
        # By language; "" is English.
        self._tries: dict[str, Node] = {}
        self._unspaced: dict[str, list[tuple[str, str, str]]] = {}
        for owner, trigger, *languages in triggers:
            self._add(owner, trigger, languages[0] if languages else "")

    @property
    def languages(self) -> frozenset[str]:
        """The languages beside English by whose rules a message is stemmed."""
        return frozenset(self._tries) - {""}

    def _add(self, owner: str, trigger: str, language: str) -> None:
        if is_substring(trigger):
            text = fold_substring(trigger).strip()
            self._unspaced.setdefault(text[0], []).append((text, owner, trigger))
            return
        for own, stems, is_weak in _paths_by_language(trigger, language):
            self._insert(own, stems, owner, trigger, is_weak=is_weak)

    def _insert(self, language: str, stems: tuple[str, ...], owner: str, trigger: str, *, is_weak: bool) -> None:
        node = self._tries.setdefault(language, {})
        for stem in stems:
            node = node.setdefault(stem, {})
        if stems:
            node.setdefault(_FOUND, []).append((owner, trigger, is_weak))

    def replaced(
        self, owner: str, before: Sequence[str], after: Sequence[str], *, was: str = "", language: str = ""
    ) -> TriggerIndex:
        """This index with other triggers of one owner, `before` being those that it has; this one stays as it is.
        `was` is the language of those, `language` that of the others.

        Owners are in sorted order, as they must have been added.
        """
        if (tuple(before), was) == (tuple(after), language):
            return self
        changed = TriggerIndex(())
        changed._tries, changed._unspaced = dict(self._tries), dict(self._unspaced)
        for trigger in dict.fromkeys(before):
            if is_substring(trigger):
                _take_out(changed._unspaced, fold_substring(trigger).strip()[0], owner)
                continue
            for own, stems, _ in _paths_by_language(trigger, was):
                left = _without(changed._tries.pop(own, {}), stems, owner)
                changed._tries |= {own: left} if left else {}
        for trigger in after:
            if is_substring(trigger):
                text = fold_substring(trigger).strip()
                entries = changed._unspaced.get(text[0], [])
                place = bisect_right(entries, owner, key=lambda entry: entry[1])
                changed._unspaced[text[0]] = [*entries[:place], (text, owner, trigger), *entries[place:]]
                continue
            for own, stems, is_weak in _paths_by_language(trigger, language):
                if stems:
                    changed._tries[own] = _with(changed._tries.get(own, {}), stems, (owner, trigger, is_weak))
        return changed

    def find_strong(self, text: str) -> set[str]:
        """The triggers in a text, of any owner, without those that are found by their content word alone."""
        return {hit.trigger for hit in self._hits(text) if not hit.is_weak}

    def find_strong_and_keys(self, text: str) -> tuple[set[str], set[str]]:
        """As `find_strong`, and all that a trigger can be found by in the text: its stems in English and the languages
        of these triggers, those of words that hyphens join, and characters of unspaced scripts after a NUL."""
        found: set[str] = set()
        keys = {f"\0{character}" for character in list_substring_characters(text)}
        for language in sorted({"", *self._tries}):
            words = _Words(text, tokenize(text, language=language), language)
            keys |= {_in_language(language, key) for key in _root_keys(words)} if language else _root_keys(words)
            found.update(hit.trigger for hit in self._walks(words) if not hit.is_weak)
        found.update(hit.trigger for hit in self._substrings(text))
        return found, keys

    def find(self, message: str) -> list[TriggerHit]:
        """Every place of every trigger, in the order of the message, at most `HITS_MAX`."""
        # A trigger that is its own joined form is met twice at one place, and one that has a language by both stems.
        hits = list(dict.fromkeys(islice(self._hits(message), HITS_MAX)))
        if self.languages:
            hits.sort(key=lambda hit: hit.start)
        strong = {(hit.owner, hit.trigger) for hit in hits if not hit.is_weak}
        return [hit for hit in hits if not hit.is_weak or (hit.owner, hit.trigger) not in strong]

    def _hits(self, message: str) -> Iterator[TriggerHit]:
        for language in sorted(self._tries):
            yield from self._walks(_Words(message, tokenize(message, language=language), language))
        yield from self._substrings(message)

    def _walks(self, words: _Words) -> Iterator[TriggerHit]:
        trie = self._tries.get(words.language, {})
        for index, word in enumerate(words.found):
            if word.stem in trie or word.is_hyphened:
                yield from self._walk(trie, words, index, word.start)

    def _walk(self, node: Node, words: _Words, index: int, start: int) -> Iterator[TriggerHit]:
        """Follow the trie with the word at `index`, and with the words that hyphens join to it as one."""
        found = words.found
        joined, last = "", index
        while last < len(found):
            word = found[last]
            joined += word.stem
            following = node.get(joined)
            if following is None and last > index:
                # body-weight: the stem of the whole is not that of its parts joined.
                following = node.get(words.stem_joined(index, last))
            if following is not None:
                for owner, trigger, is_weak in following.get(_FOUND, ()):
                    yield TriggerHit(owner, trigger, start, word.end, is_weak)
                if last + 1 < len(found) and len(following) > (_FOUND in following):
                    yield from self._walk(following, words, last + 1, start)
            if not word.is_hyphened or last - index >= 4:
                return
            last += 1

    def _substrings(self, message: str) -> Iterator[TriggerHit]:
        if not self._unspaced:
            return
        text, starts, ends = _folded_places(message)
        for place, character in enumerate(text):
            for phrase, owner, trigger in self._unspaced.get(character, ()):
                if text.startswith(phrase, place):
                    end = ends[place + len(phrase) - 1]
                    yield TriggerHit(owner, trigger, starts[place], end, is_weak=False)


def _root_keys(words: _Words) -> set[str]:
    found = words.found
    keys = {word.stem for word in found}
    for index, word in enumerate(found):
        joined, last = word.stem, index
        while found[last].is_hyphened and last - index < 4 and last + 1 < len(found):
            last += 1
            joined += found[last].stem
            keys |= {joined, words.stem_joined(index, last)}
    return keys


def strong_paths(trigger: str, language: str = "") -> list[tuple[str, ...]]:
    """The keys that lead to a trigger in full, for each of its forms, as `find_strong_and_keys` has them."""
    paths = _paths_by_language(trigger, language)
    return [tuple(_in_language(own, stem) for stem in stems) for own, stems, is_weak in paths if stems and not is_weak]


def _in_language(language: str, stem: str) -> str:
    return f"{language}\0{stem}" if language else stem


def list_main_languages(languages: Iterable[str]) -> frozenset[str]:
    """The `LANGUAGES_MAX` languages that most capabilities have, of one each: those by which messages are stemmed."""
    counted = Counter(filter(None, languages))
    return frozenset(sorted(counted, key=lambda language: (-counted[language], language))[:LANGUAGES_MAX])


def _without(node: Node, stems: tuple[str, ...], owner: str) -> Node | None:
    """A node that has nothing of an owner at the end of these stems; None where it has nothing at all then."""
    changed = dict(node)
    kept: Any
    if stems:
        following = node.get(stems[0])
        kept = None if following is None else _without(following, stems[1:], owner)
    else:
        kept = [entry for entry in node.get(_FOUND, ()) if entry[0] != owner] or None
    key = stems[0] if stems else _FOUND
    if kept is None:
        changed.pop(key, None)
    else:
        changed[key] = kept
    return changed or None


def _with(node: Node, stems: tuple[str, ...], entry: tuple[str, str, bool]) -> Node:
    """A node with one more at the end of these stems."""
    if stems:
        return {**node, stems[0]: _with(node.get(stems[0], {}), stems[1:], entry)}
    entries = node.get(_FOUND, [])
    place = bisect_right(entries, entry[0], key=lambda one: one[0])
    return {**node, _FOUND: [*entries[:place], entry, *entries[place:]]}


def _take_out(unspaced: dict[str, list[tuple[str, str, str]]], character: str, owner: str) -> None:
    kept = [entry for entry in unspaced.get(character, ()) if entry[1] != owner]
    if kept:
        unspaced[character] = kept
    else:
        unspaced.pop(character, None)


def _paths_by_language(trigger: str, language: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """The language, the stems and whether they lead to a trigger weakly: in English, then in its own language."""
    english = tuple(("", stems, is_weak) for stems, is_weak in _paths(trigger))
    return english + _language_paths(trigger, language) if language else english


@lru_cache(maxsize=100_000)
def _language_paths(trigger: str, language: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """As it is written, and as it is typed without accents."""
    forms = (form for text in (trigger, fold_accents(trigger)) for form in _forms(text, language))
    return tuple((language, stems, False) for stems in dict.fromkeys(forms))


@lru_cache(maxsize=100_000)
def _paths(trigger: str) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """The stems that lead to a trigger, and whether weakly. Kept, since an index is made of nearly the same ones."""
    strong = [(stems, False) for stems in _forms(trigger)]
    content = content_word(trigger)
    return (*strong, ((content,), True)) if content else tuple(strong)


def _forms(trigger: str, language: str = "") -> Iterator[tuple[str, ...]]:
    """The stems as they stand, and with the words joined that a hyphen joins."""
    found = tokenize(trigger, language=language)
    plain = tuple(word.stem for word in found)
    yield plain
    joined: list[str] = []
    is_open = False
    for word in found:
        text = fold_text(trigger[word.start : word.end])
        if is_open:
            joined[-1] += text
        else:
            joined.append(text)
        is_open = word.is_hyphened
    stems = tuple(fold_and_stem(text, language) for text in joined)
    if stems != plain:
        yield stems


def content_word(trigger: str) -> str:
    """The stem of the one word that carries a hyphenated trigger, such as weigh of `weigh-in`; else empty."""
    found = tokenize(trigger)
    if len(found) < 2 or not all(word.is_hyphened for word in found[:-1]):
        return ""
    content = [word for word in found if fold_text(trigger[word.start : word.end]) not in FUNCTION_WORDS]
    return content[0].stem if len(content) == 1 else ""


def is_substring(trigger: str) -> bool:
    """Whether a trigger is found as a substring: in a script without spaces, or of pictures alone."""
    return UNSPACED.search(trigger) is not None or (not has_words(trigger) and any(map(_is_picture, trigger)))


def fold_substring(text: str) -> str:
    """A text in lower case, full width and composed, as substrings are compared; without what only says how an emoji is
    drawn."""
    return _folded_places(text)[0]


def list_substring_characters(text: str) -> set[str]:
    """The folded characters of a text that a trigger which is found as a substring can consist of."""
    if text.isascii():
        return set()
    folded = fold_substring(text)
    return {*UNSPACED.findall(folded), *filter(_is_picture, folded)}


def _is_picture(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character) == "So"


def _folded_places(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The folded text, and of each of its characters where what it was made of begins and ends."""
    if text.isascii():
        return text.lower(), range(len(text)), range(1, len(text) + 1)
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(text):
        cluster = match[0] if len(match[0]) == 1 else match[0].rstrip(_PRESENTATION)
        made = (cluster if cluster.isascii() else unicodedata.normalize("NFKC", cluster)).lower()
        folded.append(made)
        starts += [match.start()] * len(made)
        ends += [match.end()] * len(made)
    return "".join(folded), starts, ends
