"""From the author's bytes to the text that we keep: plain UTF-8, LF, no BOM (docs/contract.md 1).

Line and column always refer to this text. They are the author's own too: a BOM is not counted, and CRLF and LF end the
same lines.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

BOM = "\ufeff"
FILE_BYTES_MAX = 1024 * 1024
BUNDLE_BYTES_MAX = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TextError:
    """Why a file is not a text: the code, the message, and its offset in code points (None: nowhere)."""

    code: str
    message: str
    hint: str
    offset: int | None = 0


def decode_text(raw: bytes | str) -> tuple[str, TextError | None]:
    """Normalize one file.

    A text is always returned, so that an editor has something to show: undecodable bytes are U+FFFD in it.
    """
    if isinstance(raw, str):
        return _decode_str(raw)
    try:
        return normalize_newlines(raw.decode("utf-8")), None
    except UnicodeDecodeError as error:
        before = normalize_newlines(raw[: error.start].decode("utf-8"))
        hint = "Save the file as UTF-8."
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            hint = "The file looks like UTF-16. Save it as UTF-8."
        fault = TextError("TEXT_NOT_UTF8", f"Byte 0x{raw[error.start]:02x} is not UTF-8", hint, len(before))
        return normalize_newlines(raw.decode("utf-8", errors="replace")), fault


def _decode_str(raw: str) -> tuple[str, TextError | None]:
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"U+{ord(raw[error.start]):04X} is one half of a surrogate pair and no character"
        fault = TextError("TEXT_NOT_UTF8", message, "Remove it, or write the whole character.", error.start)
        return normalize_newlines(raw.encode("utf-8", errors="replace").decode("utf-8")), fault
    return normalize_newlines(raw), None


def normalize_newlines(text: str) -> str:
    """Drop one leading BOM and turn CRLF into LF; nothing else is touched."""
    return text.removeprefix(BOM).replace("\r\n", "\n")


def is_binary(raw: bytes | str) -> bool:
    """Whether bytes are not text: not UTF-8, or with a NUL. A character that the end of a read has cut is forgiven."""
    if isinstance(raw, str):
        return False
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut = len(raw) > FILE_BYTES_MAX and error.end == len(raw) and error.reason == "unexpected end of data"
        return not is_cut or b"\0" in raw
    return b"\0" in raw


def size_bytes(raw: bytes | str) -> int:
    """The size of a text in UTF-8, in bytes; of bytes, their number."""
    return len(raw) if isinstance(raw, bytes) else len(raw.encode("utf-8", errors="replace"))


@dataclass(frozen=True)
class Lines:
    """Turns offsets (code points from 0) into lines and columns (from 1)."""

    text: str

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at != -1:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    def place(self, offset: int) -> tuple[int, int]:
        """`(line, column)` of an offset; one past the end is the place behind the last character."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def start_of(self, line: int) -> int:
        """The offset at which a line (from 1) begins."""
        return self._starts[min(line, len(self._starts)) - 1]
