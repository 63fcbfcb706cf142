# ruff: noqa: RUF001 -- punctuation of other scripts is what is looked for here.
"""Orders told by the kinds of words that meet in a sentence, whatever the wording and the language.

"Send" + "the conversation" + "to an address" is one order in a hundred wordings. A rule of rules/sentences/*.toml names
classes of words; a sentence in which all of them meet, near each other and not forbidden, is a hit. Words are looked up
in one dictionary, so a rule costs nothing in a text that has none of its words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from registry.validation.security.engine import (
    HITS_COUNTED_MAX,
    RuleHit,
    ScanBudget,
    SearchedText,
    is_negated,
    is_negated_after,
)
from registry.validation.security.sentence_rules import (
    SentenceRule,
    WordEntry,
    WordIndex,
    load_sentence_rules,
    load_word_index,
)

_END = re.compile(r"[.!?]+(?=[\s\"')\]*_`<]|\Z)|[;。！？；।؟\n\0]")
_PUNCTUATION = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~，、：…–—“”«»„।؟()', " "))
_CLAUSE = re.compile(r"[,;:()—、，]|\.\s")
_WORD = re.compile(r"\S+")
_LONGEST = 600
_CLAUSE_MAX = 40
# Places of one class that are tried in a sentence: more of them say nothing new.
_MOST_TRIED = 20
Place = tuple[int, int]
_NEGATED_BEFORE = re.compile(
    r"(?:\bkeine?[nrms]?|\bne\b|\bno\b|\bnao|\bnon|\bниколи|मत|न|لا|禁止|请勿)[^\n.!?;,。，]{0,40}\Z"
)


@dataclass(slots=True)
class _Sentence:
    """A stretch of the text with the classes that may occur in it; `places` is filled when a rule may hold."""

    start: int
    end: int
    mask: int
    places: dict[str, list[Place]] | None = field(default=None)


def find_ordering_sentences(
    searched: SearchedText, budget: ScanBudget, rules: Sequence[SentenceRule] | None = None
) -> Iterator[RuleHit]:
    """Every sentence in which the classes of a rule meet; `rules` are those of all codes if they are not given.

    Stops when the budget is spent.
    """
    index = load_word_index()
    text = searched.text
    clean = text.translate(_PUNCTUATION)
    entries = {word: entry for word in set(clean.split()) if (entry := index.look_up(word))}
    masks = {word: entry.mask for word, entry in entries.items()}
    inside = _inner_words(index, searched)
    hints = _hints(index, text)
    present = 0
    for mask in (*masks.values(), *(index.bits[name] for _, _, name in inside), *(mask for _, mask in hints)):
        present |= mask
    possible = [rule for rule in (load_sentence_rules() if rules is None else rules) if rule.may_hold(present)]
    if possible:
        marks = sorted([*hints, *((start, index.bits[name]) for start, _, name in inside)])
        sentences = _split(text, clean, masks, marks)
        yield from _run(_SentenceReader(text, clean, index, entries, inside), sentences, possible, searched, budget)


def _inner_words(index: WordIndex, searched: SearchedText) -> list[tuple[int, int, str]]:
    """(start, end, class) of the words of scripts without blanks, or whose words take prefixes."""
    if searched.text.isascii():
        return []
    found: list[tuple[int, int, str]] = []
    for word, names in index.inner.items():
        if searched.vocabulary.may_have(word):
            for at in _all_places(searched.text, word):
                found.extend((at, at + len(word), name) for name in names)
    return sorted(found)


def _hints(index: WordIndex, text: str) -> list[tuple[int, int]]:
    """(offset, classes) of each fixed text that is in whatever the pattern of a class matches."""
    found: list[tuple[int, int]] = []
    for hint, names in index.hints.items():
        if hint in text:
            mask = 0
            for name in names:
                mask |= index.bits[name]
            found.extend((at, mask) for at in _all_places(text, hint))
    return found


def _all_places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _split(text: str, clean: str, masks: dict[str, int], marks: list[tuple[int, int]]) -> list[_Sentence]:
    """The sentences, cut at 600 characters, each with the classes of its words and of the marks in it."""
    sentences: list[_Sentence] = []
    start = at = 0
    ends = [match.end() for match in _END.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    words = masks.keys()
    for end in ends:
        while start < end:
            stop = min(end, start + _LONGEST)
            mask = 0
            if stop - start > 1:
                for word in words & set(clean[start:stop].split()):
                    mask |= masks[word]
            while at < len(marks) and marks[at][0] < stop:
                mask |= marks[at][1]
                at += 1
            sentences.append(_Sentence(start, stop, mask))
            start = stop
    return sentences


@dataclass(slots=True)
class _SentenceReader:
    """Finds where in a sentence the words of each class are."""

    text: str
    clean: str
    index: WordIndex
    entries: dict[str, WordEntry]
    inside: list[tuple[int, int, str]]

    def read(self, sentence: _Sentence, name: str) -> list[Place]:
        """Where a sentence has words of a class, or what its pattern matches."""
        if sentence.places is None:
            sentence.places = self._words(sentence)
        pattern = self.index.patterns.get(name)
        if pattern is not None and sentence.mask & self.index.bits[name]:
            key = f"{name} "
            if key not in sentence.places:
                sentence.places[key] = [m.span() for m in pattern.finditer(self.text, sentence.start, sentence.end)]
            return [*sentence.places.get(name, ()), *sentence.places[key]]
        return sentence.places.get(name, [])

    def _words(self, sentence: _Sentence) -> dict[str, list[Place]]:
        places: dict[str, list[Place]] = {}
        words = [(m.group(), m.start(), m.end()) for m in _WORD.finditer(self.clean, sentence.start, sentence.end)]
        for number, (word, _, _) in enumerate(words):
            entry = self.entries.get(word)
            for name, before, behind in entry.terms if entry else ():
                first, last = number - len(before), number + len(behind)
                if first < 0 or last >= len(words):
                    continue
                if all(_fits(words[first + n][0], each) for n, each in enumerate(before)) and all(
                    _fits(words[number + 1 + n][0], each) for n, each in enumerate(behind)
                ):
                    places.setdefault(name, []).append((words[first][1], words[last][2]))
        for start, end, name in self.inside[bisect_left(self.inside, (sentence.start, 0, "")) :]:
            if start >= sentence.end:
                break
            places.setdefault(name, []).append((start, end))
        return places


def _fits(word: str, term: str) -> bool:
    return word.startswith(term[:-1]) if term.endswith("*") else word == term


class _Fitting:
    """Which rules may hold in a sentence, by the classes of its words."""

    def __init__(self, rules: list[SentenceRule]) -> None:
        self._rules = [(rule.needed, rule) for rule in rules]
        self._known: dict[int, list[SentenceRule]] = {}

    def fitting(self, mask: int) -> list[SentenceRule]:
        if mask not in self._known:
            possible = [rule for needed, rule in self._rules if mask & needed == needed]
            self._known[mask] = [rule for rule in possible if rule.may_hold(mask)]
        return self._known[mask]


def _run(
    reader: _SentenceReader,
    sentences: list[_Sentence],
    rules: list[SentenceRule],
    searched: SearchedText,
    budget: ScanBudget,
) -> Iterator[RuleHit]:
    view, kept = searched.view, Counter[int]()
    single, double = (_Fitting([rule for rule in rules if rule.sentences == count]) for count in (1, 2))
    for number, here in enumerate(sentences):
        if not here.mask:
            continue
        following = sentences[number + 1] if number + 1 < len(sentences) else None
        if following is not None and _is_apart(reader.text, here):
            following = None
        both = here.mask | (following.mask if following else 0)
        for rule in (*single.fitting(here.mask), *double.fitting(both)):
            if kept[id(rule)] >= HITS_COUNTED_MAX:
                continue
            if not budget.take(1 + (here.end - here.start) // 60):
                return
            place = _meet(rule, reader, [here, following] if following and rule.sentences == 2 else [here])
            if place:
                kept[id(rule)] += 1
                first, last = sorted((view.origin(place[0]), view.origin(max(place[1] - 1, place[0]))))
                says, policy = rule.description, rule.context_policy
                yield RuleHit(rule.code, says, first, last + 1, rule.severity, policy, view.disguise, is_general=True)


def _is_apart(text: str, sentence: _Sentence) -> bool:
    """Whether an empty line or the end of the string parts a sentence from the next one."""
    return text.startswith("\n", sentence.end) or "\0" in text[sentence.end - 1 : sentence.end + 1]


def _meet(rule: SentenceRule, reader: _SentenceReader, sentences: list[_Sentence]) -> Place | None:
    """Where the classes of a rule meet, None if they do not."""
    groups: list[list[Place]] = []
    for names in (*rule.all_of, *rule.also):
        group = sorted(place for name in names for each in sentences for place in reader.read(each, name))
        if not group:
            return None
        groups.append(group)
    if any(reader.read(each, name) for name in rule.none_of for each in sentences):
        return None
    for number, names in enumerate(rule.all_of):
        if rule.unless_negated in names:
            groups[number] = [place for place in groups[number][:_MOST_TRIED] if not _is_forbidden(reader.text, place)]
    chosen = groups[: len(rule.all_of)]
    return _in_order(chosen, rule, reader.text) if rule.gap else _nearest(chosen, rule)


def _is_forbidden(text: str, place: Place) -> bool:
    before = text[max(place[0] - 60, 0) : place[0]]
    return is_negated(text, place[0]) or is_negated_after(text, place[1]) or bool(_NEGATED_BEFORE.search(before))


def _nearest(groups: list[list[Place]], rule: SentenceRule) -> Place | None:
    """The first combination of one place per class that fits into the rule's reach."""
    for first in groups[0][:_MOST_TRIED]:
        taken = [first]
        for group in groups[1:]:
            fitting = [place for place in group[:_MOST_TRIED] if not _overlaps(place, taken)]
            if not fitting:
                break
            taken.append(min(fitting, key=lambda place: abs(place[0] - first[0])))
        else:
            low, high = min(start for start, _ in taken), max(end for _, end in taken)
            if high - low <= rule.within:
                return low, high
    return None


def _in_order(groups: list[list[Place]], rule: SentenceRule, text: str) -> Place | None:
    """One place per class, each behind the one before, at most the rule's gap away; with a short gap in its clause."""
    in_clause = rule.gap <= _CLAUSE_MAX
    for first in groups[0][:_MOST_TRIED]:
        end = first[1]
        for group in groups[1:]:
            ends = [
                place[1]
                for place in group[:_MOST_TRIED]
                if 0 <= place[0] - end <= rule.gap and not (in_clause and _CLAUSE.search(text, end, place[0]))
            ]
            if not ends:
                break
            end = ends[0]
        else:
            return first[0], end
    return None


def _overlaps(place: Place, taken: list[Place]) -> bool:
    return any(place[0] < end and start < place[1] for start, end in taken)
