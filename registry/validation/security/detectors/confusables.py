"""Capabilities that pass for another: ids that differ by what the eye does not see, names in mixed scripts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from registry.bundles.problem import RawFinding, Severity
from registry.validation.security.normalization import CONFUSABLES, INVISIBLE, LATIN_TWINS, normalize_text

_DIGITS = str.maketrans("01358", "olesb")
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("nn", "m"))
_NUMBERED = re.compile(r"_?v?\d{1,8}\Z")
_SHORTEST = 5


def check_identity(capability: object, published_ids: Iterable[str]) -> list[RawFinding]:
    """Look-alikes of a published id, and names whose letters pass for others.

    `published_ids` may contain the capability's own id: a new revision is not a look-alike of itself.
    """
    if not isinstance(capability, dict):
        return []
    found: list[RawFinding] = []
    own, name = capability.get("capability_id"), capability.get("name")
    published = list(published_ids)
    if isinstance(own, str):
        found.extend(_check_id(own[:64], published))
    if isinstance(name, str):
        found.extend(_check_name(name[:200], own, published))
    return found


def _check_id(own: str, published: list[str]) -> Iterator[RawFinding]:
    for other in published:
        severity = confusable_similarity(own, other)
        if severity is None:
            continue
        message = f'The id "{own}" can be taken for "{other}", which is published.'
        hint = f'Choose an id that says what sets this capability apart from "{other}".'
        yield RawFinding("SEC_LOOKALIKE_ID", "capability.json", ("capability_id",), message, hint, severity=severity)
        return


def confusable_similarity(own: str, other: str) -> Severity | None:
    """How alike two ids are: "error" to the eye the same, "warning" one slip of the keyboard apart, None otherwise."""
    if own == other or abs(len(own) - len(other)) > 3 or min(len(own), len(other)) < _SHORTEST:
        return None
    if _is_next_of_kind(own, other):
        return None
    if _skeleton(own) == _skeleton(other):
        return "error"
    if _squeeze(own) == _squeeze(other):
        return "warning"
    return "warning" if len(own) > _SHORTEST and _one_slip_apart(own, other) else None


def _is_next_of_kind(own: str, other: str) -> bool:
    """Numbered or versioned (`report_v2`, `plan_2025`), or singular and plural: honest names for two things.

    `weight5` beside `weights` is not: only numbers set apart, or against a number, count as numbering.
    """
    if own + "s" == other or other + "s" == own or own + "es" == other or other + "es" == own:
        return True
    stem, other_stem = _NUMBERED.sub("", own), _NUMBERED.sub("", other)
    numbered = own != stem, other != other_stem
    return stem == other_stem and (all(numbered) or "_" in own[len(stem) :] or "_" in other[len(other_stem) :])


def _skeleton(word: str) -> str:
    """What the eye keeps of an id: digits as letters, `rn` as `m`, `i` as `l`, no underscores."""
    seen = word.translate(_DIGITS).replace("_", "")
    for pair, single in _PAIRS[:2]:
        seen = seen.replace(pair, single)
    return seen.replace("i", "l")


def _squeeze(word: str) -> str:
    return re.sub(r"(.)\1+", r"\1", _skeleton(word))


def _one_slip_apart(own: str, other: str) -> bool:
    """One letter changed, added or left out, or two neighbors swapped."""
    start = 0
    while start < min(len(own), len(other)) and own[start] == other[start]:
        start += 1
    rest, other_rest = own[start:], other[start:]
    if len(rest) == len(other_rest):
        swapped = rest[:2] == other_rest[:2][::-1] and rest[2:] == other_rest[2:]
        return swapped or (rest[1:] == other_rest[1:] and not (rest[:1] + other_rest[:1]).isdigit())
    return rest[1:] == other_rest or other_rest[1:] == rest


def _check_name(name: str, own: object, published: list[str]) -> Iterator[RawFinding]:
    hidden = sorted({f"U+{ord(char):04X}" for char in name if char in INVISIBLE - {"\u200c", "\u200d", "\ufe0f"}})
    mixed = next((word for word in re.findall(r"\w+", name) if _is_mixed(word)), "")
    styled = [
        char for char in name if char.isalnum() and not char.isascii() and unicodedata.normalize("NFKC", char).isascii()
    ]
    reason = ""
    if hidden:
        reason = f"invisible characters ({', '.join(hidden)})"
    elif mixed:
        reason = f'letters of two scripts in one word ("{_spelled(mixed)}")'
    elif len(styled) >= 2:
        reason = f'letters drawn like plain ones ("{_spelled("".join(styled[:12]))}")'
    if not reason:
        return
    taken = _published_twin(name, own, published)
    message = f"The name holds {reason}" + (f'; it reads like "{taken}", which is published.' if taken else ".")
    yield RawFinding(
        "SEC_LOOKALIKE_NAME", "capability.json", ("name",), message, "Write the name with the letters of one alphabet."
    )


def _is_mixed(word: str) -> bool:
    """A word of Latin letters with Cyrillic or Greek look-alikes among them."""
    scripts = {unicodedata.name(char, "").split(" ")[0] for char in word if char.isalpha()}
    if "LATIN" not in scripts or not scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"}:
        return False
    return len(word) >= 3 and all(char in LATIN_TWINS or "LATIN" in unicodedata.name(char, "LATIN") for char in word)


def _spelled(word: str) -> str:
    """A word with its foreign letters named, so that the reader sees the difference."""
    return "".join(char if char.isascii() else f"{char}=U+{ord(char):04X} " for char in word[:24]).strip()


def _published_twin(name: str, own: object, published: list[str]) -> str:
    slug = re.sub(r"[^a-z0-9]+", "_", normalize_text(name).translate(CONFUSABLES)).strip("_")
    return next((each for each in published if each == slug and each != own), "")
