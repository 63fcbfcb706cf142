"""Files that a text orders the agent to follow: whatever they are, they are read as prose then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from capability_rules.bundles.problem import BUNDLE_FILES
from capability_rules.validation.security.literals import LiteralIndex, LiteralPlaces
from capability_rules.validation.security.normalization import normalize_text
from capability_rules.validation.security.rule_loader import load_phrases
from capability_rules.validation.security.sentences import paragraph_around
from capability_rules.validation.security.text_corpus import ScannedDocument

_REACH: Final = 160
_PLACES_MAX: Final = 20
(_ORDER,) = load_phrases("followed_files", "order")


def find_followed_files(documents: Sequence[ScannedDocument]) -> set[str]:
    """The supporting files that some text names near an order to do what they say."""
    files = [document.file for document in documents if document.file and document.file not in BUNDLE_FILES]
    of_name: dict[str, list[str]] = {}
    for file in files:
        of_name.setdefault(PurePosixPath(file).name, []).append(file)
    index, names, found = LiteralIndex(of_name), tuple(of_name), set[str]()
    for document in documents if names else ():
        places = LiteralPlaces(document.text, index)
        for name in places.keep_possible(names):
            if name not in found and any(_is_order(document.text, at) for at in places.find(name)[:_PLACES_MAX]):
                found.add(name)
    return {file for name in found for file in of_name[name]}


def _is_order(text: str, at: int) -> bool:
    return bool(_ORDER.search(normalize_text(paragraph_around(text, at, at, _REACH))))
