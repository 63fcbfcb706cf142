# ruff: noqa: RUF001 -- words and letters of other scripts are what is looked for here.
"""One text, seen the ways a reader or a model may see it.

A `View` is the text after one disguise was taken off; every offset in it leads back to the author's own text. The plain
view is always read. The others cost a pass each and are made only where the text shows a sign of the disguise.

The folding of a single character: NFKC, case folding, marks taken off Latin letters, nothing at all for what is
invisible (Unicode 15.1 default-ignorable code points). Folding goes character by character, not over the whole string,
because only then does each folded character have one origin.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

_CHUNK = 4096
_MARGIN = 160
_MOST_EXCERPT = 150_000
_LONGEST_QUOTE = 60
_INVISIBLE_RANGES = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
INVISIBLE = frozenset(chr(code) for low, high in _INVISIBLE_RANGES for code in range(low, high + 1))
_PLAIN = str.maketrans("‐‑‒–—―−‘’‚‛“”„‟«»ёəłđ", '-------\'\'\'\'""""""еald')

# Letters of another script that look like a Latin one. A small table of our own: what is drawn alike in common fonts.
CONFUSABLES = str.maketrans(
    "аеорсухіјѕһԁԛԝкмтвнгпαβειικνορτυχγηωςօսոհɑɡıøħŧᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "aeopcyxijshdqwkmtbhrnabeiikvoptuxynwsounhagiohtabcdefghijklmnoprstuvwyz",
)
# The closest of them: letters that no eye tells from a Latin one.
LATIN_TWINS = frozenset("аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅοαινρυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_LEET = str.maketrans("0134578@$!|", "oieastbasil")


@dataclass(frozen=True, slots=True)
class TextView:
    """`text` is what the rules read; `disguise` says in a few words what was taken off, "" for the plain view.

    `is_cut` marks a view that shows too many signs of its disguise to be read to the end.
    """

    text: str
    disguise: str
    origin: Callable[[int], int]
    is_cut: bool = False

    def span_of(self, start: int, end: int) -> tuple[int, int]:
        """Where in the author's text a stretch of the view is; a disguise may turn it round."""
        first, last = sorted((self.origin(start), self.origin(max(end - 1, start))))
        return first, last + 1


@lru_cache(maxsize=20_000)
def normalize_character(char: str) -> str:
    """Fold one character; at most three come of it, so that a ligature sign cannot blow a text up."""
    if char in INVISIBLE:
        return ""
    folded = unicodedata.normalize("NFKC", char).casefold().translate(_PLAIN)
    parts = unicodedata.normalize("NFD", folded)
    if parts[:1].isalpha() and (parts[:1].isascii() or "\u0370" <= parts[:1] <= "\u03ff"):
        folded = "".join(part for part in parts if not "\u0300" <= part <= "\u036f")
    return folded if len(folded) <= 3 else char.casefold()[:1]


def normalize_text(text: str) -> str:
    """Fold a short string, for callers that need no offsets."""
    return "".join(map(normalize_character, text))


def quote_excerpt(text: str, longest: int = _LONGEST_QUOTE) -> str:
    """At most so many characters of what was seen, on one line, with what is invisible spelled out as U+XXXX."""
    pieces: list[str] = []
    for char in text[:longest]:
        hidden = char in INVISIBLE or not (char.isprintable() or char.isspace())
        pieces.append(f"U+{ord(char):04X} " if hidden else char)
    said = " ".join("".join(pieces).split())
    return said if len(said) <= longest and len(text) <= longest else said[: longest - 1] + "…"


def build_plain_view(text: str) -> TextView:
    """The folded text. ASCII needs no map; other text gets one by chunks, drawn only where something was found."""
    if text.isascii():
        return TextView(text.lower(), "", lambda offset: offset)
    # A combining mark after a Latin letter is its own character: it goes too, as it would had it been composed.
    table = {ord(char): normalize_character(char) for char in set(text)}
    table.update((code, "") for code in range(0x300, 0x370))
    chunks = [text[start : start + _CHUNK].translate(table) for start in range(0, len(text), _CHUNK)]
    ends = list(accumulate(map(len, chunks)))
    inside: dict[int, list[int]] = {}

    def origin(offset: int) -> int:
        chunk = bisect_right(ends, offset)
        begin = chunk * _CHUNK
        if chunk not in inside:
            inside[chunk] = list(accumulate(map(len, map(table.__getitem__, map(ord, text[begin : begin + _CHUNK])))))
        return min(begin + bisect_right(inside[chunk], offset - (ends[chunk - 1] if chunk else 0)), len(text))

    return TextView("".join(chunks), "", origin)


_WRAP = re.compile(r"^(#{1,6} [^\n]*\n)|(?<=[^\n\0])\n(?=[^\W\d_])", re.MULTILINE)


def unwrap_lines(view: TextView) -> TextView:
    """The same text with a break inside a paragraph, but not behind a heading, read as a blank. No offset moves."""
    return TextView(_WRAP.sub(lambda match: match[1] or " ", view.text), view.disguise, view.origin)


# ------------------------------------------------------------------------------------------- views made only on a sign

_MIXED = re.compile(r"[a-z][\u0370-\u058fɑɡıøħŧ]|[\u0370-\u058fɑɡıøħŧ][a-z]|[ᴀ-ᴢꜰꜱɢɪɴʀ]{3}")
_LEET_WORD = re.compile(r"(?<![\w@$])(?=[\w@$!|]{0,12}[a-z])(?=[a-z]{0,12}[0134578@$!|])[a-z0-9@$!|]{3,16}(?![\w@$])")
_LEET_VOCABULARY = frozenset((
    "ignore", "disregard", "forget", "previous", "instructions", "instruction", "system", "prompt", "reveal",
    "override", "bypass", "without", "secret", "execute", "delete", "approval", "rules", "policy", "restrictions",
    "everything", "password", "passwords", "credentials", "conversation", "upload", "transfer", "payment", "private",
    "silently", "secretly", "confirmation", "permission", "disable",
))  # fmt: skip
_SPACED = re.compile(r"(?<![a-z0-9])(?:[a-z][ .\-_*·|]{1,3}){7,200}[a-z](?![a-z0-9])")
# One of the first, or two of the others, are a sign that a text is written backwards or in ROT13.
_TELLING = ("instructions", "system prompt", "ignore")
_COMMON = (
    "password", "upload", "delete", "secret", "private", "payment", "transfer", "without", "message", "conversation",
    "execute", "everything", "previous", "server", "credentials", "document", "never ", "their", "should", "every",
)  # fmt: skip
_ROT13_TABLE = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")


_REVERSED = tuple(tuple(word[::-1] for word in words) for words in (_TELLING, _COMMON))
_ROT13 = tuple(tuple(word.translate(_ROT13_TABLE) for word in words) for words in (_TELLING, _COMMON))


def _is_written(text: str, signs: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a text has one of the telling words, or two of the common ones, in a disguise."""
    telling, common = signs
    return any(word in text for word in telling) or sum(word in text for word in common) >= 2


def build_disguised_views(view: TextView) -> list[TextView]:
    """What else the plain view may be read as, where it shows a sign of it. Mostly empty."""
    text = view.text
    made: list[TextView] = []
    if not text.isascii():
        mixed = extract_excerpt(text, (match.span() for match in _MIXED.finditer(text)))
        made.append(_translated(mixed, view, CONFUSABLES, "written with letters of another script"))
    leet = extract_excerpt(text, _leet_words(text))
    made.append(_translated(leet, view, _LEET, "written with digits for letters"))
    if _is_written(text, _REVERSED):
        made.append(TextView(text[::-1], "written backwards", lambda offset: view.origin(len(text) - 1 - offset)))
    if _is_written(text, _ROT13):
        made.append(TextView(text.translate(_ROT13_TABLE), "written in ROT13", view.origin))
    return [each for each in made if each.text]


def _translated(part: Excerpt, view: TextView, table: dict[int, int], disguise: str) -> TextView:
    return TextView(part.text.translate(table), disguise, lambda offset: view.origin(part.origin(offset)), part.is_cut)


def _leet_words(text: str) -> Iterator[tuple[int, int]]:
    """Words that become telling words when their digits are read as letters.

    The different words are tried first: the pattern is slow, and most texts have no such word.
    """
    mixed = " ".join(word for word in set(text.split()) if not word.isalpha())
    if any(_is_leet(match.group()) for match in _LEET_WORD.finditer(mixed)):
        yield from (match.span() for match in _LEET_WORD.finditer(text) if _is_leet(match.group()))


def _is_leet(word: str) -> bool:
    return word.translate(_LEET) in _LEET_VOCABULARY


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The surroundings of some places of a text. `is_cut`: there were more than could be taken."""

    text: str
    origin: Callable[[int], int]
    is_cut: bool


def extract_excerpt(text: str, spans: Iterable[tuple[int, int]]) -> Excerpt:
    """`_MARGIN` characters to either side of each span, in order, parted by NUL; at most `_MOST_EXCERPT` in all."""
    windows: list[list[int]] = []
    size = 0
    is_cut = False
    for start, end in spans:
        low, high = max(start - _MARGIN, 0), end + _MARGIN
        if windows and low <= windows[-1][1]:
            size += high - windows[-1][1]
            windows[-1][1] = high
        else:
            size += high - low
            windows.append([low, high])
        if size > _MOST_EXCERPT:
            is_cut = True
            break
    begins = list(accumulate((min(high, len(text)) - low + 1 for low, high in windows), initial=0))

    def origin(offset: int) -> int:
        index = min(bisect_right(begins, offset) - 1, len(windows) - 1)
        return windows[index][0] + offset - begins[index]

    return Excerpt("\0".join(text[low:high] for low, high in windows), origin, is_cut)


def find_spaced_words(view: TextView) -> list[tuple[int, str]]:
    """Runs of letters set apart (`i g n o r e`), closed up again: (offset in the view, the letters)."""
    return [(m.start(), re.sub(r"[^a-z]", "", m.group())) for m in _SPACED.finditer(view.text)]


def build_replaced_view(
    text: str, sign: re.Pattern[str], replaced: re.Pattern[str], read: Callable[[str], str], disguise: str
) -> TextView | None:
    """A plain view of the surroundings of each `sign`, every match of `replaced` in them made what `read` makes of it.

    None where there is no sign.
    """
    part = extract_excerpt(text, (match.span() for match in sign.finditer(text)))
    if not part.text:
        return None
    pieces: list[str] = []
    here: list[int] = []
    there: list[int] = []
    size = last = 0
    for match in replaced.finditer(part.text):
        new = read(match.group())
        for piece, begins in ((part.text[last : match.start()], last), (new, match.start())):
            here.append(size)
            there.append(begins)
            pieces.append(piece)
            size += len(piece)
        last = match.end()
    here.append(size)
    there.append(last)
    pieces.append(part.text[last:])
    inner = build_plain_view("".join(pieces))

    def origin(offset: int) -> int:
        at = inner.origin(offset)
        piece = bisect_right(here, at) - 1
        # Inside a replaced piece every offset is the piece's own start: its characters have no places of their own.
        return part.origin(there[piece] if piece % 2 else there[piece] + at - here[piece])

    return TextView(inner.text, disguise, origin, part.is_cut)
