"""Whether two capabilities are for one intent, as far as sentence vectors tell: a message leads to the better of them,
and the gate names the other (docs/matching.md).

The cosine of the middles of their sentences alone says what they are about, not what they are for: *todo list* and
*todo list update*, or one library in two programming languages, come as near as two skills for reviewing code. So it is
asked besides how many sentences of each come nearer to the other than to the rest of their own, and whether their names
tell them apart.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from capability_kit.text.tokenizer import stems
from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.ngram_index import Floats

# Chosen by bench/intent_duplicates.py, whose figures are in docs/matching.md, so that at most one warning in ten is
# wrong. The same for both models.
_SIMILARITY_MIN: Final = 0.65
_OVERLAP_MIN: Final = 0.35
# With fewer sentences than this in one of the two, the overlap is of three or four: the middles must be nearer.
_SENTENCES_MIN: Final = 8
_SIMILARITY_MIN_OF_FEW: Final = 0.83
# A word counts as used where another begins with its first letters: `reviewer` where it says "review".
_PREFIX_MIN: Final = 4


class KnownIntent(NamedTuple):
    """A capability with the vectors of its samples, shape (samples, dimension), and their middle, of unit length;
    `vectors` is None where there are too many to be kept."""

    profile: CapabilityProfile
    middle: Floats
    vectors: Floats | None


def are_duplicates(first: KnownIntent, second: KnownIntent) -> bool:
    """Whether a message for one is for the other as well. Never for texts in two languages, whose vectors are not
    compared with each other."""
    likeness = float(first.middle @ second.middle)
    if likeness < _SIMILARITY_MIN:
        return False
    if first.vectors is None or second.vectors is None:
        return likeness >= _SIMILARITY_MIN_OF_FEW
    if min(len(first.vectors), len(second.vectors)) < _SENTENCES_MIN and likeness < _SIMILARITY_MIN_OF_FEW:
        return False
    is_mixed = measure_overlap(first.vectors, second.vectors) >= _OVERLAP_MIN
    return is_mixed and not have_distinct_names(first.profile, second.profile)


def measure_overlap(first: Floats, second: Floats) -> float:
    """How many sentences of each come nearer to the other than to the rest of their own, 0 to 1; the mean of both."""
    return (_share_nearer(first, second) + _share_nearer(second, first)) / 2


def _share_nearer(own: Floats, other: Floats) -> float:
    within = own @ own.T
    rest = within[~np.eye(len(own), dtype=bool)].reshape(len(own), -1)
    return float((mean_of_two_nearest(own @ other.T) > mean_of_two_nearest(rest)).mean())


def mean_of_two_nearest(likeness: Floats) -> Floats:
    """Of each row; -1 where there is nothing to be near to."""
    if not likeness.shape[1]:
        return np.full(len(likeness), -1, np.float32)
    return np.asarray(np.sort(likeness, axis=1)[:, -2:].mean(axis=1), np.float32)


def have_distinct_names(first: CapabilityProfile, second: CapabilityProfile) -> bool:
    """Whether the name of each has a word that the other one never uses: *Cosmos for Python* and *Cosmos for Java*."""
    return _has_word_unknown_to(first, second) and _has_word_unknown_to(second, first)


def _has_word_unknown_to(named: CapabilityProfile, other: CapabilityProfile) -> bool:
    used = {stem for text in other.samples for stem in stems(text)}
    return any(not _is_used(stem, used) for stem in stems(named.name))


def _is_used(stem: str, used: set[str]) -> bool:
    if stem in used or len(stem) < _PREFIX_MIN:
        return stem in used
    return any(one.startswith(stem[:_PREFIX_MIN]) for one in used)
