"""What search compares a query with."""

from __future__ import annotations

import numpy as np
import pytest

from capability_rules.bundles.profile import CapabilityProfile, profile_from_json
from registry.matching.search import SearchIndex, texts_to_embed

BOOK = CapabilityProfile(
    "downgrade",
    "Annual plan downgrade",
    problem="A customer wants a cheaper plan. The year is paid already.",
    conditions=("Annual billing", "No"),
    keywords=("refund",),
)
PLAIN = CapabilityProfile("weights", "Weights", description="Keeps weights. Shows them.", triggers=("weigh-in",))


def test_a_playbook_is_its_problem_whole_and_sentence_by_sentence() -> None:
    assert texts_to_embed(BOOK) == [
        "A customer wants a cheaper plan. The year is paid already. Annual billing No refund",
        "A customer wants a cheaper plan.",
        "The year is paid already.",
        "Annual billing",
    ]


def test_anything_else_is_one_text() -> None:
    assert texts_to_embed(PLAIN) == ["Weights. Keeps weights. Shows them.. weigh-in"]


def test_sentences_are_bounded() -> None:
    assert len(texts_to_embed(CapabilityProfile("x", "X", problem="One more thing. " * 500))) == 13


def test_the_resolution_is_no_part_of_it() -> None:
    document = {"capability_id": "x", "name": "X", "description": "resolution", "playbook": {"problem": "It is slow"}}
    assert all("resolution" not in text for text in texts_to_embed(profile_from_json(document)))


def test_the_vector_is_the_mean_of_the_whole_and_the_nearest() -> None:
    vectors = np.array([[0.5, 0], [1, 0], [0, 1], [0, 0], [0.2, 0]], np.float32)
    index = SearchIndex([BOOK, PLAIN], [{}, {}], vectors)
    found = {one.capability_id: one.vector for one in index.search("zzz", np.array([1, 0], np.float32))}
    assert found == {"downgrade": pytest.approx(0.75), "weights": pytest.approx(0.2)}


def test_nothing_is_known() -> None:
    assert SearchIndex([], [], np.zeros((0, 2), np.float32)).search("x", np.ones(2, np.float32)) == []
