"""A language in which every message stands in brackets: what a page shows outside of them was never translated."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from html.parser import HTMLParser
from typing import Any, Final

from django.utils.translation import trans_real

from tests.unit.studio.translation import READ_ALOUD, SAME_EVERYWHERE

OPENED, CLOSED = "⟦", "⟧"
# What holds data, or a text that somebody wrote. The registry's own texts (findings, changes, verdicts) are the same
# for an agent and a person, in every language: they stand in translate="no".
_DATA: Final = ("code", "pre", "kbd", "samp", "bdi", "time", "textarea", "script", "style", "del", "ins", "noscript")
_DATA_CLASSES: Final = ("mono", "row-name", "sides-text", "avatar", "tile")
_VOID: Final = ("input", "link", "meta", "br", "hr", "img", "col", "rect", "line", "path", "circle", "source", "use")


class Brackets(NullTranslations):
    """As Django asks a catalogue."""

    domain = "django"

    def gettext(self, message: str) -> str:
        return f"{OPENED}{message}{CLOSED}" if message.strip() else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(message)

    def npgettext(self, context: str, msgid1: str, msgid2: str, n: int) -> str:
        return self.ngettext(msgid1, msgid2, n)

    def language(self) -> str:
        return "en"

    def to_language(self) -> str:
        return "en"


@contextmanager
def everything_in_brackets() -> Iterator[None]:
    """This thread speaks the language."""
    active: Any = vars(trans_real)["_active"]
    before = getattr(active, "value", None)
    active.value = Brackets()
    try:
        yield
    finally:
        if before is None:
            del active.value
        else:
            active.value = before


def outside_brackets(html: str, data: Collection[str] = ()) -> list[str]:
    """Each text or attribute of a page with words that no bracket holds; `data` are words that somebody chose."""
    reader = _Reader()
    reader.feed(html)
    known = frozenset(data)
    rests = (" ".join(SAME_EVERYWHERE.sub(" ", text).split()) for text in reader.found)
    return [rest for rest in rests if not known.issuperset(re.findall(r"[^\W\d_]{2,}", rest))]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.inside: list[tuple[str, bool]] = []
        # A message may hold elements: how deep in brackets the text is goes on from one to the next.
        self.depth = 0

    @property
    def is_data(self) -> bool:
        return any(is_data for _, is_data in self.inside)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given: dict[str, Any] = dict(attrs)
        classes = (given.get("class") or "").split()
        is_data = tag in _DATA or given.get("translate") == "no" or any(name in classes for name in _DATA_CLASSES)
        if not self.is_data and not is_data:
            self.found += [_outside(given[name] or "", 0)[0] for name in READ_ALOUD if name in given]
        if tag not in _VOID:
            self.inside.append((tag, is_data))

    def handle_endtag(self, tag: str) -> None:
        while self.inside and tag not in _VOID:
            if self.inside.pop()[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        rest, self.depth = _outside(data, self.depth)
        if not self.is_data:
            self.found.append(rest)


def _outside(text: str, depth: int) -> tuple[str, int]:
    kept = []
    for letter in text:
        depth += (letter == OPENED) - (letter == CLOSED)
        if depth == 0 and letter != CLOSED:
            kept.append(letter)
    return "".join(kept), depth
