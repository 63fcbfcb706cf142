"""Triggers that are suggested are whole things that people say; fragments of a sentence never are."""

from __future__ import annotations

import pytest

from registry.authoring.trigger_suggestions import list_trigger_candidates


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        # Verbs with their whole object, in the form in which they are asked for.
        (
            "zz-top",
            "Track daily calorie and protein intake, set nutrition goals, and generate diet reports. Stored locally.",
            ["set nutrition goals", "generate diet reports"],
        ),
        ("zz-top", "Use when creating data pipelines, or scheduling batch jobs.", ["create data pipelines"]),
        ("zz-top", "When the user wants to build a free tool for marketing.", ["build a free tool"]),
        # What is asked for.
        ("zz-top", "Use it when somebody asks for a late checkout or an extra bed.", ["late checkout", "extra bed"]),
        ("zz-top", "Answers requests (towels, minibar) of guests.", ["towels", "minibar"]),
        # What is quoted, in a few words.
        ("zz-top", "Triggers: 'how to scale tenants', 'zz'. Not for 'single tenants'.", ["how to scale tenants"]),
        # A slug that nobody says is left out, one that the description says is not; so is a name with spaces.
        ("lead-magnets", "Plans a lead magnet.", ["lead magnets", "plan a lead magnet"]),
        ("cron-mastery", "Master timing systems.", []),
        ("Piano tuning visits", "Safely analyzes and answers questions.", ["piano tuning visits"]),
        # Halves of what is listed, and what a capability does for everybody, are none.
        ("zz-top", "Analyze writing style, readability, tone, and structure.", []),
        ("zz-top", "Helps customers of the bakery to look up an order and answers questions. It changes data.", []),
        ("zz-top", "Use when builds are slow. Guides for creating effective skills.", []),
    ],
)
def test_a_suggestion_is_whole_or_there_is_none(name: str, description: str, expected: list[str]) -> None:
    assert list_trigger_candidates(name=name, description=description) == expected


def test_what_is_given_is_not_suggested_in_another_form() -> None:
    assert list_trigger_candidates(name="zz-top", description="Set nutrition goals.", given=["Nutrition goal set"]) == [
        "set nutrition goals"
    ]
    assert (
        list_trigger_candidates(name="zz-top", description="Set nutrition goals.", given=["Setting nutrition goal"])
        == []
    )
