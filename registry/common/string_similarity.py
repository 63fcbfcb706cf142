"""Which ids are nearest to a misspelt one, cheap enough for ten thousand of them (docs/contract.md 4)."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

# Only this many are compared letter by letter, at some 30 us each; the others follow by the bigrams they share.
COMPARED_MAX: Final = 100
LENGTH_MAX: Final = 64
_BITS: Final = 512
_LIKE_FROM: Final = 0.4


@lru_cache(maxsize=50_000)
def bigram_bitset(name: str) -> int:
    """The pairs of neighboring letters as a set of bits, so that a comparison is one machine instruction or two."""
    pairs = 0
    padded = f" {name[:LENGTH_MAX]} "
    for first, second in pairwise(padded):
        pairs |= 1 << ((ord(first) * 31 + ord(second)) % _BITS)
    return pairs


def closest_matches(wanted: str, names: Sequence[str], *, most: int, compared: int = COMPARED_MAX) -> list[str]:
    """At most `most` names, the most similar first, equally similar ones in order; `compared` of them by letter."""
    # Not cached: a caller can ask for anything.
    pairs = bigram_bitset.__wrapped__(wanted)
    count = pairs.bit_count()
    # In one comprehension without a call of our own: at ten thousand names each call would show.
    shared = [((own & pairs).bit_count() / -(own.bit_count() + count)) for own in map(bigram_bitset, names)]
    ranked = [name for _, name in heapq.nsmallest(max(most, compared), zip(shared, names, strict=True))]
    by_letters = sorted(ranked[:compared], key=lambda name: (-similarity_ratio(wanted, name), name))
    return [*by_letters, *ranked[compared:]][:most]


def closest_matches_batch(wanted: Sequence[str], names: Sequence[str], *, most: int, compared: int) -> list[list[str]]:
    """As `closest_matches` for several at once: the bigrams of all names are laid out as rows of bits, once."""
    # numpy takes a tenth of a second to import: only what matches pays for it.
    import numpy as np

    ordered = sorted(names)
    if not ordered:
        return [[] for _ in wanted]
    rows = _rows_of_bits([bigram_bitset(name) for name in ordered])
    counts = np.bitwise_count(rows).sum(1)
    found = []
    for one in wanted:
        own = _rows_of_bits([bigram_bitset.__wrapped__(one)])
        shared = np.bitwise_count(rows & own).sum(1) / (counts + np.bitwise_count(own).sum())
        best = np.argsort(-shared, kind="stable")[: max(most, compared)]
        found.append(closest_matches(one, [ordered[place] for place in best], most=most, compared=compared))
    return found


def _rows_of_bits(pairs: Sequence[int]) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    # numpy takes a tenth of a second to import: only what matches pays for it.
    import numpy as np

    size = _BITS // 8
    return np.frombuffer(b"".join(each.to_bytes(size, "little") for each in pairs), np.uint64).reshape(len(pairs), -1)


def similarity_ratio(wanted: str, name: str) -> float:
    """0 to 1; what has little in common is 0."""
    matcher = difflib.SequenceMatcher(None, wanted[:LENGTH_MAX], name)
    if matcher.real_quick_ratio() < _LIKE_FROM or matcher.quick_ratio() < _LIKE_FROM:
        return 0.0
    return matcher.ratio()


def close_matches(wanted: str, names: Sequence[str], *, most: int) -> list[str]:
    """Of names in the order of `closest_matches`, those that may have been meant."""
    return [name for name in names[:most] if similarity_ratio(wanted, name) >= 0.5]
