"""A message that is asked again is answered from memory, where nothing else can have changed."""

from __future__ import annotations

from typing import Any

import pytest

from registry.access import agent_keys
from registry.matching.embedders import EndpointEmbedder
from registry.matching.embedding import EmbedderUnavailable
from registry.matching.index import PUBLISHED_INDEX, MatchIndex
from registry.models import MatchCount
from registry.publishing import publication
from registry.usage import usage_counters
from tests.factories import OLGA, publish

pytestmark = pytest.mark.django_db
MATCH = "capability_match"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The messages that were matched, and not answered from memory."""
    found: list[str] = []
    match = MatchIndex.match

    def note(self: MatchIndex, message: str, **more: Any) -> Any:
        found.append(message)
        return match(self, message, **more)

    monkeypatch.setattr(MatchIndex, "match", note)
    return found


def _ask(api: Any, message: str, headers: dict[str, str] | None = None, **more: Any) -> Any:
    return api.ok(api.post(MATCH, {"message": message, **more}, headers=headers), "match")


def test_a_message_is_matched_once_for_each_index_and_arguments(api: Any, asked: list[str]) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    first = _ask(api, "my weigh-in")
    assert _ask(api, "my weigh-in") == first
    assert asked == ["my weigh-in"]
    _ask(api, "my weigh-in", top_k=1)
    _ask(api, "my weigh-in", os="linux")
    _ask(api, "my weigh-in", group="health")
    assert len(asked) == 4
    publish("scales", intent_triggers=["scales"])
    assert _ask(api, "my weigh-in")["index_revision"] > first["index_revision"]
    assert len(asked) == 5


def test_each_key_has_the_answers_of_what_it_sees(api: Any, asked: list[str]) -> None:
    publish("salaries", intent_triggers=["salary"], skill_groups=["staff"])
    publish("weights", intent_triggers=["weigh-in"], skill_groups=["health"])
    limited = {"Authorization": f"Bearer {agent_keys.create_key(name='limited', by=OLGA, groups=['health'])[1]}"}
    assert _ask(api, "salary")["needed"] == ["salaries"]
    for _ in range(2):
        assert _ask(api, "salary", limited)["needed"] == []
    assert asked == ["salary", "salary"]


def test_messages_that_are_answered_from_memory_are_counted(api: Any) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    for _ in range(3):
        _ask(api, "my weigh-in")
    usage_counters.flush()
    assert [(row.decision, row.count) for row in MatchCount.objects.all()] == [("match", 3)]


def test_only_so_many_are_kept_and_no_long_ones(api: Any, asked: list[str], settings: Any) -> None:
    settings.RATE_LIMITS = {}
    publish("weights", intent_triggers=["weigh-in"])
    for number in range(300):
        _ask(api, f"weigh-in {number}")
    held = PUBLISHED_INDEX.index
    assert held is not None
    assert len(held.answers._answers) == 256
    asked.clear()
    for message in ("weigh-in 299", "weigh-in 0", "weigh-in " * 300, "weigh-in " * 300):
        _ask(api, message)
    assert len(asked) == 3


def test_what_a_model_that_did_not_respond_has_led_to_is_not_kept(
    api: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise EmbedderUnavailable("away")

    publish("weights", intent_triggers=["weigh-in"])
    _ask(api, "anything")
    held = PUBLISHED_INDEX.index
    assert held is not None
    embedder = EndpointEmbedder(url="https://models.example", model="some", dimension=8)
    object.__setattr__(held, "embedder", embedder)
    monkeypatch.setattr(EndpointEmbedder, "embed_messages", fail)
    _ask(api, "my weigh-in")
    _ask(api, "my weigh-in")
    assert asked == ["anything", "my weigh-in", "my weigh-in"]


def test_an_answer_comes_whole_from_one_index(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job or a publish may end while it is worked out."""
    publish("weights", intent_triggers=["weigh-in"], skill_groups=["health"])
    first = _ask(api, "the weigh-in")
    match = MatchIndex.match

    def retire(self: MatchIndex, message: str, **more: Any) -> Any:
        monkeypatch.setattr(MatchIndex, "match", match)
        publication.retire(capability_id="weights", by=OLGA)
        assert "weights" not in PUBLISHED_INDEX.get().matcher.places
        return match(self, message, **more)

    monkeypatch.setattr(MatchIndex, "match", retire)
    found = _ask(api, "my weigh-in")
    assert (found["needed"], found["skill_groups"]) == (["weights"], ["health"])
    assert found["index_revision"] == first["index_revision"]
    assert _ask(api, "my weigh-in")["needed"] == []
