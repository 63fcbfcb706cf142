"""What speaks for a sentence that the classifier takes for an order against the user."""

from __future__ import annotations

from typing import Final

from capability_rules.validation.security.normalization import normalize_text
from capability_rules.validation.security.power_sentences import grants_power
from capability_rules.validation.security.rule_loader import load_phrases
from capability_rules.validation.security.sentences import paragraph_around

_REACH: Final = 160
_PARAGRAPH_ENDS: Final = ("\n\n", "\0")
(_SIGN,) = load_phrases("second_signs", "sign")
# Of the powers those that ordinary texts seldom grant.
_POWERS: Final = frozenset({"persistence", "credential"})
_HIDDEN: Final = ("<!--", "-->")


def has_second_sign(text: str, start: int, end: int) -> bool:
    """Whether the paragraph around a sentence names an address, runs a command, says what attacks are after, grants a
    power that few texts need, or is hidden from readers."""
    opening = text[max(start - _REACH, 0) : start] + text[start : start + len(_HIDDEN[0]) + 1]
    if opening.rfind(_HIDDEN[0]) > opening.rfind(_HIDDEN[1]):
        return True
    said = normalize_text(paragraph_around(text, start, end, _REACH, _PARAGRAPH_ENDS)).replace("\n", " ")
    return bool(_SIGN.search(said)) or grants_power(said, _POWERS)
