"""The lines between which a skill's text stands in a prompt, with a marker that no text of the prompt contains.

All skills of a prompt have one marker, so that a text cannot write the fence of another skill either: it follows from
everything that somebody else wrote, and an author of a part of that does not know the rest.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from capability_kit.bundles.bundle import Bundle
from capability_kit.text.sanitize import strip_surrogates


def fence(capability_id: str, text: str, marker: str) -> str:
    """The text between two lines that it cannot write itself."""
    return _fenced("skill", f"{capability_id} {marker}", text)


def fence_user(capability_id: str, text: str, marker: str) -> str:
    """As `fence`, of what the user said of a skill."""
    return _fenced("user", f"{capability_id} {marker}", text)


def fence_list(text: str) -> str:
    """The list of skills, whose descriptions authors wrote, between two lines that none of them can write."""
    seed = _hash(strip_surrogates(text))
    return _fenced("skills", next(marker for marker in _candidates(seed) if marker not in text.lower()), text)


def _fenced(tag: str, name: str, text: str) -> str:
    return f"<{tag} {name}>\n{text}\n</{tag} {name}>"


def choose_marker(bundles: Sequence[Bundle], texts: Sequence[str], preamble: str, beside: Iterable[str]) -> str:
    """Sixteen hex digits that stand in none of these, upper case or lower; the same ones for the same input.

    They follow from the preamble, the bundles with the digests of their files, and `texts`: of each bundle what a model
    may read. What stands `beside` these changes from turn to turn, so they do not follow from it.
    """
    parts = [preamble]
    for bundle, text in zip(bundles, texts, strict=True):
        parts += [
            f"{bundle.capability_id} {bundle.digest}",
            *(f"{one.path} {one.digest}" for one in bundle.files),
            text,
        ]
    seed = _hash(strip_surrogates("\n".join(parts)))
    written = "\n".join([*parts, *beside]).lower()
    own = [_lowered(bundle) for bundle in bundles]
    return next(marker for marker in _candidates(seed) if not any(marker in text for text in (written, *own)))


# By the id of a bundle, which is held here, so that no other one can have it.
_LOWERED: Final[dict[int, tuple[Bundle, str]]] = {}
_LOWERED_MAX: Final = 64


def _lowered(bundle: Bundle) -> str:
    """All that its author wrote, in lower case. A bundle does not change, and each step of a model asks for it."""
    kept = _LOWERED.get(id(bundle))
    if kept is None:
        while len(_LOWERED) >= _LOWERED_MAX:
            _LOWERED.pop(next(iter(_LOWERED)), None)
        kept = _LOWERED[id(bundle)] = (bundle, "\n".join(_strings(_written(bundle))).lower())
    return kept[1]


def _candidates(seed: str) -> Iterator[str]:
    return (_hash(f"{seed}/{counter}")[:16] for counter in itertools.count())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _written(bundle: Bundle) -> list[Any]:
    """What its author wrote; the paths of its files are among the parts."""
    return [
        bundle.skill_doc,
        bundle.capability,
        bundle.tools,
        bundle.ui_schemas,
        bundle.withheld_tools,
        bundle.replaced_by,
    ]


def _strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys too. Without recursion: how deep it is, is the author's choice."""
    left = [value]
    while left:
        found = left.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict):
            left += [*found, *found.values()]
        elif isinstance(found, list | tuple):
            left += found
