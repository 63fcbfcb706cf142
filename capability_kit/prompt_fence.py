"""The lines between which a skill's text stands in a prompt, with a marker that no text of the prompt contains.

All skills of a prompt have one marker, so that a text cannot write the fence of another skill either: it follows from
everything that somebody else wrote, and an author of a part of that does not know the rest.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from capability_kit.bundles.bundle import Bundle
from capability_kit.text.sanitize import strip_surrogates


def fence(capability_id: str, text: str, marker: str) -> str:
    """The text between two lines that it cannot write itself."""
    name = f"{capability_id} {marker}"
    return f"<skill {name}>\n{text}\n</skill {name}>"


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
    strings = (string for bundle in bundles for string in _strings(_written(bundle)))
    written = "\n".join([*parts, *strings, *beside]).lower()
    return next(marker for marker in _candidates(seed) if marker not in written)


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
