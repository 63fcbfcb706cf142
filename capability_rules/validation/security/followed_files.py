"""Files that a text orders the agent to follow: whatever they are, they are read as prose then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from capability_rules.bundles.problem import BUNDLE_FILES
from capability_rules.validation.security.normalization import normalize_text
from capability_rules.validation.security.rule_loader import load_phrases
from capability_rules.validation.security.text_corpus import ScannedDocument

_REACH: Final = 160
_PLACES_MAX: Final = 20
(_ORDER,) = load_phrases("followed_files", "order")


def find_followed_files(documents: Sequence[ScannedDocument]) -> set[str]:
    """The supporting files that some text names near an order to do what they say."""
    names = [document.file for document in documents if document.file not in BUNDLE_FILES]
    return {name for name in names if name and any(_orders(document.text, name) for document in documents)}


def _orders(text: str, file: str) -> bool:
    named, at = PurePosixPath(file).name, -1
    for _ in range(_PLACES_MAX):
        at = text.find(named, at + 1)
        if at < 0:
            return False
        paragraph = text[max(at - _REACH, 0) : at].rpartition("\n\n")[2] + text[at : at + _REACH].partition("\n\n")[0]
        if _ORDER.search(normalize_text(paragraph)):
            return True
    return False
