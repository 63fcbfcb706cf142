"""How near everyday messages come to each capability."""

from __future__ import annotations

import numpy as np
import pytest

from registry.matching.calibration import EVERYDAY_MESSAGES, Background, Calibration
from registry.matching.minilm import MINILM_DIMENSION
from registry.matching.multilingual import PairEmbedder
from registry.matching.ngram_index import Floats

BACKGROUND = Background(np.eye(3, 4, dtype=np.float32), np.eye(3, 4, 1, dtype=np.float32), english_columns=1)
NO_SHARES = np.zeros(2, np.float32)
ALL = np.ones(2, np.float32)


def _nearness(place: int, messages: Floats) -> Floats:
    """The first class is near to every message, the second to none."""
    return np.full(len(messages), 0.5 if place == 0 else 0.1, np.float32)


def test_everyday_messages_are_many_and_distinct() -> None:
    assert len(set(EVERYDAY_MESSAGES)) == len(EVERYDAY_MESSAGES) > 100
    assert all(EVERYDAY_MESSAGES)


def test_a_class_that_every_message_is_near_to_gains_nothing_by_that() -> None:
    usual = Calibration().measure(
        BACKGROUND, ["hub", "other"], _nearness, foreign_shares=NO_SHARES, described_shares=ALL
    )
    exceeding = usual.exceed(np.array([0.55, 0.3], np.float32), np.ones(4, np.float32))
    assert exceeding == pytest.approx([0.05, 0.2])


def test_classes_with_example_messages_share_what_is_usual() -> None:
    usual = Calibration().measure(
        BACKGROUND, ["hub", "other"], _nearness, foreign_shares=NO_SHARES, described_shares=NO_SHARES
    )
    assert usual.english == pytest.approx([0.3, 0.3])


def test_a_message_in_another_language_counts_more_where_what_is_known_is_english() -> None:
    shares = np.array([0, 1], np.float32)
    usual = Calibration().measure(BACKGROUND, ["hub", "other"], _nearness, foreign_shares=shares, described_shares=ALL)
    across, english = np.array([0, 1, 1, 1], np.float32), np.ones(4, np.float32)
    assert usual.exceed(np.array([0.6, 0.2], np.float32), across) == pytest.approx([0.14, 0.1])
    assert usual.exceed(np.array([0.6, 0.2], np.float32), english) == pytest.approx([0.1, 0.14])


def test_a_class_is_measured_again_when_it_or_the_model_changed() -> None:
    seen: list[int] = []

    def nearness(place: int, messages: Floats) -> Floats:
        seen.append(place)
        return np.zeros(len(messages), np.float32)

    calibration, alone = Calibration(), Background(np.eye(3, dtype=np.float32))
    for keys, background in ((["a", "b"], alone), (["a", "c"], alone), (["a", "c"], Background(-alone.messages))):
        calibration.measure(background, keys, nearness, foreign_shares=NO_SHARES, described_shares=ALL)
    assert seen == [0, 1, 1, 0, 1]


def test_the_pair_makes_the_same_messages_in_english_and_in_another_language() -> None:
    pair = PairEmbedder()
    texts = ["what's the weather like", "book me a flight"]
    background = pair.make_background(pair.embed(texts))
    assert np.allclose(background.messages, pair.embed_messages(texts), atol=1e-5)
    assert background.across is not None
    assert not background.across[:, :MINILM_DIMENSION].any()
    german, english = pair.embed_messages(["wie wird das Wetter", "book me a flight"])
    assert background.is_across(german)
    assert not background.is_across(english)
    assert background.foreign_share(pair.embed(["wie wird das Wetter", "book me a flight"])) == pytest.approx(0.5)
