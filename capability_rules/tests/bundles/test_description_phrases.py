"""Phrases that descriptions name."""

from __future__ import annotations

import pytest

from capability_rules.bundles.description_phrases import find_phrases, find_quotations, says_something
from capability_rules.bundles.profile import CapabilityProfile

SKILL = (
    "Plan trips by train. Use when the user asks to \u201cfind a night train\u201d, 'book a seat,' or wants to compare "
    'fares, seats and luggage rules of several railways. NOT for "flights to Asia".'
)


def test_phrases_are_what_a_description_quotes_then_its_sentences_and_lists() -> None:
    assert find_phrases(SKILL) == (
        "find a night train",
        "book a seat",
        "Plan trips by train",
        "compare fares, seats and luggage rules of several railways",
        "compare fares",
        "seats and luggage rules of several railways",
    )


def test_phrases_leave_out_what_a_skill_is_not_for() -> None:
    assert not any("Asia" in phrase for phrase in find_phrases(SKILL))


def test_phrases_are_never_the_whole_description() -> None:
    assert find_phrases("Track body weight.") == ()


def test_phrases_of_scripts_without_spaces() -> None:
    found = find_phrases(
        "\u7ba1\u7406\u6599\u91d1\u9000\u6b3e\u3002\u7528\u4e8e\u201c\u6211\u8981\u9000\u6b3e\u201d\u3002"
    )
    assert found == ("\u6211\u8981\u9000\u6b3e", "\u7ba1\u7406\u6599\u91d1\u9000\u6b3e")


def test_quotations_know_an_apostrophe_from_a_quotation_mark() -> None:
    assert find_quotations("It's the user's calendar: 'open the calendar view' and don't guess.") == (
        "open the calendar view",
    )


@pytest.mark.parametrize("phrase", ["use this", "for the", "asks", "skill", "run", ""])
def test_a_phrase_of_stop_words_says_nothing(phrase: str) -> None:
    assert not says_something(phrase)


def test_phrases_give_way_to_example_messages() -> None:
    described = CapabilityProfile("trains", "Trains", SKILL)
    assert "find a night train" in described.samples
    spoken = CapabilityProfile("trains", "Trains", SKILL, sentences=tuple(f"message {number}" for number in range(8)))
    assert spoken.phrases == ()
