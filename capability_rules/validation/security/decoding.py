"""Text inside text: one level of base64, hex, character references and escapes is decoded and read as well."""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from capability_rules.validation.security.normalization import TextView, build_plain_view, build_replaced_view

# Long enough for a short command, too long for a word. Hex runs are checked separately; a hash decodes to no text.
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}){16,}(?![0-9A-Za-z])")
_HEX_SPACED = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}[ ,:]){15,}[0-9A-Fa-f]{2}(?![0-9A-Za-z])")
_BASE32 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Z2-7]{24,}={0,6}(?![A-Za-z0-9+/_=-])")
_ESCAPE = re.compile(
    r"&#[xX]?[0-9a-fA-F]{2,6};|%[2-7][0-9a-fA-F]|\\x[2-7][0-9a-fA-F]|\\u(?:\{[0-9a-fA-F]{2,6}\}|"
    r"[0-9a-fA-F]{4})"
)
_ESCAPE_SIGN = re.compile(r"&#[xX]?[0-9a-fA-F]{2,6};|%[4-7][0-9a-fA-F]|\\x[2-7][0-9a-fA-F]|\\u\{?00[4-7]")
# What is fixed comes first, the look behind it after: the search skips to the signs that a match begins with.
_BROKEN_WORD = re.compile(
    r"(?:\*\*(?<=[A-Za-z]\*\*)|__(?<=[A-Za-z]__)|``(?<=[A-Za-z]``)|<(?<=[A-Za-z]<)(?:!--[^>\n]{0,40}--|/?[a-zA-Z]{1,6}/?)>)"
    r"(?=[A-Za-z])"
)
# Text cut into pieces that code puts together: "cu" + "rl".
_SEAM = re.compile(
    r"[\"'](?:(?<=\w[\"']) {0,2}(?:\+|\.\.?) {0,2}[\"'](?=[\w ./:|-])|(?<=[ ./:|-][\"']) {0,2}\+ {0,2}[\"'](?=\S))"
)
# Disguises in which nobody writes an honest order.
BASE64_OR_HEX: Final = "encoded as base64 or hex"
ENCODED: Final = frozenset({BASE64_OR_HEX, "written in ROT13", "written backwards"})
# A joined text of this size is far more than any honest bundle encodes.
_MOST_DECODED = 1_500_000
_LETTERS = re.compile(r"[A-Za-z\u0400-\u04ff\u3040-\u9fff]{2,}")


def find_decoded_pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, what it says) for every base64, base32 or hex run that decodes to text, wrapped ones as a whole."""
    budget = _MOST_DECODED
    for start, end, blob in _runs(text):
        if budget <= 0:
            return
        said = _read_base64(blob)
        if said is not None:
            budget -= len(said)
            yield start, end, said
    # Neither has a blank in it, so that a text without a long word has none.
    long_words = " ".join(word for word in text.split() if len(word) >= 24)
    for match in _BASE32.finditer(text) if _BASE32.search(long_words) else ():
        said = _read_base32(match.group())
        if said is not None and (budget := budget - len(said)) > 0:
            yield match.start(), match.end(), said
    for pattern in (_HEX, _HEX_SPACED):
        if pattern is _HEX and not _HEX.search(long_words):
            continue
        for match in pattern.finditer(text):
            said = _as_text(_unhex(match.group()))
            if said is not None and (budget := budget - len(said)) > 0:
                yield match.start(), match.end(), said


def _read_base32(blob: str) -> str | None:
    body = blob.rstrip("=")
    try:
        return _as_text(base64.b32decode(body + "=" * (-len(body) % 8)))
    except (binascii.Error, ValueError):
        return None


def _runs(text: str) -> Iterator[tuple[int, int, str]]:
    """base64 runs, those that only a line break (and indentation) parts joined, as mail and PEM wrap them."""
    start = end = -1
    pieces: list[str] = []
    for match in _BASE64.finditer(text):
        if pieces and match.start() - end <= 8 and text[end : match.start()].strip(" \t>\"'+\\") == "\n":
            pieces.append(match.group())
        else:
            if pieces:
                yield start, end, "".join(pieces)
            start, pieces = match.start(), [match.group()]
        end = match.end()
    if pieces:
        yield start, end, "".join(pieces)


def _read_base64(blob: str) -> str | None:
    body = blob.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        raw = base64.b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return None
    return _as_text(raw)


def _unhex(blob: str) -> bytes:
    digits = re.sub(r"0x|[ ,:]", "", blob)
    return bytes.fromhex(digits) if len(digits) % 2 == 0 else b""


def _as_text(raw: bytes) -> str | None:
    """Bytes as text, where they are text: UTF-8 (or UTF-16LE, as PowerShell wants it), printable, with words in it."""
    if len(raw) > 8 and raw[1:16:2].count(0) >= 4:
        raw = raw.replace(b"\0", b"")
    try:
        said = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if len(said) < 8 or not _LETTERS.search(said):
        return None
    return said if all(char.isprintable() or char in "\n\r\t" for char in said) else None


def build_decoded_view(pieces: list[tuple[int, int, str]]) -> TextView | None:
    """All decoded pieces as one view; whatever is found in a piece is reported where the encoded run begins."""
    if not pieces:
        return None
    starts: list[int] = []
    at = 0
    for _, _, said in pieces:
        starts.append(at)
        at += len(said) + 1
    inner = build_plain_view("\0".join(said for _, _, said in pieces))

    def origin(offset: int) -> int:
        return pieces[max(bisect_right(starts, inner.origin(offset)) - 1, 0)][0]

    return TextView(inner.text, BASE64_OR_HEX, origin)


def build_escape_views(text: str) -> list[TextView]:
    """The text with character references and escapes read, and with words fixed that markup breaks in the middle."""
    made = []
    if "&#" in text or "%" in text or "\\x" in text or "\\u" in text:
        made.append(build_replaced_view(text, _ESCAPE_SIGN, _ESCAPE, _unescape, "written with escapes"))
    made.append(build_replaced_view(text, _BROKEN_WORD, _BROKEN_WORD, lambda _: "", "broken up by markup"))
    if "+" in text or ".." in text:
        made.append(build_replaced_view(text, _SEAM, _SEAM, lambda _: "", "put together from pieces"))
    return [view for view in made if view is not None]


def _unescape(escape: str) -> str:
    digits = re.sub(r"^(?:&#|%|\\x|\\u)|[{};]", "", escape)
    base = 10 if escape.startswith("&#") and escape[2] not in "xX" else 16
    try:
        return chr(int(digits.lstrip("xX"), base))
    except (ValueError, OverflowError):
        return escape
