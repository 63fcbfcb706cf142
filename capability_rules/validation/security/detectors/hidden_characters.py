"""Characters that a reader does not see and a model does.

Sources: Unicode 15.1 (default-ignorable code points), UTS 51 (emoji: joiners, selectors, tag sequences), UAX 31
(joiners in Arabic, Indic and other scripts), UTS 55 and CVE-2021-42574 (bidirectional controls). What those allow is
never reported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from capability_rules.bundles.problem import Severity
from capability_rules.validation.security.engine import HITS_COUNTED_MAX, RuleHit
from capability_rules.validation.security.normalization import LATIN_TWINS

_TAGS = re.compile(r"[\U000e0000-\U000e007f]+")
_BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_SELECTORS = re.compile(r"[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_ZERO_WIDTH = re.compile(
    r"[\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufeff\u180e\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]+"
)
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f-\x9f]+")
_SEAM = re.compile(r"[A-Za-z](?=[\u0370-\u052f])|[\u0370-\u052f](?=[A-Za-z])")
_WORD = re.compile(r"[A-Za-z\u0370-\u052f]{1,40}")

# What shows as a flag: England, Scotland, Wales, and the other subdivisions of the same make (UTS 51, ED-14a).
_FLAG = re.compile(r"[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
# Scripts in which joiners and zero-width blanks belong to the spelling or to line breaking.
_JOINING = (
    "ARABIC", "SYRIAC", "MONGOLIAN", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU",
    "KANNADA", "MALAYALAM", "SINHALA", "TIBETAN", "MYANMAR", "KHMER", "THAI", "LAO", "HEBREW", "NKO", "HANGUL",
    "JAVANESE", "BALINESE", "THAANA", "ADLAM", "TAI ",
)  # fmt: skip
# Hidden characters in a row that are never an accident: two of those that part or join words, more where a script has
# them, and blanks that pass for none.
_RUN = 2
_SCRIPT_RUN = 4
_SELECTOR_RUN = 4
_BLANKS = re.compile(r"\u00ad{2,}|\u2800{8,}")


def find_hidden_characters(text: str) -> Iterator[RuleHit]:
    """All hidden characters of a document that no script and no emoji accounts for."""
    for check in (_controls,) if text.isascii() else _CHECKS:
        yield from islice(check(text), HITS_COUNTED_MAX)


def _tags(text: str) -> Iterator[RuleHit]:
    for match in _TAGS.finditer(text):
        if text[match.start() - 1 : match.start()] == "\U0001f3f4" and _FLAG.fullmatch(match.group()):
            continue
        said = "".join(chr(ord(char) - 0xE0000) for char in match.group()[:60] if 0xE0020 <= ord(char) < 0xE007F)
        says = f"{len(match.group())} tag characters, which nobody sees and a model reads"
        yield RuleHit("SEC_HIDDEN_TAGS", says, match.start(), match.end(), "error", quote=said)


def _bidi(text: str) -> Iterator[RuleHit]:
    """Overrides always; embeddings and isolates unless they are balanced on a line that holds right-to-left letters."""
    if not _BIDI.search(text):
        return
    at = 0
    for line in text.split("\n"):
        match = _BIDI.search(line)
        if match:
            yield from _bidi_of(line, at, match.start())
        at += len(line) + 1


def _bidi_of(line: str, at: int, first: int) -> Iterator[RuleHit]:
    override = max(line.find("\u202d"), line.find("\u202e"))
    if override >= 0:
        yield RuleHit("SEC_BIDI_CONTROL", "a bidirectional override", at + override, at + override + 24, "error")
    elif not _is_needed_bidi(line[:20_000]):
        says = "a bidirectional control in a line without right-to-left words"
        yield RuleHit("SEC_BIDI_CONTROL", says, at + first, at + first + 24)


def _is_needed_bidi(line: str) -> bool:
    opened = sum(line.count(char) for char in "\u202a\u202b\u2066\u2067\u2068")
    closed = sum(line.count(char) for char in "\u202c\u2069")
    return opened == closed and any(unicodedata.bidirectional(char) in ("R", "AL") for char in set(line))


def _selectors(text: str) -> Iterator[RuleHit]:
    """Two selectors in a row choose nothing: they carry bytes. So may one behind a letter that has no variants."""
    odd: list[re.Match[str]] = []
    for match in _SELECTORS.finditer(text):
        if len(match.group()) > 1:
            says = f"{len(match.group())} variation selectors in a row, which can carry a hidden text"
            quote = _smuggled(match.group())
            yield RuleHit("SEC_VARIATION_SELECTORS", says, match.start(), match.end(), "error", quote=quote)
        elif not _may_vary(text[match.start() - 1 : match.start()], match.group()):
            odd.append(match)
    severity: Severity = "error" if len(odd) >= _SELECTOR_RUN else "warning"
    for match in odd[:200]:
        says = "a variation selector behind a character that has no variants"
        yield RuleHit("SEC_VARIATION_SELECTORS", says, match.start() - 1, match.end(), severity)


def _may_vary(base: str, selector: str) -> bool:
    if not base or base.isspace():
        return False
    if selector in "\ufe0e\ufe0f":
        return not base.isalpha() or not base.isascii()
    return unicodedata.category(base) in ("Lo", "So", "Sm") or "MONGOLIAN" in unicodedata.name(base, "")


def _smuggled(run: str) -> str:
    """The bytes that a run of selectors most often carries (selector n is byte n), as far as they are text."""
    data = (ord(char) - 0xFE00 if ord(char) < 0xFF00 else ord(char) - 0xE0100 + 16 for char in run[:400])
    said = "".join(chr(byte) for byte in data if 32 <= byte < 127)
    return said if len(said) * 2 > len(run[:400]) else run


def _zero_width(text: str) -> Iterator[RuleHit]:
    """Runs, mixtures that spell bits, and single ones inside a Latin word, where they only defeat a search."""
    odd = [match for match in _ZERO_WIDTH.finditer(text) if not _is_needed_joiner(text, match)]
    kinds = {char for match in odd for char in match.group()}
    scattered = len(odd) >= 16 and len(kinds) >= 2
    for match in odd:
        run = match.group()
        if len(run) >= _RUN or scattered:
            in_a_row = f"{len(run)} zero-width characters in a row"
            says = in_a_row if len(run) >= _RUN else "zero-width characters that spell bits"
            yield RuleHit("SEC_HIDDEN_BITS", says, match.start(), match.end(), "error")
        elif _inside_word(text, match) or run[0] in "\u2061\u2062\u2063\u2064\u206a\u206b\u206c\u206d\u206e\u206f":
            says = "a zero-width character inside a word"
            yield RuleHit("SEC_ZERO_WIDTH", says, max(match.start() - 8, 0), match.end() + 8)


def _blanks(text: str) -> Iterator[RuleHit]:
    """Soft hyphens in a row, and Braille blanks on a line without any other Braille, which show nothing."""
    for match in _BLANKS.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.end() + 400].partition("\n")[0]
        if match.group()[0] == "\u00ad" or not any("\u2801" <= char <= "\u28ff" for char in line):
            says = f"{len(match.group())} characters in a row that show nothing"
            yield RuleHit("SEC_HIDDEN_BITS", says, match.start(), match.end(), "error")


def _is_needed_joiner(text: str, match: re.Match[str]) -> bool:
    if match.start() == 0 and match.group() == "\ufeff":
        return True
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if match.group() == "\u200d" and _is_emoji_part(before) and _is_emoji_part(after):
        return True
    return len(match.group()) < _SCRIPT_RUN and (_joins(before) or _joins(after))


def _is_emoji_part(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) in ("So", "Sk", "Sm") or char in "\ufe0f\U000e007f♀♂⚕")


def _joins(char: str) -> bool:
    if not char or char.isascii():
        return False
    name = unicodedata.name(char, "")
    return name.startswith(_JOINING) or (
        unicodedata.category(char) == "Lo" and name.startswith(("CJK", "HIRAGANA", "KATAKANA"))
    )


def _inside_word(text: str, match: re.Match[str]) -> bool:
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    return before.isalpha() and after.isalpha()


def _controls(text: str) -> Iterator[RuleHit]:
    """Control characters: a terminal obeys escape sequences and backspaces, a reader sees neither."""
    for match in _CONTROL.finditer(text):
        obeyed = any(char in "\x1b\x08\x9b\x7f" for char in match.group())
        says = "a terminal control sequence" if obeyed else "a control character"
        yield RuleHit("SEC_CONTROL_CHARACTER", says, match.start(), match.end() + 20, "error" if obeyed else "warning")


def _mixed_words(text: str) -> Iterator[RuleHit]:
    """Words of Latin letters with look-alikes from Cyrillic or Greek among them; `URLы` and `µm` are none."""
    end = 0
    for seam in _SEAM.finditer(text):
        if seam.start() < end:
            continue
        start = seam.start()
        while start > max(seam.start() - 20, end) and _WORD.match(text[start - 1]):
            start -= 1
        match = _WORD.match(text, start)
        end = match.end() if match else seam.end()
        if match and _passes_for_latin(match.group()):
            yield RuleHit("SEC_MIXED_SCRIPT", "a word with letters of two scripts that look alike", start, end)


def _passes_for_latin(word: str) -> bool:
    foreign = [char for char in word if not char.isascii()]
    if len(word) < 4 or len(word) - len(foreign) < 2 or not all(char in LATIN_TWINS for char in foreign):
        return False
    return not word.rstrip("".join(foreign)).isupper()


_CHECKS = (_tags, _bidi, _selectors, _zero_width, _blanks, _controls, _mixed_words)
