"""Sentences that say what an agent may do: fetch a text, write what lasts, ask for a secret. Not findings: a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Final

from registry.bundles.problem import Path
from registry.validation.security.engine import compile_pattern, is_negated
from registry.validation.security.normalization import build_plain_view, normalize_text, unwrap_lines
from registry.validation.security.rule_loader import read_toml
from registry.validation.security.scanner import quote_excerpt
from registry.validation.security.sentences import split_sentences
from registry.validation.security.text_corpus import AuthorText, ScannedDocument, list_documents

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
class PowerRule:
    """A row of powers.toml: a verb, and at most `gap` characters behind it the thing, or before it if `any_order`."""

    kind: str
    description: str
    verb: re.Pattern[str]
    thing: re.Pattern[str]
    gap: int
    any_order: bool


@cache
def load_power_rules() -> tuple[PowerRule, ...]:
    """The rules of powers.toml in their order."""
    table = read_toml(POWERS_FILE)
    words = table.pop("words")

    def compile_words(names: str) -> re.Pattern[str]:
        return re.compile(
            "|".join(_spell(word) for name in names.split("|") for word in re.split(r"[,\n]", words[name]))
        )

    return tuple(
        PowerRule(
            kind,
            row["description"],
            compile_words(row["verb"]),
            compile_pattern(row["pattern"]) if "pattern" in row else compile_words(row["thing"]),
            row["gap"],
            row.get("any_order", False),
        )
        for kind, kind_table in table.items()
        for row in kind_table["rules"]
    )


def _spell(word: str) -> str:
    """A word as a pattern for folded text: a star stands for any ending, a blank for any signs between two words."""
    folded = normalize_text(word.strip())
    inner = r"[\W_]{1,4}".join(re.escape(part) for part in folded.rstrip("*").split())
    if not inner:
        return r"(?!)"
    return inner if _INNER.search(folded) else rf"(?<!\w){inner}" + ("" if folded.endswith("*") else r"(?!\w)")


def find_power_sentences(texts: Iterable[AuthorText]) -> Iterator[PowerSentence]:
    """Every such sentence, file by file in the order of the text, each place once per kind."""
    for document in list_documents(texts):
        yield from _read(document)


def _read(document: ScannedDocument) -> Iterator[PowerSentence]:
    view = unwrap_lines(build_plain_view(document.text))
    for start, end in split_sentences(view.text):
        said = view.text[start:end]
        seen: set[str] = set()
        for rule in load_power_rules():
            place = None if rule.kind in seen else _meet(rule, said)
            if place:
                seen.add(rule.kind)
                first, last = view.span_of(start + place[0], start + place[1])
                part, offset = document.part_at(first)
                quote = quote_excerpt(document.text[first:last])
                yield PowerSentence(
                    rule.kind, rule.description, quote, document.file, part.path, part.base_offset + offset
                )


def _meet(rule: PowerRule, said: str) -> tuple[int, int] | None:
    """Where a verb that is not forbidden and a thing meet in a sentence."""
    things = [match.span() for match in rule.thing.finditer(said)][:_TRIED_MAX]
    if not things:
        return None
    for verb in list(rule.verb.finditer(said))[:_TRIED_MAX]:
        if is_negated(said, verb.start()):
            continue
        for low, high in things:
            if 0 <= low - verb.end() <= rule.gap:
                return verb.start(), high
            if rule.any_order and 0 <= verb.start() - high <= rule.gap:
                return low, verb.end()
    return None
