"""Sentences that say what an agent may do: fetch a text, write what lasts, ask for a secret. Not findings: a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from registry.bundles.problem import Path
from registry.validation.security.engine import ScanBudget, SearchedText
from registry.validation.security.normalization import build_plain_view, unwrap_lines
from registry.validation.security.scanner import quote_excerpt
from registry.validation.security.sentence_rules import load_literal_index, load_power_rules
from registry.validation.security.sentences import SentenceText, find_ordering_sentences
from registry.validation.security.text_corpus import AuthorText, ScannedDocument, list_documents


@dataclass(frozen=True, slots=True)
class PowerSentence:
    """`kind` is a table of powers.toml; `offset` is in the string that `path` leads to, in code points."""

    kind: str
    description: str
    quote: str
    file: str
    path: Path
    offset: int


def find_power_sentences(texts: Iterable[AuthorText]) -> Iterator[PowerSentence]:
    """Every such sentence, file by file in the order of the text, each place once per kind."""
    for document in list_documents(texts):
        yield from _read(document)


def _read(document: ScannedDocument) -> Iterator[PowerSentence]:
    budget = ScanBudget(left=20_000 + len(document.text) // 4)
    searched = SearchedText(unwrap_lines(build_plain_view(document.text)), load_literal_index())
    found = find_ordering_sentences(SentenceText(searched), budget, load_power_rules())
    hits = sorted(found, key=lambda hit: (hit.start, hit.end))
    past: dict[str, int] = {}
    for hit in hits:
        if hit.start < past.get(hit.code, 0):
            continue
        past[hit.code] = hit.end
        part, offset = document.part_at(hit.start)
        quote = quote_excerpt(document.text[hit.start : hit.end])
        yield PowerSentence(hit.code, hit.says, quote, document.file, part.path, part.base_offset + offset)
