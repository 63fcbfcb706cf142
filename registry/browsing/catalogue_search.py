"""Which capabilities some words lead to in the Studio's list, best first.

What has every word in its id or name comes first. Then what `capability_search` finds: by the index that this process
holds for agents, with vectors where there is an embedder; where none was made yet, by the words of the metadata alone,
since making it reads every skill doc.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from registry.browsing.facets import Facets

FOUND_MAX: Final = 50
# Of a word that stands nearly everywhere only so many are looked at: it tells nothing apart.
NEAR_MAX: Final = 500
# Below this a vector says that two texts are in the same language, not that one is about the other.
VECTOR_LEAST: Final = 0.35


def ranked(text: str, among: Mapping[str, Facets]) -> dict[str, int]:
    """`{capability_id: place}` of what fits, out of `among`."""
    named = _named(text, among)
    by_words = _searched(text, among)
    return {capability_id: place for place, capability_id in enumerate(dict.fromkeys([*named, *by_words]))}


def _named(text: str, among: Mapping[str, Facets]) -> list[str]:
    """The ids that have every word in id or name: the very id, then what begins with the text, then the rest."""
    words = text.casefold().split()
    begin = text.casefold()
    found = []
    for capability_id, one in among.items():
        name = one.name.casefold()
        if all(word in capability_id or word in name for word in words):
            begins = capability_id.startswith(begin) or name.startswith(begin)
            found.append((capability_id != begin, not begins, capability_id))
    return [capability_id for *_, capability_id in sorted(found)]


def _searched(text: str, among: Mapping[str, Facets]) -> list[str]:
    # Brings numpy into the process: only whoever searches needs it.
    from registry.matching.index import HOLDER
    from registry.matching.search import default_ranking

    held = HOLDER.index
    if held is None:
        return _by_metadata(text, among)
    vector = held.vector(text)
    found = held.search.search(
        text, vector, top=FOUND_MAX, ranking=default_ranking(vector), takes=lambda one: one.capability_id in among
    )
    # Beside a vector a keyword is the share of the text that is found; without one, everything is a hit by words.
    is_hit = vector is None
    return [one.capability_id for one in found if is_hit or one.keyword > 0 or one.vector >= VECTOR_LEAST]


def _by_metadata(text: str, among: Mapping[str, Facets]) -> list[str]:
    from registry.matching.search import SearchIndex, stems_of

    # The words of a text are folded as stems; first what could hold them at all, so that few are taken apart.
    parts = [word[:4] for word in text.casefold().split() if len(word) > 2]
    near = list(islice((one.known for one in among.values() if _may_hold(one, parts)), NEAR_MAX))
    index = SearchIndex(near, [stems_of(one, "") for one in near], None)
    return [one.capability_id for one in index.search(text, None, top=FOUND_MAX)]


def _may_hold(one: Facets, parts: list[str]) -> bool:
    known = one.known
    said = " ".join((known.name, known.description, known.problem, *known.triggers, *known.keywords)).casefold()
    return bool(known.capability_id) and any(part in said for part in parts)
