"""Scrubs users' messages before they are stored: cut, and without addresses, long numbers, keys and passwords.

Names of people and of places stay: nothing separates them from other words. Who must not keep those keeps no messages
(`KEEP_UNMATCHED_DAYS`).
"""

from __future__ import annotations

import re
from typing import Final

from capability_rules.validation.security.detectors import secrets

LENGTH_MAX: Final = 200
# Cut after scrubbing: half of a key is no longer known as one.
_READ_MAX: Final = 1000
# What replaces the removed text.
PLACEHOLDERS: Final = re.compile(r"\[(?:address|link|number|secret)\]")
_ADDRESS: Final = re.compile(r"[^\s@<>()\[\],;:\"']{1,64}@[^\s@<>()\[\],;:\"']{1,190}")
_LINK: Final = re.compile(r"(?i)\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>\"']{1,900}")
# Digits that belong together although something is between them: phones, cards, accounts.
_DIGITS: Final = re.compile(r"\d(?:[ \u00a0./()+-]{0,2}\d){4,}")
_WORD: Final = re.compile(r"[^\s]{5,}")
_TOKEN: Final = re.compile(r"(?=[^\s]{0,200}[0-9])(?=[^\s]{0,200}[A-Za-z])[A-Za-z0-9_+/=.-]{16,}")
_SECRET_SAID: Final = re.compile(
    r"(?i)\b(pass(?:word|wort|phrase|wd|code)|pwd|pin|secret|token|api[ _-]?key|kennwort|contraseña|mot de passe)"
    r"(\s{0,3}(?:[:=]|is|ist|es|est)\s{0,3}|\s)[^\s]{3,200}"
)


def scrub(message: str) -> str:
    """At most `LENGTH_MAX` characters on one line, empty where nothing is left."""
    return _cut(scrub_text(" ".join(message[:_READ_MAX].replace("\0", " ").split())))


def scrub_text(text: str, *, most: int | None = None) -> str:
    """The same of a longer text, line by line as it is, cut to `most` characters."""
    text = text.replace("\0", " ")
    for hit in sorted(secrets.find_secrets(text), key=lambda one: one.start, reverse=True):
        text = f"{text[: hit.start]}[secret]{text[hit.end :]}"
    text = _LINK.sub("[link]", text)
    text = _ADDRESS.sub("[address]", text)
    text = _SECRET_SAID.sub(r"\1\2[secret]", text)
    text = _DIGITS.sub("[number]", text)
    text = _TOKEN.sub("[secret]", text)
    return _WORD.sub(_without_many_digits, text)[:most]


def _without_many_digits(found: re.Match[str]) -> str:
    word = found[0]
    return "[number]" if sum(letter.isdigit() for letter in word) > 4 else word


def _cut(text: str) -> str:
    """At the end of a word: half of one may look like another, and half of a mark like nothing."""
    if len(text) <= LENGTH_MAX:
        return text
    kept = text[: LENGTH_MAX - 1]
    return (kept[: kept.rfind(" ")] if " " in kept[LENGTH_MAX // 2 :] else kept) + "…"
