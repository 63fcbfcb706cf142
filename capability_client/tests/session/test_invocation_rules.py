"""A session with a skill that its author closed to the model, and one that is kept off the user's menu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from capability_client import CallResult, Session
from capability_client.client.local_registry import LocalSkills
from capability_client.session.hints import hints_from_match
from capability_client.tests.test_session import ALL
from capability_kit.errors import ModelInvocationDisabled

WORDS = "I need to ship it"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    for name, line in (("ship-it", "disable-model-invocation: true"), ("house-style", "user-invocable: false")):
        (tmp_path / name).mkdir()
        text = f"---\nname: {name}\ndescription: About {name}.\n{line}\n---\nText of {name}.\n"
        (tmp_path / name / "SKILL.md").write_text(text)
    return Session(LocalSkills(tmp_path), environment=ALL)


def _called(session: Session, own: str, **arguments: str) -> Any:
    done = session.call(own, arguments)
    assert isinstance(done, CallResult)
    return done.result


def test_a_skill_closed_to_the_model_is_neither_hinted_nor_listed_nor_loaded_by_it(session: Session) -> None:
    turn = session.turn(WORDS)
    assert turn.hints == ()
    assert session.turn("the house style please").hints[0].capability_id == "house_style"
    assert "ship_it" not in session.system_prompt().prompt
    listed = _called(session, "capability_registry_list")
    assert ([row["capability_id"] for row in listed["capabilities"]], listed["total"]) == (["house_style"], 1)
    for own in ("capability_skill_load", "capability_skill_reload"):
        refused = _called(session, own, capability_id="ship-it")
        assert refused["error"]["code"] == ModelInvocationDisabled.code
    assert not list(session.active)


def test_a_skill_closed_to_the_model_is_loaded_where_the_user_names_it(session: Session) -> None:
    turn = session.turn("$ship-it now")
    assert [each.capability_id for each in turn.active] == ["ship_it"]
    again = _called(session, "capability_skill_load", capability_id="ship_it")
    assert again["loaded"] == "ship_it"


def test_a_response_that_names_a_closed_skill_is_not_hinted(session: Session) -> None:
    session.turn(WORDS)
    rows = [{"capability_id": name, "score": 0.9, "below_threshold": False} for name in session.entries]
    answer = {"decision": "match", "needed": ["ship_it"], "matches": rows}
    assert [hint.capability_id for hint in hints_from_match(answer, session.entries)] == ["house_style"]


def test_the_menu_leaves_out_what_is_not_for_users_and_its_whole_name_is_understood(session: Session) -> None:
    assert [each.capability_id for each in session.autocomplete("$")] == ["ship_it"]
    assert [each.capability_id for each in session.turn("$house-style").active] == ["house_style"]
