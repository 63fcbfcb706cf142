"""Which published capabilities a bundle nearly duplicates: for the agent that proposes it, and for its reviewer.

By words: the cosine of the counts of their stems, over the capability's description and its skill doc. To compare
with ten thousand without reading them all, each revision keeps a print of its words: 128 bits, of which texts as near
as that share nearly all (Charikar, 2002); only what is near by its print is read and compared exactly.

By vectors, where there is an embedder: the cosine of what search knows them by (registry/matching/search.py), so that
the same purpose in other words is found too.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from capability_kit.text.tokenizer import count_stems
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.errors import RegistryUnavailable
from registry.core.queries import LOADABLE_STATUSES, load_bundle
from registry.models import Capability, Revision

SIMILARITY_MIN: Final = 0.95
SHOWN_MAX: Final = 10
BITS: Final = 128
# A cosine of 0.95 differs in 13 bits of 128, give or take 3.4: with 32 one in a hundred million is missed.
_BITS_APART_MAX: Final = 32
_LANES: Final = struct.Struct(f">{BITS}I")
_LANE_OF_BIT: Final = {ord("0"): "00000000", ord("1"): "00000001"}
_COMPARED_MAX: Final = 50
_CHARACTERS_MAX: Final = 100_000
_STEMS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """`likeness`, the similarity, is 0.95 to 1; 1.0 is the same content, but for its id."""

    capability_id: str
    likeness: float

    def as_dict(self) -> dict[str, Any]:
        """As responses have it, and as a proposal stores it."""
        return {"capability_id": self.capability_id, "likeness": self.likeness}


Measure = Callable[[SkillBundle], list[NearDuplicate]]


def find_near_duplicates(bundle: SkillBundle) -> list[NearDuplicate]:
    """At most ten, the nearest first; the capability of the same id is none."""
    found: dict[str, float] = {}
    for measure in MEASURES:
        for near in measure(bundle):
            found[near.capability_id] = max(near.likeness, found.get(near.capability_id, 0.0))
    ranked = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    nearest = [NearDuplicate(name, round(likeness, 4)) for name, likeness in ranked if likeness > SIMILARITY_MIN]
    return nearest[:SHOWN_MAX]


def measure_by_words(bundle: SkillBundle) -> list[NearDuplicate]:
    """The measure that needs no model."""
    counts = term_counts(bundle)
    candidates = _candidates(int(simhash(counts) or "0", 16), bundle.capability_id)
    found = Revision.objects.filter(pk__in=candidates).select_related("capability")
    return [
        NearDuplicate(row.capability.capability_id, cosine_similarity(counts, term_counts(load_bundle(row))))
        for row in found
    ]


def measure_by_vectors(bundle: SkillBundle) -> list[NearDuplicate]:
    """Empty where there is no embedder, or none that responds now."""
    # numpy and a model come with these; a process without proposals never loads them.
    from capability_rules.bundles.profile import profile_from_json
    from registry.matching.index import PUBLISHED_INDEX
    from registry.matching.search import texts_to_embed

    try:
        index = PUBLISHED_INDEX.get()
    except RegistryUnavailable:
        return []
    vector = index.vector(texts_to_embed(profile_from_json(bundle.capability))[0])
    likeness = index.search.wholes(vector)
    return [NearDuplicate(name, min(1.0, found)) for name, found in likeness.items() if name != bundle.capability_id]


MEASURES: Final[list[Measure]] = [measure_by_words, measure_by_vectors]


def _candidates(print_: int, without: str) -> list[int]:
    """The rows of published revisions whose print is near enough to look at them."""
    listed = Capability.objects.filter(status__in=LOADABLE_STATUSES).exclude(capability_id=without)
    prints = listed.values_list("published_revision", "published_revision__simhash")
    apart = [((print_ ^ int(known, 16)).bit_count(), pk) for pk, known in prints if known]
    return [pk for bits, pk in sorted(apart) if bits <= _BITS_APART_MAX][:_COMPARED_MAX]


def term_counts(bundle: SkillBundle) -> Counter[str]:
    """How often each stem occurs in a capability's description and in its skill doc."""
    capability = bundle.capability
    playbook = capability.get("playbook")
    said = [capability.get("name"), capability.get("description"), capability.get("intent_triggers"), playbook]
    text = "\n".join([*(_plain(value) for value in said), bundle.skill_doc])
    return count_stems(text[:_CHARACTERS_MAX])


def _plain(value: Any) -> str:
    """The texts of a JSON value; values of a damaged row that are not strings are skipped."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return "\n".join(each for each in (_plain(item) for item in value) if each)
    return value if isinstance(value, str) else ""


def cosine_similarity(first: Counter[str], second: Counter[str]) -> float:
    """0 to 1; texts without words are like nothing."""
    product = sum(count * second[stem] for stem, count in first.items() if stem in second)
    norms = math.sqrt(sum(n * n for n in first.values()) * sum(n * n for n in second.values()))
    return min(1.0, product / norms) if norms else 0.0


def simhash(counts: Counter[str]) -> str:
    """32 hex digits: of each bit, whether the stems that have it weigh more than the others; empty for no words."""
    if not counts:
        return ""
    common = counts.most_common(_STEMS_MAX)
    # All bits are counted by one addition a stem; the first lane has those of the last bit.
    with_bit = _LANES.unpack(sum(count * _spread_bits(stem) for stem, count in common).to_bytes(_LANES.size, "big"))
    half = sum(count for _, count in common) / 2
    return f"{int(''.join('1' if total > half else '0' for total in with_bit), 2):032x}"


@lru_cache(maxsize=5000)
def _spread_bits(stem: str) -> int:
    """The 128 bits of the stem's hash, each in a lane of 32 bits: room for the count of any word."""
    bits = int(hashlib.md5(stem.encode(), usedforsecurity=False).hexdigest(), 16)
    return int(f"{bits:b}".translate(_LANE_OF_BIT), 16)
