"""When the matching index is made anew, what answers meanwhile, and what it keeps of the one before."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from registry.access import agent_keys
from registry.matching import index, kernel_classifier, skill_groups
from registry.matching.index import PUBLISHED_INDEX, MatchIndex, MatchIndexCache
from registry.models import RegistryState
from tests.factories import OLGA, publish

pytestmark = pytest.mark.django_db


def test_a_new_key_leaves_the_index_as_it_is() -> None:
    publish("alpha")
    before = PUBLISHED_INDEX.get()
    agent_keys.create_key(name="another", by=OLGA)
    after = PUBLISHED_INDEX.get()
    assert after.matcher is before.matcher
    assert after.revisions.access_revision > before.revisions.access_revision


def test_a_changed_skill_group_makes_another_one() -> None:
    publish("alpha", skill_groups=["body"])
    before = PUBLISHED_INDEX.get()
    skill_groups.set_group(group_id="body", description="All about the body.", by=OLGA)
    described = PUBLISHED_INDEX.get()
    skill_groups.set_group(group_id="body", is_exclusive=True, by=OLGA)
    assert before.matcher is not described.matcher
    assert PUBLISHED_INDEX.get().exclusive == {"body"}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """An index takes long to make; what is begun in the background waits in the list."""
    begun: list[Any] = []
    monkeypatch.setattr(index, "_LAG_FROM_SECONDS", 0.0)
    monkeypatch.setattr(MatchIndexCache, "_renew_in_background", lambda _self, snapshot: begun.append(snapshot))
    return begun


def test_agents_are_answered_from_the_one_before_while_the_next_is_made(slow: list[Any]) -> None:
    publish("alpha")
    PUBLISHED_INDEX.get()
    publish("gamma")
    # The first one reads everything, which says nothing about the second: that is waited for.
    before = PUBLISHED_INDEX.get(may_lag=True)
    assert "gamma" in before.matcher.places
    publish("beta")
    assert PUBLISHED_INDEX.get(may_lag=True) is before
    assert [snapshot.registry_revision for snapshot in slow] == [3]
    assert "beta" in PUBLISHED_INDEX.get().matcher.places


def test_an_index_that_is_made_in_moments_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with some hundred capabilities and a model: what list and load have, the first match has too."""
    begun: list[Any] = []
    monkeypatch.setattr(MatchIndexCache, "_renew_in_background", lambda _self, snapshot: begun.append(snapshot))
    publish("alpha")
    PUBLISHED_INDEX.get()
    monkeypatch.setattr(PUBLISHED_INDEX, "last_build", PUBLISHED_INDEX.last_build._replace(seconds=0.7))
    publish("beta")
    assert "beta" in PUBLISHED_INDEX.get(may_lag=True).matcher.places
    assert not begun


def test_the_first_index_is_waited_for(slow: list[Any]) -> None:
    publish("alpha")
    assert "alpha" in PUBLISHED_INDEX.get(may_lag=True).matcher.places
    assert not slow


def test_after_a_restore_nobody_is_answered_from_before(slow: list[Any]) -> None:
    publish("alpha")
    before = PUBLISHED_INDEX.get()
    RegistryState.objects.update(epoch="another")
    assert PUBLISHED_INDEX.get(may_lag=True) is not before
    assert not slow


def test_the_next_one_is_made_once_by_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    cache, begun, may_go_on = MatchIndexCache(), threading.Event(), threading.Event()
    cache.get()
    publish("gamma")
    before = cache.get()
    made: list[str] = []

    def build(*_: object, **__: object) -> MatchIndex:
        made.append(threading.current_thread().name)
        begun.set()
        assert may_go_on.wait(20)
        return before

    monkeypatch.setattr(index, "_LAG_FROM_SECONDS", 0.0)
    monkeypatch.setattr(index, "build", build)
    monkeypatch.setattr(cache, "_has_same_words", lambda *_: False)
    cache.last_build = cache.last_build._replace(at=0.0)
    publish("beta")
    assert [cache.get(may_lag=True) for _ in range(3)] == [before] * 3
    assert begun.wait(20)
    assert cache.get(may_lag=True) is before
    may_go_on.set()
    with cache.lock:
        assert made == ["match-index"]


def test_a_new_capability_keeps_the_head_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it each publish would let all capabilities be found less well until a job has fitted the head again."""
    for name in ("alpha", "beta", "gamma"):
        publish(name, utterances={"should_match": [f"{name} number {number}" for number in range(5)]})
    cache = MatchIndexCache()
    fitted = cache.get().matcher.evidence
    assert fitted is not None
    assert fitted.weights is not None
    monkeypatch.setattr(kernel_classifier, "_WORK_AT_ONCE", 0)
    publish("delta", utterances={"should_match": ["delta number 1"]})
    extended = cache.get().matcher.evidence
    assert extended is not None
    assert extended.weights is not None
    assert (extended.is_fitted, extended.is_settled) == (False, False)
    at = extended.samples.texts.index("beta number 2"), fitted.samples.texts.index("beta number 2")
    # delta stands before gamma.
    assert np.array_equal(extended.weights[at[0]][[0, 1, 3]], fitted.weights[at[1]])
    assert cache.get().match("delta number 1", top=1).matches[0].capability_id == "delta"


def test_an_index_of_mostly_new_sentences_begins_without_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    publish("beta")
    cache = MatchIndexCache()
    cache.get()
    monkeypatch.setattr(kernel_classifier, "_WORK_AT_ONCE", 0)
    for number in range(9):
        publish(f"other{number}")
    evidence = cache.get().matcher.evidence
    assert evidence is not None
    assert evidence.weights is None
