"""A session stops using a quarantined skill at its next check of it."""

from __future__ import annotations

from typing import Any

import pytest

from agent_client.errors import CapabilityQuarantined
from agent_client.session import ApprovalRequired, CallNotOpen, Session, ToolUnknown
from agent_client.testing import FakeRegistry, build_bundle
from tests.factories import tool
from tests.unit.agent_client.test_session import ALL


@pytest.fixture
def registry() -> FakeRegistry:
    weights = build_bundle("weights", tools=[tool("weight_save", "write"), tool("weight_list")])
    return FakeRegistry([weights, build_bundle("meals")])


@pytest.fixture
def session(registry: FakeRegistry) -> Session:
    found = Session(registry, environment=ALL)
    found.load("weights")
    found.load("meals")
    return found


def _holds(session: Session) -> set[str]:
    return {each.capability_id for each in session.active}


def _is_gone(session: Session) -> None:
    assert _holds(session) == {"meals"}
    assert "weights" not in session.bundles
    assert "weights" not in session.pins
    assert "weight_list" not in str(session.prompt())
    with pytest.raises(ToolUnknown):
        session.call("weight_list", {}, run=lambda call: None)
    assert [event.capability_id for event in session.events if "quarantined" in event.words] == ["weights"]


def test_a_reload_drops_it(session: Session, registry: FakeRegistry) -> None:
    registry.quarantine("weights")
    with pytest.raises(CapabilityQuarantined):
        session.reload("weights")
    _is_gone(session)
    with pytest.raises(CapabilityQuarantined):
        session.load("weights")


def test_reading_the_list_again_drops_it(session: Session, registry: FakeRegistry) -> None:
    session.refresh_list()
    assert _holds(session) == {"weights", "meals"}
    registry.quarantine("weights")
    session.refresh_list()
    _is_gone(session)


def test_a_model_that_reads_the_list_is_told(session: Session, registry: FakeRegistry) -> None:
    registry.quarantine("weights")
    result: Any = session.call("capability_registry_list", {}, run=lambda call: None).result
    assert [row["capability_id"] for row in result["capabilities"]] == ["meals"]
    _is_gone(session)
    result = session.call("capability_skill_load", {"capability_id": "weights"}, run=lambda call: None).result
    assert result["error"]["code"] == "CAPABILITY_QUARANTINED"
    assert "stopped using it" in result["error"]["message"]


def test_its_open_calls_are_rejected(session: Session, registry: FakeRegistry) -> None:
    with pytest.raises(ApprovalRequired) as waiting:
        session.call("weight_save", {}, run=lambda call: "saved")
    registry.quarantine("weights")
    session.refresh_list()
    with pytest.raises(CallNotOpen):
        session.approve(waiting.value.call_id, by="olga")


def test_what_was_saved_before_is_dropped_at_the_first_list(session: Session, registry: FakeRegistry) -> None:
    text = session.to_json()
    registry.quarantine("weights")
    resumed = Session.from_json(text, registry, environment=ALL)
    assert _holds(resumed) == {"weights", "meals"}
    resumed.turn("hello")
    assert _holds(resumed) == {"meals"}


def test_what_is_only_retired_stays_at_its_release(session: Session, registry: FakeRegistry) -> None:
    registry.retire("weights")
    session.refresh_list()
    assert _holds(session) == {"weights", "meals"}
