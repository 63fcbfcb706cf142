"""Capabilities that pass for another: ids that differ by what the eye does not see, names in mixed scripts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

from capability_rules.bundles.problem import RawFinding, Severity
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation.security.normalization import CONFUSABLES, INVISIBLE, LATIN_TWINS, normalize_text

_DIGITS = str.maketrans("01358", "olesb")
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("nn", "m"))
_NUMBERED = re.compile(r"_?v?\d{1,8}\Z")
_SHORTEST = 5
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"


class IdIndex(Collection[str]):
    """Published ids, with the few of them that an id could be taken for found without reading them all."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids: set[str] = set()
        self._by_look: dict[str, set[str]] = {}
        for each in ids:
            self.add(each)

    def __contains__(self, capability_id: object) -> bool:
        return capability_id in self._ids

    def __iter__(self) -> Iterator[str]:
        # A copy: another thread may add one meanwhile.
        return iter(self._ids.copy())

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, capability_id: str) -> None:
        """Take an id in."""
        self._ids.add(capability_id)
        for look in _looks(capability_id):
            self._by_look.setdefault(look, set()).add(capability_id)

    def discard(self, capability_id: str) -> None:
        """Leave an id out."""
        self._ids.discard(capability_id)
        for look in _looks(capability_id):
            self._by_look.get(look, set()).discard(capability_id)

    def near(self, own: str) -> set[str]:
        """Every id that `confusable_similarity` finds alike, and the id itself where it is there.

        No more than these: who checks ahead checks again where the answer has changed, and numbered ids that are
        published in turn are a slip apart without being alike.
        """
        alike = set[str]().union(*(self._by_look.get(look, ()) for look in _looks(own)))
        alike |= {each for each in _one_slip_from(own) if each in self._ids}
        return {each for each in alike if each == own or confusable_similarity(own, each)}


def _looks(capability_id: str) -> set[str]:
    return {_skeleton(capability_id), _squeeze(capability_id)}


def _one_slip_from(own: str) -> Iterator[str]:
    """All that `_one_slip_apart` accepts of what is written in the letters of ids, and more."""
    for at in range(len(own) + 1):
        before, after = own[:at], own[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in _LETTERS:
            yield before + letter + after
            yield before + letter + after[1:]


def check_identity(capability: object, published: ValidationContext) -> list[RawFinding]:
    """Look-alikes of a published id, and names whose letters pass for others.

    What is published may contain the capability's own id: a new revision is not a look-alike of itself. Of several
    look-alikes the worst is reported, then the first by its id.
    """
    if not isinstance(capability, dict):
        return []
    found: list[RawFinding] = []
    own, name = capability.get("capability_id"), capability.get("name")
    if isinstance(own, str):
        found.extend(_check_id(own[:64], published))
    if isinstance(name, str):
        found.extend(_check_name(name[:200], own, published))
    return found


def _check_id(own: str, published: ValidationContext) -> Iterator[RawFinding]:
    alike = ((severity, other) for other in published.ids_like(own) if (severity := confusable_similarity(own, other)))
    # "error" is before "warning" in the alphabet as well.
    for severity, other in sorted(alike)[:1]:
        message = f'The id "{own}" can be taken for "{other}", which is published.'
        hint = f'Choose an id that says what sets this capability apart from "{other}".'
        yield RawFinding("SEC_LOOKALIKE_ID", "capability.json", ("capability_id",), message, hint, severity=severity)


def confusable_similarity(own: str, other: str) -> Severity | None:
    """How alike two ids are: "error" if they look identical, "warning" if one typing error apart, None otherwise."""
    if own == other or abs(len(own) - len(other)) > 3 or min(len(own), len(other)) < _SHORTEST:
        return None
    if _is_next_of_kind(own, other):
        return None
    if _skeleton(own) == _skeleton(other):
        return "error"
    if _squeeze(own) == _squeeze(other):
        return "warning"
    return "warning" if len(own) > _SHORTEST and _one_slip_apart(own, other) else None


def find_lookalike(name: str, others: Iterable[str]) -> str:
    """The first of the other names that the eye takes for this one: in another case, in letters of another script or
    width, or as `confusable_similarity` has it for ids; empty where there is none. Accents tell names apart."""
    own = _fold_name(name)
    for other in sorted(others):
        folded = _fold_name(other)
        if name != other and (own == folded or confusable_similarity(own, folded) == "error"):
            return other
    return ""


def _fold_name(name: str) -> str:
    plain = "".join(char for char in unicodedata.normalize("NFKC", name).casefold() if char not in INVISIBLE)
    return plain.translate(CONFUSABLES)


def _is_next_of_kind(own: str, other: str) -> bool:
    """Numbered or versioned (`report_v2`, "plan_2025"), or singular and plural: honest names for two things.

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


def _check_name(name: str, own: object, published: ValidationContext) -> Iterator[RawFinding]:
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
    hint = "Write the name with the letters of one alphabet."
    yield RawFinding("SEC_LOOKALIKE_NAME", "capability.json", ("name",), message, hint)


def _is_mixed(word: str) -> bool:
    """A word of Latin letters with Cyrillic or Greek look-alikes among them."""
    scripts = {unicodedata.name(char, "").split(" ")[0] for char in word if char.isalpha()}
    if "LATIN" not in scripts or not scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"}:
        return False
    return len(word) >= 3 and all(char in LATIN_TWINS or "LATIN" in unicodedata.name(char, "LATIN") for char in word)


def _spelled(word: str) -> str:
    """A word with its foreign letters named, so that the reader sees the difference."""
    return "".join(char if char.isascii() else f"{char}=U+{ord(char):04X} " for char in word[:24]).strip()


def _published_twin(name: str, own: object, published: ValidationContext) -> str:
    slug = re.sub(r"[^a-z0-9]+", "_", normalize_text(name).translate(CONFUSABLES)).strip("_")
    return slug if slug != own and slug in published.ids_like(slug) else ""
