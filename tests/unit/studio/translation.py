"""What a person reads in a template that no translation reaches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from django.conf import settings
from django.template.base import DebugLexer, TokenType

_ROOT: Final = Path(settings.BASE_DIR)
# Of the core and of features.
TEMPLATES: Final = sorted([*_ROOT.glob("templates/**/*.html"), *_ROOT.glob("features/*/templates/**/*.html")])
# Stands where a value or a translated text will stand.
FILLED: Final = "\x00"
READ_ALOUD: Final = ("title", "aria-label", "placeholder", "alt", "data-label", "label", "data-title", "data-confirm")
# What is the same in every language: names, units, systems and formats.
SAME_EVERYWHERE: Final = re.compile(
    r"\b(?:Capability Studio|Studio|UTC|JSON|YAML|CSV|SARIF|MCP|A2UI|HTTP|OpenAPI|URL|URI|API|OS|ID|id|SHA-256|zip|git"
    r"|GitHub|Linux|macOS|Windows|Python|Microsoft Excel|Ctrl|KiB|MiB|ms|linux|darwin|win32|common|[\w-]+\.(?:md|json)"
    r"|[a-z_]+\.[a-z_]+|[a-zA-Z]+_[a-zA-Z_]+)\b|https?://\S+|\b(?:references|scripts|assets)/|&[a-z]+;"
)
_BLOCKS: Final = {"blocktranslate": "endblocktranslate", "blocktrans": "endblocktrans", "comment": "endcomment"}
# A word that a filter or an include writes: default:"none", pluralize, with title="History".
_WRITTEN: Final = re.compile(
    r"""\|pluralize|\|\w+:["'][^"']*[^\W\d_]{2,}|\b(?:title|about|label|words)=["'][^"']*[^\W\d_]{2,}"""
)
_FORMATS: Final = re.compile(
    r"""\|(?:date|time|floatformat|default_if_none|json_script):["'][^"']*["']|\|default:["'][a-z]+/["']"""
)
_CODE: Final = ("code", "pre", "kbd", "samp", "script", "style")
# Blocks that hold names of classes.
_NAMES: Final = ("main_class", "app_class")


def untranslated(source: str) -> Iterator[tuple[int, str]]:
    """The line and the words of each text and attribute that a person meets and no translation does."""
    reader = _Reader()
    reader.feed(_plain(source))
    reader.close()
    yield from _written_by_tags(source)
    for line, words in reader.found:
        rest = SAME_EVERYWHERE.sub(" ", words.replace(FILLED, " "))
        if re.search(r"[^\W\d_]{2,}", rest):
            yield line, " ".join(words.replace(FILLED, "…").split())


def _written_by_tags(source: str) -> Iterator[tuple[int, str]]:
    for token in DebugLexer(source).tokenize():
        is_tag = token.token_type == TokenType.BLOCK and token.contents.startswith("include ")
        if (is_tag or token.token_type == TokenType.VAR) and _WRITTEN.search(_FORMATS.sub("", token.contents)):
            yield token.lineno or 0, token.contents


def _plain(source: str) -> str:
    """The HTML with each tag of the template language gone or, where it writes something, filled; lines are kept."""
    parts, end = [], ""
    for token in DebugLexer(source).tokenize():
        start, stop = token.position or (0, 0)
        lines = "\n" * source[start:stop].count("\n")
        if end:
            # Inside what a translation reaches, or nobody reads.
            parts.append(lines)
            end = "" if token.token_type == TokenType.BLOCK and token.contents.split()[0] == end else end
        elif token.token_type == TokenType.TEXT:
            parts.append(token.contents)
        elif token.token_type == TokenType.BLOCK:
            words = token.contents.split()
            end = "endblock" if words[0] == "block" and words[1] in _NAMES else _BLOCKS.get(words[0], "")
            parts.append(lines)
        elif token.token_type == TokenType.VAR:
            parts.append(FILLED + lines)
    return "".join(parts)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[int, str]] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        read = [given[name] for name in READ_ALOUD if name in given]
        if tag == "input" and given.get("type") in ("submit", "button", "reset"):
            read.append(given.get("value", ""))
        self.found += [(self.getpos()[0], words) for words in read]
        if tag in _CODE:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside and data.strip():
            line = self.getpos()[0] + data[: len(data) - len(data.lstrip())].count("\n")
            self.found.append((line, data))
