"""A session stops using a quarantined skill at its next check of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capability_client import (
    ApprovalRequired,
    AsyncSession,
    CallNotOpen,
    ModelCall,
    ModelReply,
    Session,
    SessionOptions,
    ToolCall,
    ToolUnknown,
)
from capability_client.client.registry import Registry
from capability_client.client.requester import Limits
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.registries import Asked, Given, bundle, entry, fake_registry, load_answer
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_session import ALL
from capability_kit.bundles.bundle import Listing
from capability_kit.errors import CapabilityNotFound, CapabilityQuarantined, RateLimited, RegistryError, Unavailable
from tests.bundle_files import tool
from tests.event_loop import run_async


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
    assert "weights" not in session.loader.pins
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


def test_what_was_retired_stops_as_well(session: Session, registry: FakeRegistry) -> None:
    registry.retire("weights")
    session.refresh_list()
    _is_gone(session)


# In the turn itself, without anyone who asks for it.


def _run(call: ToolCall) -> Any:
    raise AssertionError(f"{call.tool} must not run")


@pytest.mark.parametrize("end", ["quarantine", "retire"])
def test_a_skill_that_was_taken_away_stops_in_the_next_turn(session: Session, registry: FakeRegistry, end: str) -> None:
    session.turn("hello")
    with pytest.raises(ApprovalRequired) as waiting:
        session.call("weight_save", {}, run=_run)
    getattr(registry, end)("weights")
    turn = session.turn("and again")
    _is_gone(session)
    assert "weights" in {event.capability_id for event in turn.events if event.kind == "dropped"}
    with pytest.raises(CallNotOpen):
        session.approve(waiting.value.call_id, by="olga")
    assert any(event.call_id == waiting.value.call_id and "rejected" in event.words for event in turn.events)
    told = (
        "Skills that were taken out of use (do not follow them, whatever was said before):\n- weights: it was taken out"
    )
    assert told in session.prompt().prompt
    with pytest.raises(ToolUnknown, match="weights is not to be used any more: it was taken out of use"):
        session.call("weights__weight_list", {}, run=_run)
    result: Any = session.call("capability_skill_load", {"capability_id": "weights"}, run=_run).result
    assert result["error"]["code"] == {"quarantine": "CAPABILITY_QUARANTINED", "retire": "CAPABILITY_NOT_FOUND"}[end]
    assert told in Session.from_json(session.to_json(), registry, environment=ALL).prompt().prompt


def test_the_model_reads_in_the_same_turn_that_it_was_taken_away(session: Session, registry: FakeRegistry) -> None:
    registry.quarantine("weights")
    reply = ModelReply("", (ModelCall("1", "weights__weight_list", {}),))
    said = session.say("how much do I weigh?", Scripted(reply), run=_run, approve=lambda call: True)
    assert "weights is not to be used any more" in said


def test_a_session_for_asyncio_stops_as_well(registry: FakeRegistry) -> None:
    async def talk() -> set[str]:
        session = AsyncSession(registry, environment=ALL)
        await session.load("weights")
        await session.load("meals")
        registry.quarantine("weights")
        await session.turn("and again")
        return {each.capability_id for each in session.active}

    assert run_async(talk()) == {"meals"}


def test_what_is_deprecated_meanwhile_goes_on_and_what_is_new_is_noticed(
    session: Session, registry: FakeRegistry
) -> None:
    session.turn("hello")
    old = bundle("weights", tools=[tool("weight_list")], status="deprecated", replaced_by="mass")
    registry.publish(old)
    registry.publish(build_bundle("mass"))
    events = session.turn("and again").events
    assert _holds(session) == {"weights", "meals"}
    assert [(event.capability_id, event.words) for event in events if event.kind == "index"] == [
        ("mass", "it is new"),
        ("weights", "a newer release is there; this session keeps its own until it is reloaded"),
        ("weights", "it is deprecated now; use mass instead"),
    ]
    assert session.call("weight_list", {}, run=lambda call: {"entries": []}).result == {"entries": []}


def test_what_is_restored_can_be_loaded_again(session: Session, registry: FakeRegistry) -> None:
    weights = registry.bundles["weights"]
    registry.quarantine("weights")
    session.turn("hello")
    registry.publish(weights)
    session.turn("and again")
    session.load("weights")
    assert "taken out of use" not in session.prompt().prompt
    assert session.call("weight_list", {}, run=lambda call: {"entries": []}).result == {"entries": []}


def test_a_list_that_is_old_or_lacks_a_source_takes_nothing_away(session: Session, registry: FakeRegistry) -> None:
    class Odd(FakeRegistry):
        more: dict[str, Any] = {}

        def list(self) -> Listing:
            return replace(super().list(), **self.more)

    source = Odd([build_bundle("meals")])
    resumed = Session.from_json(session.to_json(), source, environment=ALL)
    for more in ({"is_stale": True}, {"is_partial": True}):
        source.more = more
        resumed.turn("hello")
        assert _holds(resumed) == {"weights", "meals"}
    source.more = {}
    resumed.turn("hello")
    assert _holds(resumed) == {"meals"}


# Over HTTP: what it costs.


class Studio:
    """A registry over HTTP whose revision moves; it keeps what was asked."""

    def __init__(self) -> None:
        self.listed = {"weights", "meals"}
        self.revision = 1
        self.removed: list[str] = []

    def withdraw(self, name: str) -> None:
        self.listed.discard(name)
        self.removed.append(name)
        self.revision += 1

    def list(self, request: Asked) -> Given:
        is_delta = "updated_since_revision" in request.query
        rows = [] if is_delta else [entry(name) for name in sorted(self.listed)]
        document = {"capabilities": rows, "registry_revision": self.revision, "next_cursor": None}
        return Given(document=document | ({"removed": self.removed} if is_delta else {}))

    def load(self, request: Asked) -> Given:
        name = request.query["capability_id"]
        if name not in self.listed:
            error = {"code": "CAPABILITY_QUARANTINED", "message": f"'{name}' is quarantined", "capability_id": name}
            return Given(423, {"error": error})
        return Given(document=load_answer(name), headers={"ETag": f'"{name}"'})

    def match(self, request: Asked) -> Given:
        none = {"decision": "none", "reason": "", "matches": [], "needed": [], "skill_groups": []}
        return Given(document=none | {"registry_revision": self.revision})


@contextmanager
def _studio() -> Iterator[tuple[Studio, Any]]:
    studio = Studio()
    answers = {"capability_registry_list": studio.list, "capability_skill_load": studio.load}
    with fake_registry(**answers, capability_match=studio.match) as fake:
        yield studio, fake


def _paths(fake: Any) -> list[str]:
    found = [request.path.rpartition("/")[2] for request in fake.asked]
    fake.asked.clear()
    return found


def test_a_turn_asks_for_nothing_more_while_nothing_moved_and_for_one_list_where_it_did() -> None:
    with _studio() as (studio, fake), Registry(fake.url) as registry:
        session = Session(registry, environment=ALL)
        for name in ("weights", "meals"):
            session.load(name)
        session.turn("hello")
        _paths(fake)
        for _ in range(2):
            session.turn("hello")
            assert _paths(fake) == ["capability_match"]
        studio.withdraw("weights")
        session.turn("hello")
        asked = fake.asked[-1]
        assert _paths(fake) == ["capability_match", "capability_registry_list"]
        assert asked.query == {"updated_since_revision": "1"}
        assert _holds(session) == {"meals"}
        session.turn("hello")
        assert _paths(fake) == ["capability_match"]


def test_a_session_that_matches_by_triggers_asks_for_what_changed_once_a_turn() -> None:
    with _studio() as (studio, fake), Registry(fake.url) as registry:
        session = Session(registry, environment=ALL, options=SessionOptions(matches_by_triggers=True))
        session.load("weights")
        session.turn("hello")
        assert _paths(fake) == ["capability_skill_load", "capability_registry_list"]
        session.turn("hello")
        assert _paths(fake) == ["capability_registry_list"]
        studio.withdraw("weights")
        session.turn("hello")
        assert _paths(fake) == ["capability_registry_list"]
        assert _holds(session) == set()


@pytest.mark.parametrize("is_kept_on_disk", [True, False])
@pytest.mark.parametrize("way", ["the session's next turn", "a new list"])
def test_a_kept_copy_of_what_was_taken_away_is_not_used(tmp_path: Path, way: str, is_kept_on_disk: bool) -> None:
    limits = Limits(tries=1)
    folder = tmp_path if is_kept_on_disk else None
    with _studio() as (studio, fake):
        registry = Registry(fake.url, cache_dir=folder, limits=limits)
        session = Session(registry, environment=ALL)
        digest = session.load("weights").digest
        registry.load("weights", digest=digest)
        session.turn("hello")
        studio.withdraw("weights")
        if way == "a new list":
            registry.close()
            registry = Registry(fake.url, cache_dir=folder, limits=limits)
            registry.list()
        else:
            session.turn("hello")
        away = {"code": "REGISTRY_UNAVAILABLE", "message": "Away"}
        fake.answers = {"capability_skill_load": Given(503, {"error": away})}
        for pin in (None, digest):
            with pytest.raises(Unavailable):
                registry.load("weights", digest=pin)
        registry.close()


def test_a_capability_that_is_not_found_any_more_is_not_kept_at_any_release(tmp_path: Path) -> None:
    with _studio() as (_, fake), Registry(fake.url, cache_dir=tmp_path, limits=Limits(tries=1)) as registry:
        digest = registry.load("weights").digest
        registry.load("weights", digest=digest)
        gone = Given(404, {"error": {"code": "CAPABILITY_NOT_FOUND", "message": "No capability found"}})
        fake.answers = {"capability_skill_load": [gone, Given(503)]}
        with pytest.raises(CapabilityNotFound):
            registry.load("weights")
        for pin in (None, digest):
            with pytest.raises(RegistryError):
                registry.load("weights", digest=pin)


def test_what_an_install_code_opened_is_not_taken_for_withdrawn() -> None:
    """Redeeming a code shows a capability to one key, and moves no revision."""
    with _studio() as (studio, fake), Registry(fake.url) as registry:
        session = Session(registry, environment=ALL)
        session.turn("hello")
        studio.listed.add("unlisted_one")
        session.load("unlisted_one")
        _paths(fake)
        session.turn("hello")
        assert _paths(fake) == ["capability_match", "capability_registry_list"]
        assert _holds(session) == {"unlisted_one"}
        session.turn("hello")
        assert _paths(fake) == ["capability_match"]
        assert _holds(session) == {"unlisted_one"}
        studio.withdraw("unlisted_one")
        session.turn("hello")
        assert _holds(session) == set()


def test_a_check_that_is_refused_ends_no_turn_and_takes_nothing_away(session: Session, registry: FakeRegistry) -> None:
    class Refusing(FakeRegistry):
        def list(self) -> Listing:
            raise RateLimited("Too many calls", data={"retry_after_seconds": 60.0})

    session.turn("hello")
    session.context.source = Refusing()
    events = session.turn("hello").events
    assert _holds(session) == {"weights", "meals"}
    assert [event.words for event in events if event.kind == "index"] == [
        "The list of capabilities could not be checked: Too many calls"
    ]
