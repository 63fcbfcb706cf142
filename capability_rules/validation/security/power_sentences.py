"""Sentences that say what an agent may do: fetch a text, write what lasts, ask for a secret. Not findings: a list."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Final

from capability_rules.bundles.problem import Path
from capability_rules.validation.security.engine import compile_pattern, is_negated
from capability_rules.validation.security.normalization import (
    build_plain_view,
    normalize_text,
    quote_excerpt,
    unwrap_lines,
)
from capability_rules.validation.security.rule_loader import read_toml
from capability_rules.validation.security.sentences import split_sentences
from capability_rules.validation.security.text_corpus import AuthorText, ScannedDocument, list_documents

POWERS_FILE: Final = FilePath(__file__).parent / "powers.toml"
# Scripts without blanks, or in which prefixes and particles stick to a word: looked for inside of words.
_INNER: Final = re.compile(r"[\u0590-\u08ff\u0900-\u0fff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# So many places of a verb are tried in a sentence.
_TRIED_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class PowerSentence:
    """`kind` is a table of powers.toml; `offset` is in the string that `path` leads to, in code points."""

    kind: str
    description: str
    quote: str
    file: str
    path: Path
    offset: int


@dataclass(frozen=True, slots=True)
class WordList:
    """Words of powers.toml, each with its first part as it is written, and the pattern of all of it."""

    words: tuple[tuple[str, str], ...]

    def narrow(self, text: str) -> re.Pattern[str] | None:
        """A pattern of those words alone that a text may have; None where it has none. Of hundreds a text has a few,
        and each costs at every place."""
        found = [pattern for first, pattern in self.words if first in text]
        return re.compile("|".join(found)) if found else None


@dataclass(frozen=True, slots=True)
class PowerRule:
    """A row of powers.toml: a verb, and at most `gap` characters behind it the thing, or before it if `any_order`."""

    kind: str
    description: str
    verb: WordList
    thing: WordList | re.Pattern[str]
    gap: int
    any_order: bool

    def narrow(self, text: str) -> NarrowRule | None:
        """The rule for the sentences of one text; None where it cannot be met there."""
        verb = self.verb.narrow(text)
        thing = self.thing.narrow(text) if isinstance(self.thing, WordList) else self.thing
        return NarrowRule(self, verb, thing) if verb and thing else None


@dataclass(frozen=True, slots=True)
class NarrowRule:
    """A rule with the words that one text has."""

    rule: PowerRule
    verb: re.Pattern[str]
    thing: re.Pattern[str]


@cache
def load_power_rules() -> tuple[PowerRule, ...]:
    """The rules of powers.toml in their order."""
    table = read_toml(POWERS_FILE)
    words = table.pop("words")

    def list_words(names: str) -> WordList:
        every = (_spell(word) for name in names.split("|") for word in re.split(r"[,\n]", words[name]))
        return WordList(tuple(dict.fromkeys(each for each in every if each[0])))

    return tuple(
        PowerRule(
            kind,
            row["description"],
            list_words(row["verb"]),
            compile_pattern(row["pattern"]) if "pattern" in row else list_words(row["thing"]),
            row["gap"],
            row.get("any_order", False),
        )
        for kind, kind_table in table.items()
        for row in kind_table["rules"]
    )


def _spell(word: str) -> tuple[str, str]:
    """The first part of a word, and the word as a pattern for folded text: a star stands for any ending, a blank for
    any signs between two words. Both are empty where there is no word."""
    folded = normalize_text(word.strip())
    parts = folded.rstrip("*").split()
    if not parts:
        return "", ""
    inner = r"[\W_]{1,4}".join(map(re.escape, parts))
    is_inner = _INNER.search(folded)
    return parts[0], inner if is_inner else rf"(?<!\w){inner}" + ("" if folded.endswith("*") else r"(?!\w)")


def find_power_sentences(texts: Iterable[AuthorText]) -> Iterator[PowerSentence]:
    """Every such sentence, file by file in the order of the text, each place once per kind."""
    for document in list_documents(texts):
        yield from _read(document)


def grants_power(said: str, kinds: Collection[str]) -> bool:
    """Whether a folded text has a sentence of one of these kinds."""
    rules = [narrow for rule in load_power_rules() if rule.kind in kinds and (narrow := rule.narrow(said))]
    return any(_meet(narrow, said[start:end]) for start, end in split_sentences(said) for narrow in rules)


def _read(document: ScannedDocument) -> Iterator[PowerSentence]:
    view = unwrap_lines(build_plain_view(document.text))
    rules = [narrow for rule in load_power_rules() if (narrow := rule.narrow(view.text))]
    for start, end in split_sentences(view.text):
        said = view.text[start:end]
        seen: set[str] = set()
        for narrow in rules:
            rule = narrow.rule
            place = None if rule.kind in seen else _meet(narrow, said)
            if place:
                seen.add(rule.kind)
                first, last = view.span_of(start + place[0], start + place[1])
                part, offset = document.part_at(first)
                quote = quote_excerpt(document.text[first:last])
                yield PowerSentence(
                    rule.kind, rule.description, quote, document.file, part.path, part.base_offset + offset
                )


def _meet(narrow: NarrowRule, said: str) -> tuple[int, int] | None:
    """Where a verb that is not forbidden and a thing meet in a sentence."""
    rule = narrow.rule
    things = [match.span() for match in narrow.thing.finditer(said)][:_TRIED_MAX]
    if not things:
        return None
    for verb in list(narrow.verb.finditer(said))[:_TRIED_MAX]:
        if is_negated(said, verb.start()):
            continue
        for low, high in things:
            if 0 <= low - verb.end() <= rule.gap:
                return verb.start(), high
            if rule.any_order and 0 <= verb.start() - high <= rule.gap:
                return low, verb.end()
    return None
