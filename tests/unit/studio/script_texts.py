"""The texts in a script: those that go through `gettext`, and those that do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings

ROOT: Final = Path(settings.BASE_DIR)
SERVED: Final = tuple(sorted((*ROOT.glob("studio/static/studio/*.js"), *ROOT.glob("features/*/static/studio/*.js"))))
EDITOR: Final = tuple(sorted((ROOT / "frontend" / "editor").glob("*.js")))

# A regular expression begins where a value can; it is passed over as a comment is.
_PARTS: Final = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<template>`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*`)"""
    r"""|(?P<pattern>(?<=[(,=:\[!&|?{};\n])[ ]*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)""",
    re.DOTALL,
)
_FILLED: Final = re.compile(r"\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}")
# Two words, or one that begins as a sentence or a button does.
_WORDS: Final = re.compile(
    r"[^\W\d_]{2,}[,;:]? [^\W\d_]|\b[^\W\d_] [^\W\d_]{2,}|^[A-Z][a-z]+\W*$|[a-z]{2}[.…]$|^ ?[a-z]+: ?$"
)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
# Where anything but a sign is shown: the children of an element, the label of a control, what is read aloud.
_SHOWN_AFTER: Final = re.compile(
    r"(?:\}, |\b(?:button|choice|text|tick|group|lines|chips|plain|phrases|sentences|number)\(|textContent = "
    r"|\b(?:title|label|help|words): |aria-label\"[:,] |notify\(|tell\()$"
)
_HIDDEN_AFTER: Final = re.compile(
    r"(?:\bclass: |className = |querySelector(?:All)?\(|closest\(|matches\(|Error\(|key === |\baddEventListener\("
    r"|\bmatchMedia\()$"
)


@dataclass(frozen=True)
class Literal:
    """`words` as they were written, filled places of a template as `{}`, with what stands around them."""

    line: int
    words: str
    before: str
    after: str

    @property
    def is_marked(self) -> bool:
        """It is what `gettext` is given."""
        return bool(re.search(r"\bgettext\(\s*$", self.before))

    @property
    def looks_shown(self) -> bool:
        """It reads as words, or stands where words are shown."""
        is_key = self.after.startswith(":") and re.search(r"[{,]\s*$", self.before)
        if is_key or _HIDDEN_AFTER.search(self.before):
            return False
        is_placed = _SHOWN_AFTER.search(self.before) and _WORD.search(self.words.replace("{}", ""))
        return bool(is_placed or _WORDS.search(self.words))


def literals(source: str) -> Iterator[Literal]:
    """Each text of a script, in order; those within the filled places of a template too."""
    for part in _PARTS.finditer(source):
        line = source.count("\n", 0, part.start()) + 1
        around = source[max(0, part.start() - 60) : part.start()], source[part.end() : part.end() + 2]
        if part["text"]:
            yield Literal(line, part["text"][1:-1], *around)
        elif part["template"]:
            yield Literal(line, _FILLED.sub("{}", part["template"][1:-1]), *around)
            for filled in _FILLED.findall(part["template"]):
                yield from (Literal(line, inner.words, inner.before, inner.after) for inner in literals(filled[2:-1]))
