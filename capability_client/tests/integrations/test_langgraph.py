"""The adapter for LangGraph: what its nodes ask of the registry."""

from __future__ import annotations

from typing import Any

import pytest

from capability_client import ToolCall, User
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.integrations.frameworks import FromModel, FromUser, adapter
from capability_client.tests.test_session import ALL
from tests.bundle_files import tool


class Matching(FakeRegistry):
    """A registry that says its revision with each match."""

    def match(self, message: str) -> dict[str, Any]:
        self._request("match")
        rows = [
            {"capability_id": name, "score": 1.0, "matched_triggers": []} for name in self.bundles if name in message
        ]
        needed = [row["capability_id"] for row in rows]
        found = {"decision": "match" if rows else "none", "matches": rows, "needed": needed}
        return found | {"registry_revision": self.registry_revision}


def _run(call: ToolCall) -> Any:
    return {"entries": []}


@pytest.fixture
def source() -> Matching:
    return Matching([build_bundle("alpha", tools=[tool("alpha_list")]), build_bundle("beta")])


@pytest.fixture
def skills(monkeypatch: pytest.MonkeyPatch, source: Matching) -> Any:
    nodes = adapter(monkeypatch, "langgraph")
    return nodes.SkillNodes(source, _run, user=User(name="Ada"), environment=ALL)


def _message(skills: Any, state: dict[str, Any], text: str, *calls: tuple[str, Any]) -> dict[str, Any]:
    """One message of the user through the nodes, as a graph runs them."""
    state = {**state, "messages": [*state.get("messages", []), FromUser(text)]}
    state |= skills.hear(state)
    for number, (name, arguments) in enumerate(calls):
        skills.tools(state)
        skills.system(state)
        call = {"id": f"c{len(state['messages'])}_{number}", "name": name, "args": arguments}
        state["messages"] = [*state["messages"], FromModel(tool_calls=[call])]
        done = skills.act(state)
        state |= {"session": done["session"], "messages": [*state["messages"], *done["messages"]]}
    skills.tools(state)
    skills.system(state)
    state["messages"] = [*state["messages"], FromModel("Done.")]
    return state


def _asked(source: Matching) -> list[str]:
    found = [name for name, _ in source.requests]
    source.requests.clear()
    return found


LOAD = ("capability_skill_load", {"capability_id": "alpha"})
LIST: tuple[str, Any] = ("alpha__alpha_list", {})


def test_a_message_asks_for_the_list_once_and_later_ones_only_where_it_moved(skills: Any, source: Matching) -> None:
    state = _message(skills, {}, "alpha please", LOAD, LIST)
    assert _asked(source) == ["list", "match", "load"]
    state = _message(skills, state, "and again", LIST)
    assert _asked(source) == ["match"]
    source.publish(build_bundle("gamma"))
    state = _message(skills, state, "and again", LIST)
    assert _asked(source) == ["match", "list"]
    assert "gamma" in skills.system(state).content


def test_a_skill_that_was_taken_away_stops_in_every_conversation(skills: Any, source: Matching) -> None:
    states = [_message(skills, {}, "alpha please", LOAD, LIST) for _ in range(2)]
    source.quarantine("alpha")
    _asked(source)
    for state in states:
        after = _message(skills, state, "and again", LIST)
        assert "alpha is not to be used any more" in after["messages"][-2].content
        assert "alpha: it was taken out of use" in skills.system(after).content
    assert _asked(source) == ["match", "list", "match"]


def test_what_one_conversation_reads_is_not_changed_under_another(skills: Any, source: Matching) -> None:
    state = _message(skills, {}, "hello")
    session = skills.session(state)
    entries = session.index.entries
    source.publish(build_bundle("gamma"))
    _message(skills, state, "hello")
    assert session.index.entries is entries
