"""Full-text search of the pages of `docs/`: in memory, ranked, with excerpts."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString

from studio.pages.documentation.catalog import DocsPage, get_pages
from studio.pages.documentation.rendering import DocsHeading, identify_headings, prepare_text
from studio.pages.markdown import build_parser

TEXT_MAX: Final = 100
_WORDS_MAX: Final = 8
_RESULTS_MAX: Final = 20
_EXCERPT_MAX: Final = 220
_WORD: Final = re.compile(r"[^\W_]+(?:_[^\W_]+)*")
# What a word in the title of a page, or of a section, counts beside one in the text.
_OF_TITLE, _OF_HEADING = 8.0, 4.0


@dataclass(frozen=True)
class DocsResult:
    """A page that was found: its best section and an excerpt with the words marked."""

    page: DocsPage
    section: str
    anchor: str
    excerpt: SafeString


@dataclass(frozen=True)
class DocsResults:
    """The pages, the best first; `is_partial` where none of them has all words."""

    results: tuple[DocsResult, ...]
    is_partial: bool


@dataclass(frozen=True)
class _Section:
    page: DocsPage
    heading: DocsHeading
    text: str


@dataclass(frozen=True)
class _Index:
    sections: tuple[_Section, ...]
    # `{word: {number of the section: weight}}`, and the words in order.
    weights: dict[str, dict[int, float]]
    words: tuple[str, ...]


def search_docs(query: str) -> DocsResults:
    """Pages with the words of a query, or with words that begin so; of a query without words there are none."""
    words = list(dict.fromkeys(_WORD.findall(query[:TEXT_MAX].casefold())))[:_WORDS_MAX]
    index = _build_index()
    scores = [_score(word, index) for word in words]
    by_page: dict[str, set[int]] = defaultdict(set)
    for number, score in enumerate(scores):
        for section in score:
            by_page[index.sections[section].page.slug].add(number)
    most = max((len(found) for found in by_page.values()), default=0)
    best: dict[str, tuple[int, float, int]] = {}
    for section in {section for score in scores for section in score}:
        slug = index.sections[section].page.slug
        if len(by_page[slug]) < most:
            continue
        found = [score[section] for score in scores if section in score]
        best[slug] = max(best.get(slug, (0, 0.0, 0)), (len(found), sum(found), -section))
    ranked = sorted(best.values(), reverse=True)[:_RESULTS_MAX]
    results = tuple(_result(index.sections[-place], words) for _number, _score, place in ranked)
    return DocsResults(results, is_partial=0 < most < len(words))


def _score(word: str, index: _Index) -> dict[int, float]:
    """What each section counts for a word, rare words more; a plural finds the singular too."""
    found: dict[int, float] = {}
    for stem in {word, _singular(word)}:
        place = bisect_left(index.words, stem)
        while place < len(index.words) and _begins(index.words[place], stem):
            is_whole = index.words[place] in (word, stem)
            for section, weight in index.weights[index.words[place]].items():
                found[section] = max(found.get(section, 0.0), weight if is_whole else weight / 2)
            place += 1
    rarity = math.log(1 + len(index.sections) / (1 + len(found)))
    return {section: weight * rarity for section, weight in found.items()}


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _begins(word: str, stem: str) -> bool:
    """A short word begins nearly everything."""
    return word.startswith(stem) if len(stem) > 2 else word == stem


@cache
def _build_index() -> _Index:
    sections = tuple(section for page in get_pages().values() for section in _split(page))
    weights: dict[str, dict[int, float]] = defaultdict(dict)
    for number, section in enumerate(sections):
        counted = Counter(_WORD.findall(section.text.casefold()))
        titles = section.heading.title
        if section.heading.level == 1:
            titles += f" {section.page.title} {section.page.about}"
        of_titles = set(_WORD.findall(titles.casefold()))
        more = _OF_TITLE if section.heading.level == 1 else _OF_HEADING
        for word in {*counted, *of_titles}:
            weights[word][number] = math.log1p(counted[word]) + (more if word in of_titles else 0.0)
    return _Index(sections, dict(weights), tuple(sorted(weights)))


def _split(page: DocsPage) -> Iterator[_Section]:
    """The sections of a page as plain text, that before the first heading included."""
    tokens = build_parser().parse(prepare_text(page.text))
    headings = iter(identify_headings(tokens))
    here, texts = DocsHeading(1, "", page.title), list[str]()
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = next(headings)
            if texts or heading.level > 1:
                yield _Section(page, here, " ".join(texts))
            here, texts = heading, []
        elif token.type == "inline" and tokens[place - 1].type != "heading_open":
            texts.append("".join(" " if each.type.endswith("break") else each.content for each in token.children or ()))
        elif token.type in ("fence", "code_block"):
            texts.append(token.content)
    yield _Section(page, here, " ".join(texts))


def _result(section: _Section, words: list[str]) -> DocsResult:
    is_page = section.heading.level == 1
    title = "" if is_page else section.heading.title
    return DocsResult(section.page, title, "" if is_page else section.heading.anchor, _excerpt(section.text, words))


def _excerpt(text: str, words: list[str]) -> SafeString:
    """About the first word that was found, with each of them marked."""
    text = " ".join(text.split())
    wanted = "|".join(re.escape(_singular(word)) + (r"\w*" if len(word) > 2 else r"\b") for word in words)
    pattern = re.compile(rf"\b(?:{wanted})", re.IGNORECASE)
    first = pattern.search(text)
    begin = max(0, first.start() - _EXCERPT_MAX // 3) if first else 0
    begin = text.find(" ", begin) + 1 if begin else 0
    cut = text[begin : begin + _EXCERPT_MAX]
    if begin + _EXCERPT_MAX < len(text):
        cut = f"{cut.rpartition(' ')[0] or cut} …"
    parts, end = ["… " if begin else ""], 0
    for found in pattern.finditer(cut):
        parts += [escape(cut[end : found.start()]), f"<mark>{escape(found[0])}</mark>"]
        end = found.end()
    return SafeString("".join([*parts, escape(cut[end:])]))
