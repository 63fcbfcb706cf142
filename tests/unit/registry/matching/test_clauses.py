"""Several intents in one message (docs/contract.md 4), with the example capabilities and their few sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from capability_rules.bundles.profile import CapabilityProfile, profile_from_text
from registry.matching.clauses import CLAUSES_MAX, match_message, split_clauses
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.matcher import Matcher, MatchResult
from registry.matching.minilm import MiniLmEmbedder
from registry.matching.ngram_index import Floats
from tests import costs
from tests.servers import ROOT

EXAMPLES = ("billing_refund", "disk_pressure", "excel_analyzer", "meals", "weights", "workouts")
MODEL = MiniLmEmbedder()


def _examples() -> list[CapabilityProfile]:
    return [profile_from_text((ROOT / "examples" / name / "capability.json").read_text("utf-8")) for name in EXAMPLES]


def _asker(known: list[CapabilityProfile], *, has_vectors: bool = True) -> Callable[[str], MatchResult]:
    def embed(texts: list[str]) -> Floats | None:
        return np.asarray(MODEL.embed(texts), np.float32) if has_vectors else None

    samples = build_training_examples([one.samples for one in known])
    matcher = Matcher(known, ExampleSimilarity(samples, embed(list(samples.texts))))
    return lambda message: match_message(matcher, message, embed)


@pytest.fixture(scope="module")
def ask() -> Callable[[str], MatchResult]:
    return _asker(_examples())


@pytest.mark.parametrize(
    ("message", "needed"),
    [
        ("Log my workout and weigh-in", ["workouts", "weights"]),
        ("Track calories, and what did I lift last week?", ["meals", "workouts"]),
        ("refund the annual plan and log 80 kg", ["billing_refund", "weights"]),
        ("I ate a salad and then weighed in at 80 kg", ["meals", "weights"]),
        ("analyze this spreadsheet; then refund the customer", ["excel_analyzer", "billing_refund"]),
        ("log my breakfast, my workout and my weight", ["meals", "workouts", "weights"]),
        ("Weigh-in and workout, please", ["weights", "workouts"]),
        ("I just weighed 187.6 lbs", ["weights"]),
        ("log my lunch: chicken and rice", ["meals"]),
        ("log my weight, 84.2 kg this morning", ["weights"]),
        ("3 sets of squats at 225, then 5 sets of bench press", ["workouts"]),
        ("I switched from the annual plan to monthly, where is my refund?", ["billing_refund"]),
        ("tell me a joke and log my lunch", ["meals"]),
        ("what is the weather in paris and rome?", []),
    ],
)
def test_what_a_message_asks_for(ask: Callable[[str], MatchResult], message: str, needed: list[str]) -> None:
    found = ask(message)
    assert list(found.needed) == needed
    assert found.decision == ("match" if needed else "none")
    rows = {one.capability_id: one for one in found.matches}
    assert set(needed) <= set(rows)
    assert not any(rows[name].is_below_threshold for name in needed)
    assert [one.score for one in found.matches] == sorted((one.score for one in found.matches), reverse=True)


def test_every_pair_of_golden_sentences_is_two_and_each_alone_is_one(ask: Callable[[str], MatchResult]) -> None:
    known = _examples()
    for first in known:
        assert [ask(text).needed for text in first.sentences] == [(first.capability_id,)] * len(first.sentences)
        for second in known:
            if first is not second:
                found = ask(f"{first.sentences[0].rstrip('.?')} and {second.sentences[0]}")
                assert found.needed == (first.capability_id, second.capability_id)


def test_the_reason_names_all(ask: Callable[[str], MatchResult]) -> None:
    assert ask("Log my workout and weigh-in").reason == "The message asks for both 'workouts' and 'weights'."
    three = ask("log my breakfast, my workout and my weight").reason
    assert three == "The message asks for 'meals', 'workouts' and 'weights'."


def test_triggers_keep_their_places_in_the_whole_message(ask: Callable[[str], MatchResult]) -> None:
    message = "Log my workout and weigh-in"
    found = {one.capability_id: [message[hit.start : hit.end] for hit in one.triggers] for one in ask(message).matches}
    assert found["workouts"] == ["workout"]
    assert found["weights"] == ["weigh-in"]


def test_words_alone_find_both_triggers() -> None:
    found = _asker(_examples(), has_vectors=False)("Log my workout and weigh-in")
    assert (found.decision, found.needed) == ("match", ("workouts", "weights"))


def test_a_clause_with_two_readings_leaves_the_message_ambiguous() -> None:
    examples = {one.capability_id: one for one in _examples()}
    # Their names tell them apart. Were they for one intent, the better of both would be needed.
    examples["meals"] = replace(examples["meals"], name="Plate")
    examples["diary"] = replace(examples["meals"], capability_id="diary", name="Diary")
    ask = _asker([*examples.values()])
    alone = ask("log my lunch")
    assert (alone.decision, alone.needed) == ("ambiguous", ())
    both = ask("refund the annual plan, and log my lunch")
    assert (both.decision, both.needed) == ("ambiguous", ())
    assert "billing_refund" in [one.capability_id for one in both.matches]
    assert "'meals'" in both.reason
    assert "'diary'" in both.reason


@pytest.mark.parametrize(
    ("message", "clauses"),
    [
        ("log this and that", ["log this", "that"]),
        ("first, then second", ["first", "second"]),
        ("one; two. Three, and also four", ["one", "two", "Three", "four"]),
        ("3.5 kg at 10:30", ["3.5 kg at 10:30"]),
        ("brand new sandals", ["brand new sandals"]),
        ("and, then", ["and"]),
        ("记录我的体重，然后订餐", ["记录我的体重", "然后订餐"]),
        ("", []),
        ("a and b and c and d and e and f and g and h", ["a", "b", "c", "d", "e", "f and g and h"]),
        ("word and " * 200, []),
    ],
)
def test_clauses(message: str, clauses: list[str]) -> None:
    found = split_clauses(message)
    assert [message[start:end] for start, end in found] == clauses
    assert len(found) <= CLAUSES_MAX


@pytest.mark.parametrize("message", ["a, " * 160, ", and then " * 40, "log, " * 90 + "x", "and " * 120])
def test_strange_messages_take_no_time(ask: Callable[[str], MatchResult], message: str) -> None:
    with costs.at_most(200):
        ask(message)


def test_parts_are_read_only_while_a_cut_can_be_accepted() -> None:
    known = [CapabilityProfile("weights", "Weights", triggers=("weigh-in", "log my weigh-in"))]
    known.append(CapabilityProfile("meals", "Meals", triggers=("meal", "log my meal")))
    asked: list[list[str]] = []

    def embed(texts: list[str]) -> None:
        asked.append(texts)

    matcher = Matcher(known, ExampleSimilarity(build_training_examples([one.samples for one in known]), None))
    match_message(matcher, "the sky is blue, log my weigh-in", embed)
    assert asked == [["the sky is blue, log my weigh-in"], ["the sky is blue"]]
    asked.clear()
    assert match_message(matcher, "log my weigh-in, log my meal", embed).needed == ("weights", "meals")
    assert asked == [["log my weigh-in, log my meal"], ["log my weigh-in"], ["log my meal"]]
