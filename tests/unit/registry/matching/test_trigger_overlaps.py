"""Triggers of one bundle that another capability has too."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.bundles.profile import CapabilityProfile
from registry.core.published_index import INDEX
from registry.matching.trigger_overlaps import Overlap, find_trigger_overlaps
from registry.publishing import publication
from tests.factories import OLGA, bundle, publish


def _known(capability_id: str, *triggers: str) -> CapabilityProfile:
    return CapabilityProfile(capability_id, capability_id.title(), triggers=triggers)


@pytest.mark.django_db
@pytest.mark.parametrize("other", ["sign-up", "Sign up", "signing up", "SIGNUP", "sign–up"])
def test_the_same_words_however_they_are_written(other: str) -> None:
    publish("b", intent_triggers=[other])
    publish("c", intent_triggers=["invoice total"])
    found = find_trigger_overlaps(_known("a", "invoice", "sign-up"), INDEX.refreshed().owners_of_trigger)
    assert found == [Overlap(1, "sign-up", ("b",))]


def test_a_capability_does_not_overlap_with_itself() -> None:
    assert find_trigger_overlaps(_known("a", "food"), lambda _trigger: ["a"]) == []


@pytest.mark.django_db
def test_the_gate_warns_and_lets_it_pass() -> None:
    publish("meals", intent_triggers=["calories", "food"])
    publish("retired_one", intent_triggers=["food"])
    publication.retire(capability_id="retired_one", by=OLGA)
    outcome = publication.publish(files=bundle("diary", intent_triggers=["journal", "Foods"]), by=OLGA)
    assert outcome.status == "published"
    (finding,) = outcome.findings
    assert (finding.code, finding.severity, finding.pointer) == ("TRIGGER_OVERLAP", "warning", "/intent_triggers/1")
    assert finding.message == "The trigger 'Foods' is one of 'meals' as well"
    assert (finding.file, finding.line) == ("capability.json", 7)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("owners", "words"), [(3, "'b0', 'b1', 'b2' as well"), (4, "'b0', 'b1', 'b2' and more as well")]
)
def test_three_others_are_named(owners: int, words: str) -> None:
    for number in range(owners):
        publish(f"b{number}", intent_triggers=["food"])
    outcome = publication.publish(files=bundle("diary", intent_triggers=["food"]), by=OLGA)
    (finding,) = (each for each in outcome.findings if each.code == "TRIGGER_OVERLAP")
    assert finding.message == f"The trigger 'food' is one of {words}"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "is_warned"),
    [
        ({}, True),
        ({"intent_triggers": ["parcel"]}, False),
        ({"utterances": {"should_match": ["where is my parcel"]}}, False),
        ({"metadata": {"disable-model-invocation": "true"}}, False),
    ],
)
def test_what_no_message_was_tested_for_says_so(fields: dict[str, Any], is_warned: bool) -> None:
    files = bundle("parcel", **({"skill_profile": "agent_skill", "intent_triggers": []} | fields))
    outcome = publication.publish(files=files, by=OLGA)
    assert outcome.status == "published"
    assert ("TRIGGERS_MISSING" in [each.code for each in outcome.findings]) is is_warned
