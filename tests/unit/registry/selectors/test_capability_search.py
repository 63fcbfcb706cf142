"""What a search of the catalog takes from the index."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from registry.matching.index import PUBLISHED_INDEX
from registry.selectors import capability_search
from registry.selectors.capability_search import VECTOR_SIMILARITY_MIN

FOUND = [
    SimpleNamespace(capability_id="word", keyword=0.1, vector=0.0),
    SimpleNamespace(capability_id="meaning", keyword=0.0, vector=VECTOR_SIMILARITY_MIN),
    SimpleNamespace(capability_id="neither", keyword=0.0, vector=VECTOR_SIMILARITY_MIN - 0.001),
]


@pytest.mark.parametrize(
    ("vector", "ids"), [([1.0], ["word", "meaning"]), (None, ["word", "meaning", "neither"])], ids=["vectors", "words"]
)
def test_beside_a_vector_a_hit_has_a_word_or_a_near_meaning(
    vector: Any, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    search = SimpleNamespace(search=lambda *_, **__: FOUND)
    monkeypatch.setattr(PUBLISHED_INDEX, "index", SimpleNamespace(vector=lambda _: vector, search=search))
    assert capability_search._searched("text", {}) == ids
