"""A pseudo-locale: each text of the product with accents, in brackets, and 40 % longer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import django
from django.utils.translation import template as extraction

from tests.servers import ROOT
from tests.unit.studio.brackets import CLOSED, OPENED
from tests.unit.studio.compiled_catalog import compiled_catalog
from tests.unit.studio.script_texts import EDITOR, SERVED, literals
from tests.unit.studio.translation import TEMPLATES

LANGUAGE: Final = "qps"
_ACCENTED: Final = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "áƀćđéƒǧĥíĵķļḿñóþɋŕšťúṽŵẋýžÁƁĆĐÉƑǦĤÍĴĶĻṀÑÓÞɊŔŠŤÚṼŴẊÝŽ"
)
# What is filled in or drawn stays as it is.
_KEPT: Final = re.compile(r"%\(\w+\)[a-z]|%[a-z%]|\{[^{}]*\}|<[^<>]*>|&\w+;")
_PSEUDO_LONGER: Final = 0.4
_CALLS: Final = {name + lazy: name for name in ("gettext", "ngettext", "pgettext") for lazy in ("", "_lazy")} | {
    "_": "gettext"
}
_LITERAL: Final = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_IN_TEMPLATE: Final = re.compile(rf"\b(n?gettext|_)\(({_LITERAL})(?:\s*,\s*({_LITERAL}))?", re.DOTALL)
_PYTHON: Final = (
    *(ROOT / name for name in ("studio", "registry", "agent_api", "capability_rules", "features")),
    *(Path(django.__file__).parent / name for name in ("forms", "utils", "contrib/auth", "contrib/messages")),
)


def pseudo(text: str) -> str:
    """Such as `⟦Šávé ẋẋ⟧` for `Save`."""
    if not text.strip():
        return text
    parts, end = [], 0
    for kept in _KEPT.finditer(text):
        parts += [text[end : kept.start()].translate(_ACCENTED), kept[0]]
        end = kept.end()
    longer = round(len(_KEPT.sub("", text)) * _PSEUDO_LONGER)
    filler = " ".join("ẋ" * min(6, longer - done) for done in range(0, longer, 7))
    return f"{OPENED}{''.join(parts)}{text[end:].translate(_ACCENTED)} {filler}{CLOSED}"


def write_catalogs(folder: Path) -> None:
    """`django.mo` and `djangojs.mo` below `folder`, which is one of `LOCALE_PATHS`."""
    place = folder / LANGUAGE / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "django.mo").write_bytes(compiled_catalog(dict(map(_entry, {*_in_python(), *_in_templates()}))))
    scripts = {
        (one.words,) for file in (*SERVED, *EDITOR) for one in literals(file.read_text("utf-8")) if one.is_marked
    }
    (place / "djangojs.mo").write_bytes(compiled_catalog(dict(map(_entry, scripts))))


def _entry(message: tuple[str, ...]) -> tuple[str, str]:
    return "\0".join(message), "\0".join(pseudo(text.rpartition("\x04")[2]) for text in message)


def _in_python() -> Iterator[tuple[str, ...]]:
    for folder in _PYTHON:
        for path in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
                    yield from _called(_CALLS[node.func.id], [getattr(one, "value", None) for one in node.args])


def _called(name: str, given: list[object]) -> Iterator[tuple[str, ...]]:
    texts = [text for text in given[:2] if isinstance(text, str)]
    if name == "pgettext" and len(texts) == 2:
        yield ("\x04".join(texts),)
    elif name == "ngettext" and len(texts) == 2:
        yield tuple(texts)
    elif texts:
        yield (texts[0],)


def _in_templates() -> Iterator[tuple[str, ...]]:
    for path in TEMPLATES:
        source = extraction.templatize(path.read_text("utf-8"), origin=path.name)
        for name, first, second in _IN_TEMPLATE.findall(source):
            texts = [ast.literal_eval(text) for text in (first, second) if text]
            yield from _called("ngettext" if name == "ngettext" else "gettext", texts)
