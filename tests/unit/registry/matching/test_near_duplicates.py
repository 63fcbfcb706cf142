"""Which published capabilities a bundle is all but the same as."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from capability_rules.validation import validate_bundle
from registry.matching import near_duplicates
from registry.matching.embedders import get_embedder
from registry.matching.index import PUBLISHED_INDEX
from registry.matching.near_duplicates import NearDuplicate, cosine_similarity, simhash, term_counts
from registry.models import Revision
from registry.publishing import publication
from tests.factories import OLGA, bundle, fresh_process, publish

pytestmark = pytest.mark.django_db
fresh = pytest.fixture(autouse=True)(fresh_process)
WORDS = [
    "apple",
    "bread",
    "chair",
    "table",
    "river",
    "stone",
    "cloud",
    "bridge",
    "window",
    "garden",
    "paper",
    "pencil",
    "bottle",
    "ladder",
    "basket",
    "candle",
    "pillow",
    "blanket",
    "lemon",
    "pepper",
    "carrot",
    "onion",
    "butter",
    "cheese",
]
BODY = " ".join(random.Random(3).choices(WORDS, k=120)) + "."


def _near(**fields: Any) -> list[NearDuplicate]:
    found = validate_bundle(bundle("copy", **fields)).bundle
    assert found is not None
    return near_duplicates.find_near_duplicates(found)


def test_a_copy_under_another_id_is_found_and_what_differs_is_not() -> None:
    publish("alpha", body=BODY)
    publish("beta", body=" ".join(random.Random(4).choices(["monday", "invoice", "garden", "window"], k=120)))
    publication.retire(capability_id=publish("gone", body=BODY).capability_id, by=OLGA)
    (near,) = _near(body=BODY)
    assert near.capability_id == "alpha"
    assert 0.95 < near.likeness < 1
    assert _near(body="Something else altogether.") == []


def test_the_same_words_are_1() -> None:
    publish("alpha", body=BODY)
    files = bundle("alpha", body=BODY)
    files["capability.json"] = files["capability.json"].replace('"alpha"', '"omega"')
    found = validate_bundle(files).bundle
    assert found is not None
    assert near_duplicates.find_near_duplicates(found) == [NearDuplicate("alpha", 1.0)]


def test_the_capability_itself_is_none() -> None:
    publish("copy", body=BODY)
    assert _near(body=BODY) == []


@pytest.mark.parametrize(("embedder", "found"), [("none", []), ("minilm", ["alpha"])])
def test_the_same_purpose_in_other_words_is_found_by_vectors(settings: Any, embedder: str, found: list[str]) -> None:
    settings.EMBEDDER = embedder
    get_embedder.cache_clear()
    fields = {"description": "Books a table at a restaurant.", "intent_triggers": ["book a table"]}
    publish("alpha", name="Restaurant booking", body=BODY, **fields)
    publish("beta", name="Weather", description="Tells the weather.", intent_triggers=["forecast"])
    # Without a worker the vectors are made here, however long that takes.
    PUBLISHED_INDEX.get(vector_seconds=600)
    same: dict[str, Any] = {"name": "Restaurant bookings", "body": "Ask for the day.", **fields}
    assert [near.capability_id for near in _near(**same)] == found


def test_at_most_ten_the_nearest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "SIMILARITY_MIN", 0.5)
    for number in range(12):
        publish(f"twin_{number}", body=BODY + " plus" * number)
    found = _near(body=BODY)
    assert len(found) == 10
    assert [near.likeness for near in found] == sorted((near.likeness for near in found), reverse=True)


def test_another_measure_joins_in(monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha", body=BODY)
    monkeypatch.setattr(
        near_duplicates, "MEASURES", [near_duplicates.measure_by_words, lambda _: [NearDuplicate("by_vectors", 0.97)]]
    )
    assert {near.capability_id for near in _near(body=BODY)} == {"alpha", "by_vectors"}


@pytest.mark.both_databases
def test_a_revision_without_a_print_is_passed_over() -> None:
    publish("alpha", body=BODY)
    Revision.objects.update(simhash="")
    assert _near(body=BODY) == []


@pytest.mark.slow
def test_a_print_tells_near_from_far() -> None:
    """1,000 pairs with a cosine above 0.95: not one of them is missed by its print."""
    chance = random.Random(5)
    vocabulary = [f"stem{number}" for number in range(400)]
    missed = apart = 0
    for _ in range(1000):
        first = Counter(chance.choices(vocabulary, k=200))
        second = Counter(first)
        second.update(chance.choices(vocabulary, k=15))
        if cosine_similarity(first, second) <= 0.95:
            continue
        apart += 1
        bits = (int(simhash(first), 16) ^ int(simhash(second), 16)).bit_count()
        missed += bits > near_duplicates._BITS_APART_MAX
    assert apart > 500
    assert missed == 0


def test_odd_values_of_a_damaged_row_say_nothing() -> None:
    found = validate_bundle(bundle()).bundle
    assert found is not None
    object.__setattr__(found, "capability", {"name": 7, "description": None, "playbook": {"problem": ["a", 1]}})
    assert term_counts(found)["a"] >= 1
    assert simhash(Counter()) == ""


def test_simhash_is_the_one_that_stored_revisions_have() -> None:
    assert simhash(Counter({"weigh": 3, "log": 2, "sleep": 1})) == "912752a925dc9125d1682fa1e23443e0"
