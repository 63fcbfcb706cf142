"""The head learns what the sentences show, and the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from registry.matching import features, head
from registry.matching.evidence import Evidence, samples_of
from registry.matching.features import ALONE, Numbers, WordSpaces

SENTENCES = [
    ["log my weight", "i weigh 80 kilos", "track body weight", "weigh in"],
    ["log my meal", "i ate an apple", "track calories", "what did i eat"],
    ["log my workout", "i did ten squats", "track my training", "leg day"],
]


def test_a_message_like_the_sentences_is_found() -> None:
    evidence = Evidence(samples_of(SENTENCES), None)
    assert evidence.is_fitted
    for message, wanted in (("weighing in at 81 kilos", 0), ("eating apples", 1), ("squats and training", 2)):
        nearness = evidence.nearness(message, None)
        assert int(nearness.score.argmax()) == wanted
        assert np.isclose(nearness.probability.sum(), 1, atol=1e-5)


def test_a_fit_is_repeatable() -> None:
    matrix = WordSpaces([text for of in SENTENCES for text in of], ALONE).matrix()
    labels = np.repeat(np.arange(3), 4)
    assert head.packed(head.fit(matrix, labels, 3)) == head.packed(head.fit(matrix, labels, 3))


def test_the_matrix_is_the_likeness_of_each_with_each() -> None:
    texts = [text for of in SENTENCES for text in of]
    spaces = WordSpaces(texts, ALONE)
    rows = np.stack([spaces.likeness(text) for text in texts])
    assert np.allclose(spaces.matrix(), rows, atol=1e-5)


def test_an_index_that_goes_on_with_the_one_before_is_the_same_as_a_new_one() -> None:
    numbers = Numbers()
    WordSpaces(["other words stood here", *SENTENCES[0]], ALONE, numbers)
    texts = [text for of in SENTENCES for text in of]
    going_on, new = WordSpaces(texts, ALONE, numbers), WordSpaces(texts, ALONE)
    for message in (*texts, "other words of eating apples", ""):
        assert np.allclose(going_on.likeness(message), new.likeness(message), atol=1e-6)
    assert np.allclose(going_on.matrix(), new.matrix(), atol=1e-6)


def test_parts_that_are_long_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = Numbers()
    WordSpaces(["other words stood here"], ALONE, numbers)
    before = len(numbers.of_part)
    monkeypatch.setattr(features, "_PARTS_KEPT_MAX", before - 1)
    likeness = WordSpaces(["apples"], ALONE, numbers).likeness("eating apples")
    assert len(numbers.of_part) < before
    assert likeness[0] > 0


def test_the_mean_of_the_two_nearest() -> None:
    evidence = Evidence(samples_of([["a b", "a c"], ["d"]]), None)
    found = evidence._two_nearest(np.array([0.2, 0.6, 0.5], np.float32))
    assert np.allclose(found, [0.4, 0.5])


def test_two_equally_near_sentences_both_count() -> None:
    evidence = Evidence(samples_of([["a", "b", "c"], ["d", "e"]]), None)
    found = evidence._two_nearest(np.array([0.5, 0.5, 0.1, 0.3, 0.1], np.float32))
    assert np.allclose(found, [0.5, 0.2])


def test_what_takes_too_long_is_not_fitted() -> None:
    assert head.can_fit(3300, 150)
    assert not head.can_fit(10_001, 2)
    assert not head.can_fit(10, 1)
    assert head.is_quick(150, 20)
    assert not head.is_quick(3300, 150)
