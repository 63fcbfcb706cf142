"""Several sources in one session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_client import CapabilityNotFound, LocalSkills, SeveralSources
from agent_client.errors import Unavailable
from agent_client.session import Session
from agent_client.testing import FakeRegistry, build_bundle
from tests.unit.agent_client.test_session import ALL


class Matching(FakeRegistry):
    """A registry that matches."""

    def match(self, message: str) -> dict[str, Any]:
        self.requests.append(("match", {"message": message}))
        row = {"capability_id": "sleep", "score": 0.9, "matched_triggers": []}
        return {"decision": "match", "matches": [row], "needed": ["sleep"]}


def _sources() -> tuple[FakeRegistry, Matching]:
    own = FakeRegistry([build_bundle("weights", skill_doc="# Weights\n\nMine.\n", intent_triggers=["weigh-in"])])
    return own, Matching([build_bundle("weights"), build_bundle("sleep")], first_run="sleep")


def test_the_first_source_that_has_a_capability_has_it() -> None:
    session = Session(SeveralSources(*_sources()), environment=ALL)
    assert list(session.entries) == ["weights", "sleep"]
    assert "Mine." in session.load("weights").skill_doc
    assert session.load("sleep").capability_id == "sleep"
    assert [hint.capability_id for hint in session.turn("I slept badly").hints] == []
    assert session.start().capability_id == ""
    with pytest.raises(CapabilityNotFound) as caught:
        session.load("meals")
    assert caught.value.available_capabilities == ["weights", "sleep"]


def test_a_registry_among_them_matches_and_one_that_is_away_is_left_out() -> None:
    own, registry = _sources()
    session = Session(SeveralSources(own, registry), environment=ALL)
    assert [hint.capability_id for hint in session.turn("I slept badly").hints] == ["sleep"]
    registry.is_away = True
    sources = SeveralSources(own, registry)
    assert [entry.capability_id for entry in sources.list()] == ["weights"]
    assert sources.load("weights").capability_id == "weights"
    with pytest.raises(Unavailable):
        sources.load("sleep")
    own.is_away = True
    with pytest.raises(Unavailable):
        sources.list()
    with pytest.raises(ValueError, match="at least one"):
        SeveralSources()


def test_only_what_a_source_can_do_is_offered(tmp_path: Path) -> None:
    """A session asks for it by name: local skills neither match nor take feedback."""
    local, (fake, registry) = LocalSkills(tmp_path), _sources()
    assert [hasattr(SeveralSources(local), name) for name in ("match", "feedback")] == [False, False]
    assert [hasattr(SeveralSources(local, fake), name) for name in ("match", "feedback")] == [False, True]
    assert [hasattr(SeveralSources(local, registry), name) for name in ("match", "feedback")] == [True, True]


def test_a_release_that_was_loaded_stays_although_the_user_adds_one_of_the_same_name() -> None:
    own, registry = FakeRegistry(), _sources()[1]
    session = Session(SeveralSources(own, registry), environment=ALL)
    digest = session.load("sleep").digest
    own.publish(build_bundle("sleep", skill_doc="# Sleep\n\nMine.\n"))
    resumed = Session.from_json(session.to_json(), SeveralSources(own, registry), environment=ALL)
    resumed.bundles.clear()
    assert resumed.load("sleep").digest == digest
