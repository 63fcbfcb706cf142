"""Messages that go on with the skill in use."""

from __future__ import annotations

from typing import Any

import pytest

from capability_client import Session, User
from capability_client.session.follow_ups import is_follow_up
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.test_session import ALL


@pytest.mark.parametrize(
    "message",
    [
        "again", "the same for yesterday", "make it shorter", "and one more time please", "undo that",
        "what about yesterday?",
        "nochmal bitte", "mach es kürzer", "otra vez por favor", "lo mismo para ayer", "encore une fois", "plus court",
        "再来一次", "昨天也一样", "もう一度", "昨日も同じ",
    ],
)  # fmt: skip
def test_follow_ups_name_nothing_themselves(message: str) -> None:
    assert is_follow_up(message)


@pytest.mark.parametrize(
    "message",
    [
        "log it in my calendar",
        "what did I lift yesterday",
        "hello",
        "",
        "yes",
        "再来一杯咖啡",
        "画同样的图",
        "the refund again",
    ],
)
def test_messages_that_name_something_are_no_follow_ups(message: str) -> None:
    assert not is_follow_up(message)


def test_a_follow_up_stays_with_the_skill_that_was_used_last() -> None:
    row = {"capability_id": "beta", "score": 0.9, "below_threshold": False}
    answer: dict[str, Any] = {"decision": "match", "matches": [row], "needed": ["beta"]}
    source = FakeRegistry([build_bundle("alpha"), build_bundle("beta")])
    session = Session(source, user=User(name="Ada"), environment=ALL, matcher=lambda _message: answer)
    assert [hint.capability_id for hint in session.turn("make it shorter").hints] == ["beta"]
    session.load("alpha")
    for _ in range(9):
        turn = session.turn("make it shorter")
        assert (turn.hints, [each.capability_id for each in turn.active]) == ((), ["alpha"])
