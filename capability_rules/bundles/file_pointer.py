"""Stands for a supporting file that is kept by its digest: what is not text, or too large to be kept as one.

A pointer is a text and lives where the texts of a bundle live, so that drafts, revisions, reviews, diffs and backups
need no rules of their own. Its first lines say what the file is; below them is what could be read of it, for those who
compare and for the checks. It is made from the bytes alone, and a pointer whose bytes nobody brought is refused where
it would be stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.bundles import supporting_files
from capability_rules.bundles.text import FILE_BYTES_MAX

FIRST_LINE: Final = "capability-studio: this file is kept by its digest"
# One file, and all of one capability that are kept by their digests, in bytes.
CONTENT_BYTES_MAX: Final = supporting_files.CONTENT_BYTES_MAX
CAPABILITY_BYTES_MAX: Final = 50 * 1024 * 1024
# All pointers of one capability, in bytes; its texts have their own limit.
POINTERS_BYTES_MAX: Final = 2 * 1024 * 1024
# What is read of a document, and of a text that is too large or for which there is no room, in code points.
TEXT_MAX: Final = 16_384
PLAIN_TEXT_MAX: Final = 1024
TEXT_TYPES: Final = ("text/plain", "text/html", "image/svg+xml")
ALL_READ, NOT_READ = "all", "not read"
_FORM: Final = re.compile(
    re.escape(FIRST_LINE) + r"\ndigest: (?P<digest>sha256:[0-9a-f]{64})\nsize: (?P<size>[0-9]{1,12})"
    r"\ntype: (?P<type>[a-z]+/[a-z0-9.+-]{1,100})\n"
    r"(?:contains: (?P<contains>[a-z ,]{1,200})\n)?text: (?P<read>[a-z0-9 ]{1,60})\n(?:\n(?P<text>.+))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class FilePointer:
    """`size` in bytes; `media_type` by content, not by name; `contains` what may run or is hidden in it; `read` says
    how much of its text is in `text`."""

    digest: str
    size: int
    media_type: str
    contains: tuple[str, ...] = ()
    read: str = NOT_READ
    text: str = ""

    def write(self) -> str:
        """The text that stands for the file."""
        lines = [FIRST_LINE, f"digest: {self.digest}", f"size: {self.size}", f"type: {self.media_type}"]
        lines += [f"contains: {', '.join(self.contains)}"] if self.contains else []
        return "\n".join([*lines, f"text: {self.read}", *(["", self.text] if self.text else []), ""])

    @property
    def is_text(self) -> bool:
        """Whether agents get it as a text: there was only no room for it among the others."""
        return self.media_type in TEXT_TYPES and self.size <= FILE_BYTES_MAX

    def facts(self) -> dict[str, Any]:
        """`digest`, `size`, `type` of what is not text and, where there is something, `contains`."""
        found: dict[str, Any] = {"digest": self.digest, "size": self.size}
        found |= {} if self.is_text else {"type": self.media_type}
        return found | ({"contains": list(self.contains)} if self.contains else {})


def parse_pointer(text: str) -> FilePointer | None:
    """The pointer that a text is; None for every other text, also for one that merely begins as one."""
    match = _FORM.fullmatch(text) if text.startswith(FIRST_LINE) else None
    if match is None:
        return None
    contains = tuple(match["contains"].split(", ")) if match["contains"] else ()
    read = (match["text"] or "").removesuffix("\n")
    return FilePointer(match["digest"], int(match["size"]), match["type"], contains, match["read"], read)


def is_pointer(content: bytes | str) -> bool:
    """Whether it is one, or begins as one: what begins so and is none is stored nowhere."""
    return isinstance(content, str) and content.startswith(FIRST_LINE)
