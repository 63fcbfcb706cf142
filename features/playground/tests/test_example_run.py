"""Every example message, run as an agent's message is."""

from __future__ import annotations

from capability_rules.bundles.profile import CapabilityProfile
from features.playground.example_run import list_examples, run_examples
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.index import IndexRevisions, MatchIndex
from registry.matching.matcher import Matcher
from registry.matching.search import SearchIndex


def _index(*known: CapabilityProfile) -> MatchIndex:
    evidence = ExampleSimilarity(build_training_examples([one.samples for one in known]), None)
    return MatchIndex(
        IndexRevisions(1, 0, ""), Matcher(known, evidence), Matcher([], None), lambda: SearchIndex([], [], None), None
    )


WEIGHTS = CapabilityProfile(
    "weights",
    "Weight Tracking",
    triggers=("weigh-in",),
    sentences=("my weigh-in is done",),
    counter_sentences=("lunch",),
)
MEALS = CapabilityProfile("meals", "", triggers=("lunch",), sentences=("weigh-in of my lunch",))


def test_examples_are_listed_by_capability_those_that_should_match_first() -> None:
    index = _index(MEALS, WEIGHTS)
    assert [(one.name, one.message, one.expectation) for one in list_examples(index)] == [
        ("meals", "weigh-in of my lunch", "should_match"),
        ("Weight Tracking", "my weigh-in is done", "should_match"),
        ("Weight Tracking", "lunch", "should_not_match"),
    ]
    assert {one.capability_id for one in list_examples(index, "weights")} == {"weights"}
    assert list_examples(index, "nobody") == []


def test_a_message_passes_where_it_leads_there_and_nowhere_else_decides() -> None:
    index = _index(MEALS, WEIGHTS)
    results = {one.example.message: one for one in run_examples(index, list_examples(index))}
    assert results["my weigh-in is done"].is_pass
    assert results["lunch"].is_pass
    assert results["lunch"].found == ("meals",)
    both = results["weigh-in of my lunch"]
    assert both.is_pass is (both.decision == "match" and "meals" in both.found)


def test_two_readings_are_named_and_are_no_pass() -> None:
    one = CapabilityProfile("one", "One", triggers=("log it",), sentences=("log it",))
    two = CapabilityProfile("two", "Two", triggers=("log it",), sentences=("log it",))
    index = _index(one, two)
    first, second = run_examples(index, list_examples(index))
    assert (first.decision, first.is_pass, second.is_pass) == ("ambiguous", False, False)
    assert set(first.found) == {"one", "two"}
