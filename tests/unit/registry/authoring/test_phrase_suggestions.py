"""Phrases of a description that can become triggers and example messages."""

from __future__ import annotations

import pytest

from capability_rules.bundles.profile import CapabilityProfile
from registry.authoring.phrase_suggestions import suggest_phrases
from tests.factories import publish

pytestmark = pytest.mark.django_db

SKILL = "Plan trips by train. Use for 'night train', \"book a seat in a night train\" or 'receipt' questions."


def test_phrases_are_suggested_with_what_they_catch_and_who_has_them() -> None:
    publish("sleep", intent_triggers=["Night trains"])
    found = suggest_phrases(CapabilityProfile("trips", "Trip Planner", SKILL))
    triggers = [one for one in found if one.place == "intent_triggers"]
    assert [(one.text, one.catches, one.others) for one in triggers][:2] == [
        ("trip planner", "trip planner", ()),
        ("night train", "book a seat in a night train", ("sleep",)),
    ]
    messages = [one.text for one in found if one.place == "should_match"]
    assert messages == ["book a seat in a night train", "Plan trips by train"]


def test_nothing_is_suggested_where_there_is_enough() -> None:
    known = CapabilityProfile(
        "trips",
        "Trips",
        SKILL,
        triggers=("a1", "b2", "c3"),
        sentences=("one", "two", "three", "four", "five"),
    )
    assert suggest_phrases(known) == []
    # What is there already is not suggested again.
    known = CapabilityProfile("trips", "Trips", SKILL, sentences=("plan trips by trains",))
    assert "Plan trips by train" not in [one.text for one in suggest_phrases(known)]


def test_a_message_is_what_a_user_says_and_not_what_is_said_of_users() -> None:
    description = "Track weight. Use when the user wants to correct an entry, or the user names a weigh-in of today."
    known = CapabilityProfile("weights", "Weights", description)
    texts = [one.text for one in suggest_phrases(known) if one.place == "should_match"]
    assert "correct an entry" in texts
    assert not [text for text in texts if "user" in text]
