"""Search goes on from the words that were counted before, and finds what one that begins with nothing finds."""

from __future__ import annotations

import pytest

from capability_kit.text.tokenizer import stems, tokenize
from registry.matching.index import PUBLISHED_INDEX, MatchIndexCache
from registry.publishing import publication
from tests.factories import OLGA, bundle, publish

pytestmark = pytest.mark.django_db
QUERIES = ("refund a purple parcel", "alpha", "zebra crossing", "nothing of this", "the default behavior")


def _found(cache: MatchIndexCache) -> list[list[tuple[str, float]]]:
    search = cache.get().search
    return [[(hit.capability_id, hit.score) for hit in search.search(query, None)] for query in QUERIES]


def test_after_publishes_and_a_retirement_search_is_as_a_new_one() -> None:
    publish("alpha")
    publish("beta")
    before = PUBLISHED_INDEX.get()
    first = _found(PUBLISHED_INDEX)
    publication.publish(files=bundle("alpha", body="A purple parcel is refunded at a zebra crossing."), by=OLGA)
    publish("gamma")
    assert _found(PUBLISHED_INDEX) == _found(MatchIndexCache())
    assert _found(PUBLISHED_INDEX) != first
    # Words that were met since have numbers that the index before does not know.
    assert before.search.search("zebra", None) == []
    publication.retire(capability_id="beta", by=OLGA)
    assert _found(PUBLISHED_INDEX) == _found(MatchIndexCache())


def test_what_is_matched_reads_no_skill_doc() -> None:
    publish("alpha")
    index = PUBLISHED_INDEX.get()
    index.match("anything", top=3)
    assert "search" not in vars(index)
    assert index.search is index.search


def test_stems_are_those_of_the_words() -> None:
    for text in ("Weighed-in TODAY's 体重 weights", "", "x" * 200 + " étés", "a b c d"):
        for most in (None, 0, 2):
            assert stems(text, most=most) == [word.stem for word in tokenize(text, most=most)]
