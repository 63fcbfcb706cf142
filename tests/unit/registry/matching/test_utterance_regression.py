"""Whose example messages a bundle would take, and which of its own others would get."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.bundles.profile import profile_from_text
from registry.matching.embedders import get_embedder
from registry.matching.index import PUBLISHED_INDEX, get_index
from registry.matching.utterance_regression import check_utterances
from registry.publishing import publication
from registry.snapshot import current_snapshot
from registry.snapshot.snapshot import FULL_ACCESS
from tests import costs
from tests.factories import OLGA, bundle, publish
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db

MEALS: dict[str, Any] = {
    "intent_triggers": ["meal"],
    "utterances": {"should_match": ["log what I had for lunch", "what did I eat yesterday", "track my breakfast"]},
}


@pytest.fixture(params=["none", "minilm"])
def embedder(settings: Any, request: Any) -> str:
    settings.EMBEDDER = request.param
    get_embedder.cache_clear()
    return str(request.param)


def _codes(findings: Any) -> list[str]:
    return sorted(finding.code for finding in findings)


def test_what_is_closed_to_the_model_takes_no_sentence_and_loses_none() -> None:
    closed: dict[str, Any] = {"metadata": {"disable-model-invocation": "true"}}
    publish("meals", **MEALS)
    files = bundle(
        "canteen", intent_triggers=["lunch"], utterances={"should_match": ["log what I had for lunch"]}, **closed
    )
    found = check_utterances(profile_from_text(files["capability.json"]), get_index(current_snapshot(), FULL_ACCESS))
    assert (found.moved, found.missed, found.sentences) == ((), (), 0)
    publish("hidden_meals", **MEALS | {"intent_triggers": ["hidden"]} | closed)
    open_one = profile_from_text(bundle("canteen", **MEALS)["capability.json"])
    found = check_utterances(open_one, get_index(current_snapshot(), FULL_ACCESS))
    assert {one.capability_id for one in found.moved} <= {"meals"}
    assert {one.leads_to for one in found.missed} <= {"meals"}


def test_a_trigger_that_stands_in_anothers_sentence_moves_it(embedder: str) -> None:
    publish("meals", **MEALS)
    publish("workouts", intent_triggers=["workout"], utterances={"should_match": ["log my squats"]})
    files = bundle(
        "canteen", intent_triggers=["lunch"], utterances={"should_match": ["log what I had for lunch today"]}
    )
    outcome = publication.publish(files=files, by=OLGA, dry_run=True)
    assert outcome.status == "would_publish"
    assert outcome.gate is not None
    assert outcome.gate.rehearsal is not None
    assert "log what I had for lunch" in [one.sentence for one in outcome.gate.rehearsal.moved]
    assert outcome.gate.rehearsal.sentences == 5
    moved = next(finding for finding in outcome.findings if finding.code == "GOLDEN_SENTENCE_MOVED")
    assert moved.severity == "warning"
    assert moved.message == "'log what I had for lunch', an example message of 'meals', would lead here"


def test_an_own_sentence_that_another_one_gets_is_missed(embedder: str) -> None:
    publish("meals", **MEALS)
    sentences = ["what did I eat yesterday evening", "write my journal"]
    files = bundle("diary", intent_triggers=["journal"], utterances={"should_match": sentences})
    outcome = publication.publish(files=files, by=OLGA, dry_run=True)
    missed = [finding for finding in outcome.findings if finding.code == "GOLDEN_SENTENCE_MISSED"]
    assert [finding.pointer for finding in missed] == ["/utterances/should_match/0"]
    assert "may lead to 'meals' instead" in missed[0].message


@pytest.mark.both_databases
def test_what_is_far_from_everybody_moves_nothing(embedder: str) -> None:
    publish("meals", **MEALS)
    files = bundle("invoices", intent_triggers=["invoice"], utterances={"should_match": ["send me the invoice"]})
    assert _codes(publication.publish(files=files, by=OLGA, dry_run=True).findings) == []


def test_what_it_takes_already_is_not_told_again(embedder: str) -> None:
    publish("meals", **MEALS)
    publish("canteen", intent_triggers=["lunch"], utterances={"should_match": ["log what I had for lunch today"]})
    again = bundle(
        "canteen",
        intent_triggers=["lunch", "dinner plate"],
        utterances={"should_match": ["log what I had for lunch today"]},
    )
    outcome = publication.publish(files=again, by=OLGA, dry_run=True)
    assert "GOLDEN_SENTENCE_MOVED" not in _codes(outcome.findings)


@pytest.mark.both_databases
def test_the_first_bundle_of_a_registry(embedder: str) -> None:
    outcome = publication.publish(files=bundle("meals", **MEALS), by=OLGA, dry_run=True)
    assert _codes(outcome.findings) == []


BEGUN = (
    "{}",
    "[]",
    '"x"',
    "null",
    "{",
    '{"capability_id": "x"}',
    '{"capability_id": "", "name": " ", "description": "", "intent_triggers": []}',
    '{"capability_id": "x", "skill_profile": "agent_skill", "utterances": {"should_match": [" "]}}',
    '{"capability_id": 7, "name": [], "description": {}, "intent_triggers": [[]], "priority": "x", "playbook": []}',
    '{"capability_id": "x", "utterances": {"should_match": "x", "should_not_match": [1]}, "skill_groups": {}, "os": 1}',
)


def test_a_bundle_that_says_nothing_of_itself_is_refused_with_its_findings(embedder: str) -> None:
    publish("meals", **MEALS)

    def check(capability_json: str) -> None:
        files = {**bundle("meals", **MEALS), "capability.json": capability_json}
        for dry_run in (True, False):
            outcome = publication.publish(files=files, by=OLGA, dry_run=dry_run)
            assert outcome.status == "refused"
            assert [finding for finding in outcome.findings if finding.severity == "error"]

    check_each(BEGUN, check)


def test_publishing_itself_does_not_rehearse() -> None:
    publish("meals", **MEALS)
    outcome = publication.publish(files=bundle("canteen", intent_triggers=["lunch"]), by=OLGA)
    assert outcome.gate is not None
    assert outcome.gate.rehearsal is None


def test_a_thousand_capabilities_with_ten_sentences_each() -> None:
    """Measured at 0.9 s on words alone; the test holds that it is done, and how often it looked."""
    from capability_rules.bundles.profile import CapabilityProfile
    from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
    from registry.matching.index import IndexRevisions, MatchIndex
    from registry.matching.matcher import Matcher
    from registry.matching.search import SearchIndex

    known = [
        CapabilityProfile(
            f"c{n}", f"Thing {n}", triggers=(f"thing{n}",), sentences=tuple(f"do {k} with thing{n}" for k in range(10))
        )
        for n in range(1000)
    ]
    evidence = ExampleSimilarity(build_training_examples([one.samples for one in known]), None)
    index = MatchIndex(
        IndexRevisions(1, 0, ""), Matcher(known, evidence), Matcher([], None), lambda: SearchIndex([], [], None), None
    )
    candidate = profile_from_text(
        bundle("new", intent_triggers=["thing7"], utterances={"should_match": ["do 3 now"]})["capability.json"]
    )
    with costs.at_most(1000):
        result = check_utterances(candidate, index)
    assert result.sentences == 10_001
    assert PUBLISHED_INDEX.index is None
