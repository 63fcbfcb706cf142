"""One limit over everything, and the circuit breaker after a registry that hung. Time is counted, not waited for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

import capability_client
from capability_client import Session
from capability_client.client import transport
from capability_client.client.messages import Pause, Request, Response, TransportError
from capability_client.client.registry import Registry
from capability_client.client.requester import Limits, Requester
from capability_client.tests.registries import listing, load_answer
from capability_client.tests.test_session import ALL
from capability_kit.errors import RateLimited, RegistryError, RegistryUnreachable

HUNG = TransportError("No whole answer came", is_timeout=True)
REFUSED = TransportError("ConnectError: refused")
GOOD = Response(200, {"content-type": "application/json"}, b"{}")
# What one step of a connection may take (transport.py).
STEP = transport._STEP_SECONDS


@dataclass
class Clock:
    """Seconds that pass when something says so."""

    now: float = 100.0
    sent: list[Request] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def send(self, requester: Requester, *outcomes: Any) -> Any:
        """What a question to the registry returns or raises, where these come back in turn, the last one for ever."""
        left = list(outcomes)
        steps = requester.send("GET", "x", None, {})
        outcome = None
        try:
            while True:
                step = steps.send(outcome)
                outcome = None
                if isinstance(step, Pause):
                    self.now += step.seconds
                    continue
                self.sent.append(step)
                outcome = left.pop(0) if len(left) > 1 else left[0]
                self.now += min(STEP, step.seconds) if outcome is HUNG else 0.0
        except StopIteration as done:
            return done.value


def _requester(clock: Clock, **limits: Any) -> Requester:
    return Requester("http://registry.example", limits=Limits(**limits), timer=clock)


def _fails(clock: Clock, requester: Requester, outcome: Any, kind: type[RegistryError] = RegistryUnreachable) -> float:
    began = clock.now
    with pytest.raises(kind):
        clock.send(requester, outcome)
    return clock.now - began


def test_a_registry_that_says_nothing_costs_six_seconds_at_most() -> None:
    clock = Clock()
    assert _fails(clock, _requester(clock), HUNG) <= 6.0
    assert len(clock.sent) == 1, "no second try of one that said nothing"


def test_pauses_that_the_registry_asks_for_count_as_well() -> None:
    clock = Clock()
    busy = Response(429, {"retry-after": "9", "content-type": "application/json"}, b"{}")
    assert _fails(clock, _requester(clock, tries=9), busy, RateLimited) <= 20.0
    assert len(clock.sent) == 3


def test_after_one_that_hung_nothing_is_asked_until_the_pause_is_over() -> None:
    clock = Clock()
    requester = _requester(clock)
    _fails(clock, requester, HUNG)
    clock.sent.clear()
    for _ in range(5):
        assert _fails(clock, requester, GOOD) == 0.0
    assert clock.sent == []
    clock.now += 30.0
    assert clock.send(requester, GOOD) is GOOD
    assert clock.send(requester, GOOD) is GOOD


def test_the_try_after_a_pause_is_one_and_each_that_fails_doubles_the_pause() -> None:
    clock = Clock()
    requester = _requester(clock, breaker_pause=30.0, breaker_pause_max=100.0)
    _fails(clock, requester, HUNG)
    for pause in (30.0, 60.0, 100.0, 100.0):
        clock.now += pause - 1.0
        assert _fails(clock, requester, HUNG) == 0.0
        clock.now += 1.0
        clock.sent.clear()
        assert _fails(clock, requester, HUNG) == STEP
        assert len(clock.sent) == 1


def test_while_one_tries_again_all_others_wait() -> None:
    clock = Clock()
    requester = _requester(clock)
    _fails(clock, requester, HUNG)
    clock.now += 30.0
    assert requester.breaker.enter() is True
    with pytest.raises(RegistryUnreachable, match="asked again in 30 seconds"):
        requester.breaker.enter()


@pytest.mark.parametrize("outcome", [REFUSED, Response(503, {}, b"")])
def test_a_registry_that_fails_at_once_is_asked_each_time(outcome: Any) -> None:
    clock = Clock()
    requester = _requester(clock)
    for _ in range(3):
        clock.sent.clear()
        _fails(clock, requester, outcome, RegistryError)
        assert len(clock.sent) == 3


def test_without_a_pause_there_is_no_breaker() -> None:
    clock = Clock()
    requester = _requester(clock, breaker_pause=0.0)
    for _ in range(3):
        assert _fails(clock, requester, HUNG) > 0.0


def test_limits_come_from_the_front_of_the_package() -> None:
    assert capability_client.Limits is Limits


class Hanging:
    """A wire to a registry that can hang."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.hangs = False
        self.asked: list[str] = []

    def send(self, call: Request) -> Response | TransportError:
        self.asked.append(call.url.rpartition("/")[2].partition("?")[0])
        if self.hangs:
            self.clock.now += min(STEP, call.seconds)
            return HUNG
        match = {"decision": "none", "matches": [], "needed": [], "registry_revision": 1}
        documents: dict[str, Any] = {
            "capability_registry_list": listing("weights"),
            "capability_skill_load": load_answer(),
            "capability_match": match,
        }
        return Response(200, {"content-type": "application/json"}, json.dumps(documents[self.asked[-1]]).encode())

    def pause(self, seconds: float) -> None:
        self.clock.now += seconds

    def close(self) -> None:
        pass


def test_a_conversation_with_a_hanging_registry_costs_the_limit_once_and_goes_on_quickly() -> None:
    clock = Clock()
    registry: Any = Registry("http://registry.example")
    registry.core.requester = Requester("http://registry.example", timer=clock)
    registry._wire = wire = Hanging(clock)
    session = Session(registry, environment=ALL)
    session.load("weights")
    session.turn("hello")
    wire.hangs = True
    durations = []
    for _ in range(3):
        began = clock.now
        hints = session.turn("my weigh-in").hints
        assert hints == (), "the skill is loaded already"
        durations.append(clock.now - began)
    assert durations[0] <= 6.0
    assert durations[1:] == [0.0, 0.0]
    assert [each.capability_id for each in session.active] == ["weights"]
    wire.hangs = False
    clock.now += 30.0
    wire.asked.clear()
    session.turn("hello again")
    assert wire.asked == ["capability_match"]


def test_a_session_that_begins_while_the_registry_hangs_waits_for_one_question() -> None:
    clock = Clock()
    registry: Any = Registry("http://registry.example")
    registry.core.requester = Requester("http://registry.example", timer=clock)
    registry._wire = wire = Hanging(clock)
    wire.hangs = True
    session = Session(registry, environment=ALL)
    began = clock.now
    session.turn("$weights and more")
    assert clock.now - began <= 6.0
    assert set(wire.asked) == {"capability_registry_list"}
