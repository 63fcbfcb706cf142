"""Messages that say no to a capability."""

from __future__ import annotations

import pytest

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.denied_intents import match_wanted
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.matcher import Matcher
from registry.matching.ngram_index import Floats

KNOWN = [
    CapabilityProfile("refund", "Refund", triggers=("refund",), sentences=("I want my money back",)),
    CapabilityProfile("sync", "Phone sync", triggers=("sync",), sentences=("don't sync with my phone any more",)),
    CapabilityProfile("weights", "Weights", triggers=("weight",), sentences=("log my weight today",)),
    CapabilityProfile("workouts", "Workouts", triggers=("workout",), sentences=("log my workout",)),
]
MATCHER = Matcher(KNOWN, ExampleSimilarity(build_training_examples([one.samples for one in KNOWN]), None))


def _no_vectors(_texts: list[str]) -> Floats | None:
    return None


@pytest.mark.parametrize(
    ("message", "needed"),
    [
        ("log my weight today", ("weights",)),
        ("don't log my weight today", ()),
        ("not the weight, only log my workout please", ("workouts",)),
        ("log my workout without the weight", ("workouts",)),
        # Of what is denied some is asked for as well.
        ("no weight chart, just log my weight today", ("weights",)),
        # Its own examples say no.
        ("don't sync with my phone any more", ("sync",)),
    ],
)
def test_a_message_does_not_lead_to_what_it_denies(message: str, needed: tuple[str, ...]) -> None:
    assert match_wanted(MATCHER, message, _no_vectors).needed == needed


def test_a_message_that_denies_all_it_names_says_so() -> None:
    found = match_wanted(MATCHER, "please do not log my workout", _no_vectors)
    assert (found.decision, found.matches) == ("none", ())
    assert found.reason == "The message says no to workouts, and asks for nothing else."
