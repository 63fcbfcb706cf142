"""What a message could mean, and the order of the list of skills."""

from __future__ import annotations

from typing import Any

from capability_client import Session, SessionOptions, User
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.test_session import ALL


def _row(name: str, score: float, *, is_below: bool = True) -> dict[str, Any]:
    return {"capability_id": name, "score": score, "below_threshold": is_below}


def _session(*rows: dict[str, Any], names: tuple[str, ...] = ("alpha", "beta", "gamma"), **settings: Any) -> Session:
    decision = "none" if all(row["below_threshold"] for row in rows) else "match"
    return Session(
        FakeRegistry([build_bundle(name, description=f"About {name}. " * 20) for name in names]),
        user=User(name="Ada"),
        environment=ALL,
        matcher=lambda _message: {"decision": decision, "matches": list(rows), "needed": []},
        **settings,
    )


def test_near_misses_are_named_in_the_prompt_and_are_not_hints() -> None:
    session = _session(_row("beta", 0.3), _row("alpha", 0.2), _row("gamma", 0.05))
    turn = session.turn("something near to beta")
    assert (turn.hints, [each.capability_id for each in turn.near_misses]) == ((), ["beta", "alpha"])
    text = session.prompt().prompt
    section = text.split("Skills that this message could be about (load one only where it is):\n")[1]
    lines = [line for line in section.splitlines() if line.startswith("- ")]
    assert [line[2:7] for line in lines] == ["beta:", "alpha"]
    assert all(len(line) <= 82 for line in lines)
    assert "Skills that fit this message" not in text


def test_near_misses_and_hints_are_five_at_most_and_the_registry_is_asked_for_as_many() -> None:
    names = ("alpha", *(f"near_{number}" for number in range(6)))
    rows = [_row("alpha", 0.9, is_below=False), *(_row(name, 0.3) for name in names[1:])]
    session = _session(*rows, names=names)
    asked: list[int] = []

    def match(_message: str, *, top_k: int = 3) -> dict[str, Any]:
        asked.append(top_k)
        return {"decision": "match", "matches": rows, "needed": []}

    session.context.matcher = match
    turn = session.turn("alpha")
    assert [each.capability_id for each in turn.hints] == ["alpha"]
    assert [each.capability_id for each in turn.near_misses] == [f"near_{number}" for number in range(4)]
    assert asked == [5]
    assert _session(*rows, names=names, options=SessionOptions(hints_max=0)).turn("alpha").near_misses == ()


def test_near_misses_leave_out_what_is_active_and_do_not_keep_it() -> None:
    session = _session(_row("alpha", 0.3))
    session.load("alpha")
    turns = [session.turn("hello") for _ in range(7)]
    assert all(turn.near_misses == () for turn in turns[:5])
    assert not turns[-1].active


def test_the_list_begins_with_what_the_conversation_came_near_to() -> None:
    session = _session(_row("skill_98", 0.3), names=tuple(f"skill_{number:02}" for number in range(99)))
    before = session.system_prompt().included
    assert "skill_98" not in before[:1]
    session.turn("something")
    assert session.system_prompt().included[0] == "skill_98"


def test_the_list_is_in_order_of_names_where_all_fit() -> None:
    session = _session(names=("weights", "meals", "weights_v2", "disk_pressure", "excel_analyzer"))
    listed = ("disk_pressure", "excel_analyzer", "meals", "weights", "weights_v2")
    assert session.system_prompt().included == listed


def test_the_list_is_not_cut_by_the_alphabet_and_stays_in_a_conversation() -> None:
    names = tuple(f"skill_{number:03}" for number in range(200))
    session = _session(names=names)
    session.turn("hello")
    first = session.system_prompt()
    assert len(first.included) >= 55
    assert max(first.included) > "skill_150"
    session.layout.state.nearness["skill_000"] = 0.9
    assert session.system_prompt().prompt == first.prompt
    matcher = session.context.matcher
    again = Session.from_json(session.to_json(), session.context.source, environment=ALL, matcher=matcher)
    assert again.system_prompt().included == first.included
