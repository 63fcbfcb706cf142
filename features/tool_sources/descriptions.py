"""Texts of other people's documents as one plain line: no markup, nothing hidden, and an end."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any, Final

_READ_MAX: Final = 20_000
_INLINE_TAGS: Final = re.compile(
    r"</?(?:a|abbr|b|code|em|i|kbd|mark|small|span|strong|sub|sup|u)(?:\s[^<>]{0,500})?>", re.IGNORECASE
)
_TAGS: Final = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]{0,500}>", re.DOTALL)
# Tokens that begin a role in the chat format of some model.
CONTROL_TOKEN: Final = re.compile(r"<\|[\w-]{1,40}\|>")
_IMAGES: Final = re.compile(r"!\[[^\]\n]{0,300}\]\([^)\s]{0,1000}\)")
_LINKS: Final = re.compile(r"\[([^\]\n]{1,300})\]\([^)\n]{0,1000}\)")
_BLOCKS: Final = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|```\w*|\|[-:| ]+\|$)", re.MULTILINE)
_EMPHASIS: Final = re.compile(r"(\*{2,3}|__)(?=\S)(.{1,300}?)(?<=\S)\1")
_SPACE: Final = re.compile(r"\s+")
_SENTENCE_END: Final = re.compile(r"[.!?。](?=\s|$)")
# Characters that say nothing to a reader: controls, directions, joiners, tags, private ones and halves.
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})


def clean_text(value: Any, *, most: int) -> str:
    """A text without Markdown, HTML and hidden characters on one line of at most `most` characters, cut after a
    sentence where it is longer; empty for anything but a text."""
    if not isinstance(value, str):
        return ""
    text = html.unescape(_TAGS.sub(" ", _INLINE_TAGS.sub("", value[:_READ_MAX])))
    text = _LINKS.sub(r"\1", _IMAGES.sub(" ", CONTROL_TOKEN.sub("", text)))
    text = _EMPHASIS.sub(r"\2", _BLOCKS.sub(" ", text))
    text = "".join(" " if _is_space(one) else one for one in text if _is_space(one) or not _is_hidden(one))
    return cut_text(_SPACE.sub(" ", text).strip(), most)


def _is_space(character: str) -> bool:
    return character in "\n\t\r" or character.isspace()


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN or "\ufe00" <= character <= "\ufe0f"


def cut_text(text: str, most: int) -> str:
    """The first whole sentences that fit, or as many words as fit and `…`."""
    if len(text) <= most:
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, most)]
    if ends and ends[-1] >= most // 2:
        return text[: ends[-1]]
    return (
        text[: most - 1].rpartition(" ")[0].rstrip(" ,;:") + "…" if " " in text[: most - 1] else text[: most - 1] + "…"
    )
