"""`capability_id` and the `name` of an Agent Skill correspond one to one: `_` is `-` (docs/contract.md 6).

The format takes names in the letters of any language; an id has ASCII alone, and is proposed for those.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Final

NAME_LENGTH_MAX: Final = 64
_ASCII_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NOT_A_WORD: Final = re.compile(r"[^a-z0-9]+")
# Letters that have no ASCII letter below their marks.
_LATIN: Final = {
    "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "\u0131": "i"
}  # fmt: skip
_CYRILLIC: Final = dict(
    zip(
        "абвгґдеєёжзиіїйклмнопрстуфхцчшщыэюяўђјљњћџ",
        [
            "a",
            "b",
            "v",
            "g",
            "g",
            "d",
            "e",
            "ie",
            "e",
            "zh",
            "z",
            "i",
            "i",
            "i",
            "y",
            "k",
            "l",
            "m",
            "n",
            "o",
            "p",
            "r",
            "s",
            "t",
            "u",
            "f",
            "kh",
            "ts",
            "ch",
            "sh",
            "shch",
            "y",
            "e",
            "yu",
            "ya",
            "u",
            "dj",
            "j",
            "lj",
            "nj",
            "c",
            "dz",
        ],
        strict=True,
    )
) | {"ъ": "", "ь": ""}
_GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        [
            "a",
            "v",
            "g",
            "d",
            "e",
            "z",
            "i",
            "th",
            "i",
            "k",
            "l",
            "m",
            "n",
            "x",
            "o",
            "p",
            "r",
            "s",
            "s",
            "t",
            "y",
            "f",
            "ch",
            "ps",
            "o",
        ],
        strict=True,
    )
)
# The mark that makes a vowel of a Japanese word long has no sound of its own.
_LETTERS: Final = _LATIN | _CYRILLIC | _GREEK | {"\u30fc": ""}
# Scripts whose letters Unicode names by their sound: HIRAGANA LETTER KA, HANGUL SYLLABLE GA.
_NAMED_BY_SOUND: Final = re.compile(r"(?:HIRAGANA|KATAKANA) LETTER (?:SMALL )?([A-Z]{1,3})|HANGUL SYLLABLE ([A-Z]+)")


def is_ascii_skill_name(text: str) -> bool:
    """Whether it is a name from which an id follows: lower-case words joined by single hyphens, at most 64."""
    return len(text) <= NAME_LENGTH_MAX and _ASCII_NAME.fullmatch(text) is not None


def is_skill_name(text: str) -> bool:
    """Whether the Agent Skills format takes it as a name: the same in the letters and digits of any language."""
    normal = unicodedata.normalize("NFKC", text)
    words = normal.split("-")
    is_short = 0 < len(normal) <= NAME_LENGTH_MAX
    return is_short and normal == normal.lower() and all(word and word.isalnum() for word in words)


def capability_id_of(name: str) -> str:
    """The id of a valid name in ASCII. No two of them have one id: `-` becomes `_`, and no name contains `_`."""
    return name.replace("-", "_")


def skill_name_of(capability_id: str) -> str:
    """The name of a capability as an Agent Skill; the inverse of `capability_id_of`."""
    return capability_id.replace("_", "-")


def nearest_skill_name(text: str) -> str:
    """A name in ASCII made of another text (`Cold Email` is `cold-email`); empty where nothing of it is allowed.

    Several names may result in the same one: the caller reports that.
    """
    return _shortened(_NOT_A_WORD.sub("-", _to_ascii(text)))


def propose_skill_name(name: str, folder: str = "") -> str:
    """As `nearest_skill_name`, for a name that may be in other letters: where letters would be lost, the folder's name
    or else a name with a part that follows from the letters alone. Empty for a name without a letter or digit."""
    nearest = nearest_skill_name(name)
    if all(_to_ascii(character).isascii() for character in unicodedata.normalize("NFC", name) if character.isalnum()):
        return nearest or (folder if is_ascii_skill_name(folder) else "")
    if is_ascii_skill_name(folder):
        return folder
    number = hashlib.sha256(unicodedata.normalize("NFKC", name).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{nearest[: NAME_LENGTH_MAX - 9].strip('-') or 'skill'}-{number}"


def _shortened(text: str) -> str:
    return text.strip("-")[:NAME_LENGTH_MAX].strip("-")


def _to_ascii(text: str) -> str:
    """In lower case, with the Latin letters that sound alike where there are any; others stay."""
    written = (_sound(character) for character in unicodedata.normalize("NFC", text).lower())
    plain = unicodedata.normalize("NFKD", "".join(written)).casefold()
    return "".join(_LETTERS.get(character, character) for character in plain if not unicodedata.combining(character))


def _sound(character: str) -> str:
    if character.isascii():
        return character
    named = _NAMED_BY_SOUND.fullmatch(unicodedata.name(unicodedata.normalize("NFKC", character)[:1] or " ", ""))
    return (named[1] or named[2]).lower() if named else _LETTERS.get(character, character)
