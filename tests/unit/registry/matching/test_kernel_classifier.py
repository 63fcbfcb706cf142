"""The head learns what the sentences show, and the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from registry.matching import kernel_classifier, ngram_index
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.ngram_index import WITHOUT_VECTORS, FeatureIndex, NgramSpaces

SENTENCES = [
    ["log my weight", "i weigh 80 kilos", "track body weight", "weigh in"],
    ["log my meal", "i ate an apple", "track calories", "what did i eat"],
    ["log my workout", "i did ten squats", "track my training", "leg day"],
]


def test_a_message_like_the_sentences_is_found() -> None:
    evidence = ExampleSimilarity(build_training_examples(SENTENCES), None)
    assert evidence.is_fitted
    for message, wanted in (("weighing in at 81 kilos", 0), ("eating apples", 1), ("squats and training", 2)):
        nearness = evidence.nearness(message, None)
        assert int(nearness.score.argmax()) == wanted
        assert np.isclose(nearness.probability.sum(), 1, atol=1e-5)


def test_a_fit_is_repeatable() -> None:
    matrix = NgramSpaces([text for of in SENTENCES for text in of], WITHOUT_VECTORS).matrix()
    labels = np.repeat(np.arange(3), 4)
    assert kernel_classifier.to_bytes(
        kernel_classifier.fit_classifier(matrix, labels, 3)
    ) == kernel_classifier.to_bytes(kernel_classifier.fit_classifier(matrix, labels, 3))


def test_the_matrix_is_the_likeness_of_each_with_each() -> None:
    texts = [text for of in SENTENCES for text in of]
    spaces = NgramSpaces(texts, WITHOUT_VECTORS)
    rows = np.stack([spaces.likeness(text) for text in texts])
    assert np.allclose(spaces.matrix(), rows, atol=1e-5)


def test_an_index_that_goes_on_with_the_one_before_is_the_same_as_a_new_one() -> None:
    numbers = FeatureIndex()
    NgramSpaces(["other words stood here", *SENTENCES[0]], WITHOUT_VECTORS, numbers)
    texts = [text for of in SENTENCES for text in of]
    going_on, new = NgramSpaces(texts, WITHOUT_VECTORS, numbers), NgramSpaces(texts, WITHOUT_VECTORS)
    for message in (*texts, "other words of eating apples", ""):
        assert np.allclose(going_on.likeness(message), new.likeness(message), atol=1e-6)
    assert np.allclose(going_on.matrix(), new.matrix(), atol=1e-6)


def test_parts_that_are_long_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = FeatureIndex()
    NgramSpaces(["other words stood here"], WITHOUT_VECTORS, numbers)
    before = len(numbers.of_part)
    monkeypatch.setattr(ngram_index, "_PARTS_KEPT_MAX", before - 1)
    likeness = NgramSpaces(["apples"], WITHOUT_VECTORS, numbers).likeness("eating apples")
    assert len(numbers.of_part) < before
    assert likeness[0] > 0


def test_the_mean_of_the_two_nearest() -> None:
    evidence = ExampleSimilarity(build_training_examples([["a b", "a c"], ["d"]]), None)
    found = evidence._two_nearest(np.array([0.2, 0.6, 0.5], np.float32))
    assert np.allclose(found, [0.4, 0.5])


def test_two_equally_near_sentences_both_count() -> None:
    evidence = ExampleSimilarity(build_training_examples([["a", "b", "c"], ["d", "e"]]), None)
    found = evidence._two_nearest(np.array([0.5, 0.5, 0.1, 0.3, 0.1], np.float32))
    assert np.allclose(found, [0.5, 0.2])


def test_what_takes_too_long_is_not_fitted() -> None:
    assert kernel_classifier.can_fit(3300, 150)
    assert not kernel_classifier.can_fit(10_001, 2)
    assert not kernel_classifier.can_fit(10, 1)
    assert kernel_classifier.is_cheap_to_fit(150, 20)
    assert not kernel_classifier.is_cheap_to_fit(3300, 150)
