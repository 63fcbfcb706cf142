"""The rules of rules/sentences/*.toml and their classes of words, read once. rules/README.md describes the files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import or_
from typing import Any

from registry.bundles.problem import Severity
from registry.validation.security.engine import ContextPolicy, compile_pattern
from registry.validation.security.literals import LiteralIndex
from registry.validation.security.normalization import normalize_text
from registry.validation.security.rule_loader import (
    RULES_FOLDER,
    RuleFileError,
    check_keys,
    load_rule_files,
    parse_rule_table,
    read_toml,
)

SENTENCES_FOLDER = RULES_FOLDER / "sentences"
WORDS_FILE = "word_classes.toml"
POWERS_FILE = RULES_FOLDER.parent / "powers.toml"
# A word of these scripts is looked for inside of words: no blanks part them, or prefixes and particles stick to them.
_INNER = re.compile(r"[\u0590-\u08ff\u0900-\u0fff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SHORTEST_STEM = 3
_WORDS_KEPT = 50_000
_RULE_KEYS: dict[str, type] = {
    "description": str,
    "all_of": list,
    "also": list,
    "none_of": list,
    "unless_negated": str,
    "gap": int,
    "within": int,
    "sentences": int,
    "severity": str,
    "context_policy": str,
}
_FILE_KEYS: dict[str, type] = {"code": str, "context_policy": str, "rules": list, "examples": dict}


@dataclass(frozen=True, slots=True)
class SentenceRule:
    """One rule: of each group of `all_of` one class has a word in the sentence, within `within` characters.

    With a `gap` they come in this order, so many characters apart at most. Those of `also` may be anywhere in the
    sentence, those of `none_of` nowhere. `masks` has a bit mask for each group of both, `needed` one for all groups of
    one class. `sentences` is 2 where the next sentence is read as well.
    """

    code: str
    description: str
    all_of: tuple[tuple[str, ...], ...]
    masks: tuple[int, ...]
    also: tuple[tuple[str, ...], ...] = ()
    none_of: tuple[str, ...] = ()
    unless_negated: str = ""
    gap: int = 0
    within: int = 240
    sentences: int = 1
    severity: Severity | None = None
    context_policy: ContextPolicy = "phrase"
    needed: int = 0

    def may_hold(self, mask: int) -> bool:
        return all(mask & each for each in self.masks)


Term = tuple[str, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WordEntry:
    """The terms of which a word is the longest: (class, the words before it, the words behind), and their mask.

    `single` has the classes of those that are this word alone; `by_next` the phrases by the word behind it, `by_last`
    those by the word before it, `others` those whose neighbors are stems.
    """

    terms: tuple[Term, ...]
    mask: int
    single: tuple[str, ...] = ()
    by_next: dict[str, tuple[Term, ...]] = field(default_factory=dict)
    by_last: dict[str, tuple[Term, ...]] = field(default_factory=dict)
    others: tuple[Term, ...] = ()


def _forms(word: str) -> list[str]:
    """A word and what it may be the gerund of: "quoting" of "quote". Other forms report more than they order."""
    if not word.endswith("ing") or len(word) < len("ing") + _SHORTEST_STEM:
        return [word]
    return [word, word[:-3], word[:-3] + "e"]


@dataclass(slots=True)
class WordIndex:
    """All classes of words. `inner` has the words that are looked for inside of words.

    `patterns` has what is not words; `hints` has a fixed text for each that is in whatever the pattern matches.
    """

    bits: dict[str, int] = field(default_factory=dict)
    patterns: dict[str, re.Pattern[str]] = field(default_factory=dict)
    hints: dict[str, list[str]] = field(default_factory=dict)
    inner: dict[str, list[str]] = field(default_factory=dict)
    pattern_mask: int = 0
    _words: dict[str, list[Term]] = field(default_factory=dict)
    _stems: dict[str, list[Term]] = field(default_factory=dict)
    _lengths: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _known: dict[str, WordEntry | None] = field(default_factory=dict)

    def add(self, name: str, terms: str, pattern: str, hints: str) -> None:
        self.bits[name] = 1 << len(self.bits)
        for term in filter(None, (each.strip() for each in re.split(r"[,\n]", terms))):
            self._add_term(name, normalize_text(term))
        if pattern:
            self.patterns[name] = compile_pattern(pattern)
            self.pattern_mask |= self.bits[name]
            for hint in hints.split():
                self.hints.setdefault(normalize_text(hint), []).append(name)

    def _add_term(self, name: str, term: str) -> None:
        if _INNER.search(term):
            self.inner.setdefault(term, []).append(name)
            return
        words = term.split()
        at = max(range(len(words)), key=lambda number: len(words[number]))
        entry = (name, tuple(words[:at]), tuple(words[at + 1 :]))
        if words[at].endswith("*"):
            stem = words[at][:-1]
            if len(stem) < _SHORTEST_STEM:
                raise RuleFileError(f"{WORDS_FILE}: {name}: the stem {stem} is shorter than {_SHORTEST_STEM} letters")
            self._stems.setdefault(stem, []).append(entry)
            head = stem[:_SHORTEST_STEM]
            self._lengths[head] = tuple(sorted({*self._lengths.get(head, ()), len(stem)}))
        else:
            self._words.setdefault(words[at], []).append(entry)

    def look_up(self, word: str) -> WordEntry | None:
        """What may begin with a word of a text, None if nothing does."""
        if word in self._known:
            return self._known[word]
        if len(self._known) >= _WORDS_KEPT:
            self._known.clear()
        entry = self._known[word] = self._look_up(word)
        return entry

    def _look_up(self, word: str) -> WordEntry | None:
        terms = [term for form in _forms(word) for term in self._words.get(form, ())]
        for length in self._lengths.get(word[:_SHORTEST_STEM], ()):
            terms += self._stems.get(word[:length], ()) if length <= len(word) else ()
        if not terms:
            return None
        return _build_entry(terms, join_bits((name for name, _, _ in terms), self.bits))


def join_bits(names: Iterable[str], bits: Mapping[str, int]) -> int:
    """One mask for these classes of words."""
    return reduce(or_, (bits[name] for name in names), 0)


def _build_entry(terms: list[Term], mask: int) -> WordEntry:
    single, others = [], []
    by_next: dict[str, tuple[Term, ...]] = {}
    by_last: dict[str, tuple[Term, ...]] = {}
    for term in terms:
        name, before, behind = term
        if not before and not behind:
            single.append(name)
        elif behind and not behind[0].endswith("*"):
            by_next[behind[0]] = (*by_next.get(behind[0], ()), term)
        elif before and not before[-1].endswith("*"):
            by_last[before[-1]] = (*by_last.get(before[-1], ()), term)
        else:
            others.append(term)
    return WordEntry(tuple(terms), mask, tuple(single), by_next, by_last, tuple(others))


@cache
def load_word_index() -> WordIndex:
    """The classes of word_classes.toml."""
    index = WordIndex()
    for name, table in read_toml(SENTENCES_FOLDER / WORDS_FILE).items():
        if unknown := set(table) - {"words", "pattern", "hints"}:
            key = min(unknown)
            raise RuleFileError(f"{WORDS_FILE}: {name}: {key} is not a key; there are words, pattern, hints")
        if ("pattern" in table) != ("hints" in table):
            raise RuleFileError(f"{WORDS_FILE}: {name}: a pattern needs hints")
        pattern = "".join(part.strip() for part in table.get("pattern", "").split("\n"))
        index.add(name, table.get("words", ""), pattern, table.get("hints", ""))
    return index


@cache
def load_literal_index() -> LiteralIndex:
    """Every fixed text that a rule begins at or a class of words is hinted at by: the longest part of each."""
    index = load_word_index()
    keywords = (each for file in load_rule_files() for rule in file.rules for each in rule.keywords)
    return LiteralIndex((*keywords, *index.hints, *index.inner))


@cache
def load_sentence_rules() -> tuple[SentenceRule, ...]:
    """The rules of every file of the folder."""
    paths = sorted(path for path in SENTENCES_FOLDER.glob("*.toml") if path.name != WORDS_FILE)
    return tuple(rule for path in paths for rule in parse_sentence_file(path.read_text(encoding="utf-8"), path.name))


@cache
def load_power_rules() -> tuple[SentenceRule, ...]:
    """The rules of powers.toml, which say what a bundle may do: `code` is the kind of power, not of a finding."""
    name = POWERS_FILE.name
    kinds = read_toml(POWERS_FILE)
    return tuple(
        _read_rule(row, {"code": kind}, f"{name}: {kind} {number}")
        for kind, table in kinds.items()
        for number, row in enumerate(table["rules"], 1)
    )


def parse_sentence_file(text: str, name: str) -> tuple[SentenceRule, ...]:
    """One file from its text; `name` is for the messages."""
    table = parse_rule_table(text, name, _FILE_KEYS, required=("code",))
    return tuple(_read_rule(row, table, f"{name}: rule {n}") for n, row in enumerate(table.get("rules", ()), 1))


def _read_rule(row: dict[str, Any], table: dict[str, Any], where: str) -> SentenceRule:
    check_keys(row, _RULE_KEYS, where, required=("description", "all_of"))
    groups, also = (tuple(tuple(group.split("|")) for group in row.get(key, ())) for key in ("all_of", "also"))
    bits = load_word_index().bits
    for class_name in (*(each for group in (*groups, *also) for each in group), *row.get("none_of", ())):
        if class_name not in bits:
            raise RuleFileError(f"{where}: there is no class of words {class_name}")
    masks = tuple(join_bits(group, bits) for group in (*groups, *also))
    needed = join_bits((group[0] for group in (*groups, *also) if len(group) == 1), bits)
    values = {"code": table["code"], "context_policy": table.get("context_policy", "phrase"), **row}
    values |= {"all_of": groups, "also": also, "none_of": tuple(row.get("none_of", ()))}
    return SentenceRule(**values, masks=masks, needed=needed)
