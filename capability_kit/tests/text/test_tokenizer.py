"""A message as words with their places."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_kit.text.tokenizer import count_stems, fold_and_stem, fold_text, has_words, stems, tokenize


def _texts(message: str) -> list[str]:
    return [message[word.start : word.end] for word in tokenize(message)]


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("I just weighed 187.6 lbs", ["I", "just", "weighed", "187", "6", "lbs"]),
        ("weigh-in, sign\u2010up", ["weigh", "in", "sign", "up"]),
        ("don't \u2018stop\u2019", ["don't", "stop"]),
        ("snake_case", ["snake", "case"]),
        ("", []),
        ("... !?", []),
        ("cafe\u0301 au lait", ["cafe\u0301", "au", "lait"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
    ],
)
def test_words_are_found_as_people_read_them(message: str, texts: list[str]) -> None:
    assert _texts(message) == texts


def test_a_hyphen_alone_joins() -> None:
    assert [word.is_hyphened for word in tokenize("weigh-in now - then, a -- b")] == [True] + [False] * 5
    assert [word.is_hyphened for word in tokenize("sign\u00adup")] == [True, False]


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("CAFÉ", "cafe"),
        ("Ｗｅｉｇｈ", "weigh"),
        ("Maria's", "maria"),
        ("don\u2019t", "dont"),
        ("STRASSE", "strasse"),
        ("İ", "i"),
    ],
)
def test_case_width_and_accents_do_not_count(word: str, text: str) -> None:
    assert fold_text(word) == text


def test_marks_of_other_scripts_count() -> None:
    assert fold_text("が") != fold_text("か")
    assert fold_text("हिन्दी") != fold_text("हनद")


@given(st.text(max_size=200))
def test_places_lie_in_the_message_and_do_not_overlap(message: str) -> None:
    end = 0
    for word in tokenize(message):
        assert end <= word.start < word.end <= len(message)
        assert word.stem == fold_and_stem(message[word.start : word.end])
        end = word.end


def test_the_first_words_alone_cost_no_more_than_they_are() -> None:
    message = "weigh-in at " + "seven " * 1000

    assert tokenize(message, most=2) == tokenize(message)[:2]
    assert tokenize(message, most=1)[0].is_hyphened


@pytest.mark.parametrize(("text", "has"), [("a", True), ("体重", True), ("7", True), ("👋", False), ("?! ...", False)])
def test_an_emoji_is_no_word(text: str, has: bool) -> None:
    assert has_words(text) is has


def test_words_of_100_kb_are_not_kept() -> None:
    def memory_of(messages: int) -> int:
        tracemalloc.start()
        for number in range(messages):
            tokenize(chr(0x400 + number) * 100_000)
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return kept

    memory_of(1)
    assert memory_of(40) < 500_000


def test_long_words_are_told_apart_by_their_beginning() -> None:
    assert fold_and_stem("\ufdfa" * 100_000) == fold_and_stem("\ufdfa" * 90_000) != fold_and_stem("\ufdfa" * 10)


@given(st.text() | st.lists(st.sampled_from(["Weighed", "weigh", "weighs", "log", "Logs", "体重"])).map(" ".join))
def test_counted_stems_are_those_of_the_text_in_their_order(text: str) -> None:
    assert list(count_stems(text).items()) == list(Counter(stems(text)).items())
