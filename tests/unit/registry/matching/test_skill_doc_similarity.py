"""Capabilities that are known by their skill docs, as imported skills are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.calibration import EVERYDAY_MESSAGES
from registry.matching.capability_profiles import published_profiles
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.matcher import Matcher
from registry.matching.minilm import MiniLmEmbedder
from registry.matching.skill_doc_similarity import SkillDocSimilarity, extract_stems, prose_texts
from tests.factories import publish

MINILM = MiniLmEmbedder()
EXAMPLES = tuple(f"example {number}" for number in range(8))
KNOWN = [
    CapabilityProfile(
        "voice", "Whisper", "Local model runner.", prose="Transcribe voice memos and recordings to text."
    ),
    CapabilityProfile("sheets", "Sheets", "Local table runner.", prose="Repair formulas in broken spreadsheets."),
    CapabilityProfile("many", "Many examples", sentences=EXAMPLES, prose="Transcribe voice memos and recordings."),
]


def _evidence(known: list[CapabilityProfile], **given: Any) -> ExampleSimilarity:
    samples = build_training_examples([one.samples for one in known])
    docs = SkillDocSimilarity(known, MINILM.embed(prose_texts(known)))
    background = MINILM.make_background(MINILM.embed(EVERYDAY_MESSAGES))
    return ExampleSimilarity(
        samples, MINILM.embed(list(samples.texts)), skill_docs=docs, background=background, **given
    )


def test_a_skill_doc_counts_less_the_more_example_messages_there_are() -> None:
    assert [one.described_share for one in KNOWN] == [1.0, 1.0, 0.0]
    assert prose_texts(KNOWN) == [KNOWN[0].prose, KNOWN[1].prose]


def test_a_message_finds_the_capability_whose_skill_doc_it_is_about() -> None:
    matcher = Matcher(KNOWN, _evidence(KNOWN))
    for message, wanted in (("turn this recording into text", "voice"), ("my spreadsheet is broken", "sheets")):
        found = matcher.match(message, MINILM.embed([message])[0])
        assert found.needed == (wanted,), (message, found)


def test_words_of_a_skill_doc_are_found_by_their_stems() -> None:
    docs = SkillDocSimilarity(KNOWN, MINILM.embed(prose_texts(KNOWN)))
    shared = docs.shared_words("transcribing a memo")
    assert shared[0] > 0.1
    assert not shared[1:].any()
    assert extract_stems("Spreadsheets, spreadsheet")[0] == ["spreadsheet", "spreadsheet"]


def test_nothing_is_calibrated_without_vectors() -> None:
    samples = build_training_examples([one.samples for one in KNOWN])
    evidence = ExampleSimilarity(samples, None, background=MINILM.make_background(MINILM.embed(["hello there"])))
    assert evidence.usual is None
    found = evidence.nearness("example 1", None)
    assert np.array_equal(found.sentence, found.nearest)


@pytest.mark.django_db
def test_the_beginning_of_a_published_skill_doc_is_known() -> None:
    publish("alpha", body="Transcribe **voice** memos.")
    assert "Transcribe voice memos." in published_profiles()["alpha"].prose


def test_the_likeliest_of_few_is_as_likely_as_among_many() -> None:
    matcher = Matcher(KNOWN[:2], _evidence(KNOWN[:2]))
    vector = MINILM.embed(["how are you today"])[0]
    assert all(one.parts["probability"] < 0.2 for one in matcher.match("how are you today", vector).matches)
