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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

from registry.validation.security.engine import (
    HITS_COUNTED_MAX,
    RuleHit,
    ScanBudget,
    SearchedText,
    is_negated,
    is_negated_after,
)
from registry.validation.security.literals import find_places
from registry.validation.security.normalization import TextView
from registry.validation.security.sentence_features import unpack_classes
from registry.validation.security.sentence_rules import (
    SentenceRule,
    Term,
    WordEntry,
    WordIndex,
    join_bits,
    load_sentence_rules,
    load_word_index,
)

_END = re.compile(r"[.!?]+(?=[\s\"')\]*_`<]|\Z)|[;。！？；।؟\n\0]")
PUNCTUATION = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~，、：…–—“”«»„।؟()', " "))
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
class Sentence:
    """A stretch of the text with the classes that may occur in it.

    When a rule may hold, `found` gets the terms that do occur (class, first word, last word), `exact` their classes,
    and `places` where they are.
    """

    start: int
    end: int
    mask: int
    places: dict[str, list[Place]] | None = field(default=None)
    found: list[tuple[str, int, int]] | None = field(default=None)
    exact: int = 0


class SentenceText:
    """A text cut into sentences, with the classes of words that may occur in each."""

    def __init__(self, searched: SearchedText) -> None:
        self.view = searched.view
        self.text = searched.text
        self.index = load_word_index()
        self.clean = self.text.translate(PUNCTUATION)
        self.entries = {word: entry for word in set(self.clean.split()) if (entry := self.index.look_up(word))}
        self.inside = _inner_words(self.index, searched)
        self._hints = _hints(self.index, searched)

    @cached_property
    def present(self) -> int:
        """The classes that may occur anywhere in the text."""
        words = reduce(or_, (entry.mask for entry in self.entries.values()), 0)
        hinted = reduce(or_, (mask for _, mask in self._hints), 0)
        return words | hinted | join_bits((name for _, _, name in self.inside), self.index.bits)

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences, cut at 600 characters."""
        masks = {word: entry.mask for word, entry in self.entries.items()}
        marks = sorted([*self._hints, *((start, self.index.bits[name]) for start, _, name in self.inside)])
        return _split(self.text, self.clean, masks, marks)


def find_ordering_sentences(
    text: SentenceText, budget: ScanBudget, rules: Sequence[SentenceRule] | None = None
) -> Iterator[RuleHit]:
    """Every sentence in which the classes of a rule meet; `rules` are those of all codes if they are not given.

    Stops when the budget is spent.
    """
    possible = [rule for rule in (load_sentence_rules() if rules is None else rules) if rule.may_hold(text.present)]
    if possible:
        reader = _SentenceReader(text.text, text.clean, text.index, text.entries, text.inside)
        yield from _run(reader, text.sentences, possible, text.view, budget)


def _inner_words(index: WordIndex, searched: SearchedText) -> list[tuple[int, int, str]]:
    """(start, end, class) of the words of scripts without blanks, or whose words take prefixes."""
    if searched.text.isascii():
        return []
    found: list[tuple[int, int, str]] = []
    for word, names in index.inner.items():
        if searched.literals.may_have(word):
            for at in find_places(searched.text, word):
                found.extend((at, at + len(word), name) for name in names)
    return sorted(found)


def _hints(index: WordIndex, searched: SearchedText) -> list[tuple[int, int]]:
    """(offset, classes) of each fixed text that is in whatever the pattern of a class matches."""
    found: list[tuple[int, int]] = []
    for hint, names in index.hints.items():
        if searched.literals.may_have(hint):
            mask = join_bits(names, index.bits)
            found.extend((at, mask) for at in searched.literals.find(hint))
    return found


def _split(text: str, clean: str, masks: dict[str, int], marks: list[tuple[int, int]]) -> list[Sentence]:
    """The sentences, cut at 600 characters, each with the classes of its words and of the marks in it."""
    sentences: list[Sentence] = []
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
            sentences.append(Sentence(start, stop, mask))
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

    def read(self, sentence: Sentence, name: str) -> list[Place]:
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

    def exact_mask(self, sentence: Sentence) -> int:
        """The classes that do have words here; of those with a pattern, the ones that may match."""
        if sentence.found is None:
            self._look_up(sentence)
        return sentence.exact

    def _look_up(self, sentence: Sentence) -> None:
        """Fill in which terms stand in a sentence, by the numbers of their first and last words."""
        found: list[tuple[str, int, int]] = []
        mask = sentence.mask & self.index.pattern_mask
        words = self.clean[sentence.start : sentence.end].split()
        get, bits, count = self.entries.get, self.index.bits, len(words)
        for number, word in enumerate(words):
            entry = get(word)
            if entry is None:
                continue
            for name in entry.single:
                found.append((name, number, number))
                mask |= bits[name]
            for name, before, behind in _list_phrases(entry, words, number):
                first, last = number - len(before), number + len(behind)
                if first >= 0 and last < count and _stand(words, first, before) and _stand(words, number + 1, behind):
                    found.append((name, first, last))
                    mask |= bits[name]
        for _, _, name in self._inside(sentence):
            mask |= bits[name]
        sentence.found, sentence.exact = found, mask

    def _inside(self, sentence: Sentence) -> Iterator[tuple[int, int, str]]:
        if not self.inside:
            return
        for at in range(bisect_left(self.inside, (sentence.start, 0, "")), len(self.inside)):
            if self.inside[at][0] >= sentence.end:
                break
            yield self.inside[at]

    def _words(self, sentence: Sentence) -> dict[str, list[Place]]:
        places: dict[str, list[Place]] = {}
        self.exact_mask(sentence)
        spans = [match.span() for match in _WORD.finditer(self.clean, sentence.start, sentence.end)]
        for name, begin, finish in sentence.found or ():
            places.setdefault(name, []).append((spans[begin][0], spans[finish][1]))
        for start, end, name in self._inside(sentence):
            places.setdefault(name, []).append((start, end))
        return places


def _list_phrases(entry: WordEntry, words: list[str], number: int) -> Iterable[Term]:
    """The phrases that may stand around a word, by its neighbors."""
    found = entry.others
    if entry.by_next and number + 1 < len(words):
        found += entry.by_next.get(words[number + 1], ())
    if entry.by_last and number:
        found += entry.by_last.get(words[number - 1], ())
    return found


def _stand(words: list[str], at: int, terms: tuple[str, ...]) -> bool:
    return all(_fits(words[at + number], term) for number, term in enumerate(terms))


def _fits(word: str, term: str) -> bool:
    return word.startswith(term[:-1]) if term.endswith("*") else word == term


class _Fitting:
    """Which rules may hold in a sentence, by the classes of its words.

    Each rule is kept under one group of its classes, the one that the fewest sentences have.
    """

    def __init__(self, rules: list[SentenceRule], often: Counter[int]) -> None:
        self._by_bit: dict[int, list[tuple[int, int, SentenceRule]]] = {}
        for number, rule in enumerate(rules):
            rarest = min((list(list_bits(mask)) for mask in rule.masks), key=lambda bits: sum(often[b] for b in bits))
            for bit in rarest:
                self._by_bit.setdefault(bit, []).append((number, rule.needed, rule))
        self._bits = sum(self._by_bit)
        self._known: dict[int, list[SentenceRule]] = {}

    def fitting(self, mask: int) -> list[SentenceRule]:
        """In the order of the rules."""
        if not mask & self._bits:
            return []
        if mask not in self._known:
            found = {
                number: rule
                for bit in list_bits(mask & self._bits)
                for number, needed, rule in self._by_bit[bit]
                if mask & needed == needed and rule.may_hold(mask)
            }
            self._known[mask] = [found[number] for number in sorted(found)]
        return self._known[mask]


def list_bits(mask: int) -> Iterator[int]:
    """The bits of a mask, as numbers that have one bit."""
    while mask:
        lowest = mask & -mask
        yield lowest
        mask ^= lowest


def _count_bits(sentences: list[Sentence]) -> Counter[int]:
    often = Counter[int]()
    for bit in list_bits(reduce(or_, (each.mask for each in sentences), 0)):
        often[bit] = 0
    counts = unpack_classes([each.mask for each in sentences], max(often, default=1).bit_length()).sum(axis=0)
    for bit in often:
        often[bit] = int(counts[bit.bit_length() - 1])
    return often


def _run(
    reader: _SentenceReader,
    sentences: list[Sentence],
    rules: list[SentenceRule],
    view: TextView,
    budget: ScanBudget,
) -> Iterator[RuleHit]:
    kept = Counter[int]()
    often = _count_bits(sentences)
    single, double = (_Fitting([rule for rule in rules if rule.sentences == count], often) for count in (1, 2))
    for number, here in enumerate(sentences):
        if not here.mask:
            continue
        following = sentences[number + 1] if number + 1 < len(sentences) else None
        if following is not None and _is_apart(reader.text, here):
            following = None
        for rule in _list_fitting(reader, single, double, here, following):
            if kept[id(rule)] >= HITS_COUNTED_MAX:
                continue
            if not budget.take(1 + (here.end - here.start) // 60):
                return
            place = _meet(rule, reader, [here, following] if following and rule.sentences == 2 else [here])
            if place:
                kept[id(rule)] += 1
                first, last = view.span_of(*place)
                says, policy = rule.description, rule.context_policy
                yield RuleHit(rule.code, says, first, last, rule.severity, policy, view.disguise, is_general=True)


def _list_fitting(
    reader: _SentenceReader, single: _Fitting, double: _Fitting, here: Sentence, following: Sentence | None
) -> list[SentenceRule]:
    """The rules whose classes a sentence has, or has together with the next one.

    First by the words that the terms could begin with, which are known; only then by the terms themselves.
    """
    found: list[SentenceRule] = []
    if single.fitting(here.mask):
        found += single.fitting(reader.exact_mask(here))
    if double.fitting(here.mask | (following.mask if following else 0)):
        found += double.fitting(reader.exact_mask(here) | (reader.exact_mask(following) if following else 0))
    return found


def _is_apart(text: str, sentence: Sentence) -> bool:
    """Whether an empty line or the end of the string parts a sentence from the next one."""
    return text.startswith("\n", sentence.end) or "\0" in text[sentence.end - 1 : sentence.end + 1]


def _meet(rule: SentenceRule, reader: _SentenceReader, sentences: list[Sentence]) -> Place | None:
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
