"""Two capabilities for one intent: one answer, and a note to the operator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.clauses import match_message
from registry.matching.embedders import get_embedder
from registry.matching.embedding import normalize_vectors
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.index import PUBLISHED_INDEX
from registry.matching.intent_duplicates import KnownIntent, are_duplicates, measure_overlap
from registry.matching.matcher import Matcher
from registry.matching.minilm import MiniLmEmbedder
from registry.matching.ngram_index import Floats
from registry.publishing import publication
from tests.factories import OLGA, bundle, publish

MINILM = MiniLmEmbedder()
WEIGHTS = {"name": "Weight tracking", "description": "Log and track body weight over time."}
LOG = {"name": "Weight log", "description": "Log body weight and track it over time."}
MEALS = {"name": "Meals", "description": "Log meals and what was eaten."}
KNOWN = [
    CapabilityProfile(name, given["name"], given["description"])
    for name, given in (("weights", WEIGHTS), ("log", LOG), ("meals", MEALS))
]


def _embed(texts: list[str]) -> Floats:
    return np.asarray(MINILM.embed(texts), np.float32)


def _matcher() -> Matcher:
    samples = build_training_examples([one.samples for one in KNOWN])
    return Matcher(KNOWN, ExampleSimilarity(samples, _embed(list(samples.texts))))


def test_one_intent_that_two_capabilities_are_for_is_answered_once() -> None:
    found = match_message(_matcher(), "track my body weight", _embed)
    assert found.decision == "match"
    assert [one.capability_id for one in found.matches if not one.is_below_threshold] == list(found.needed)
    assert len(found.needed) == 1
    assert {one.capability_id for one in found.matches[:2]} == {"weights", "log"}


def test_clauses_of_one_intent_do_not_need_both() -> None:
    found = match_message(_matcher(), "log my body weight, and track my weight over time", _embed)
    assert len(found.needed) == 1


def test_what_is_for_another_intent_is_none() -> None:
    matcher = _matcher()
    assert matcher.are_duplicates("weights", "log")
    assert not matcher.are_duplicates("weights", "meals")
    samples = build_training_examples([one.samples for one in KNOWN])
    assert not Matcher(KNOWN, ExampleSimilarity(samples, None)).are_duplicates("weights", "log")


def _intent(name: str, rows: list[list[float]], samples: int = 0) -> KnownIntent:
    """Sentences by their places in three dimensions; the first one is the name."""
    vectors = normalize_vectors(np.array(rows * (samples or 1), np.float32))
    return KnownIntent(CapabilityProfile(name, name), normalize_vectors(vectors.sum(axis=0)), vectors)


MIXED = [[1, 0.3, 0], [1, 0, 0.3], [1, -0.3, 0], [1, 0, -0.3]]
LIST, UPDATE = [[1, 0.4, 0], [1, 0.42, 0]], [[1, -0.4, 0], [1, -0.42, 0]]


def test_what_is_about_one_thing_and_for_another_is_no_duplicate() -> None:
    """As *todo list* and *todo list update*: near as a whole, and no sentence of one is nearer to the other."""
    first, second = _intent("list", LIST, 5), _intent("list update", UPDATE, 5)
    assert first.middle @ second.middle > 0.65
    assert first.vectors is not None
    assert second.vectors is not None
    assert measure_overlap(first.vectors, second.vectors) == 0
    assert not are_duplicates(first, second)
    assert are_duplicates(_intent("list", MIXED, 3), _intent("list update", MIXED[::-1], 2))


def test_with_few_sentences_the_middles_must_be_nearer() -> None:
    near = _intent("list", MIXED), _intent("list", MIXED[::-1])
    assert are_duplicates(*near)
    far = _intent("list", MIXED), _intent("list", [[1, 0.3, 1], [1, 0, 1.3], [1, -0.3, 1], [1, 0, 0.7]])
    assert 0.65 < far[0].middle @ far[1].middle < 0.83
    assert not are_duplicates(*far)


def test_names_that_tell_two_apart_are_believed() -> None:
    first, second = _intent("Cosmos for Python", MIXED, 3), _intent("Cosmos for Java", MIXED[::-1], 2)
    assert not are_duplicates(first, second)
    speaks_of_python = replace(second.profile, description="For Java, or for Python.")
    assert are_duplicates(first, second._replace(profile=speaks_of_python))
    assert are_duplicates(_intent("Reviewer", MIXED, 3), _intent("Review code", MIXED[::-1], 2))


def test_past_the_number_of_sentences_that_are_kept_middles_alone_decide() -> None:
    first, second = _intent("list", MIXED, 3), _intent("list", MIXED, 2)
    assert are_duplicates(first._replace(vectors=None), second)
    assert not are_duplicates(_intent("list", LIST, 5)._replace(vectors=None), _intent("list", UPDATE, 5))


@pytest.mark.django_db
@pytest.mark.parametrize(("given", "is_warned"), [(LOG, True), (MEALS, False)])
def test_the_publish_page_names_the_other(settings: Any, given: dict[str, Any], is_warned: bool) -> None:
    settings.EMBEDDER = "minilm"
    get_embedder.cache_clear()
    publish("weights", **WEIGHTS, intent_triggers=["weigh-in"])
    PUBLISHED_INDEX.get(vector_seconds=600)
    files = bundle("other", **given, intent_triggers=["weight log"])
    found = publication.publish(files=files, by=OLGA, dry_run=True).findings
    shown = [finding for finding in found if finding.code == "INTENT_DUPLICATED"]
    assert [(one.severity, one.pointer) for one in shown] == [("warning", "/description")] * is_warned
    assert all("'weights'" in one.message for one in shown)
