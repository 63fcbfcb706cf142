"""Null is the same as leaving an optional argument out, and 10.0 is an integer: over HTTP and MCP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from agent_api.http.argument_forms import normalize_arguments
from capability_rules.schema_loader import SCHEMAS_DIR, read_schema
from features.mcp.tools import TOOLS
from registry.snapshot import STORE
from tests.factories import agent_key, bundle, publish
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db

OPTIONAL: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "based_on": {"type": ["integer", "null"]},
        "inner": {"type": "object", "properties": {"os": {"type": "string"}}},
        "by_id": {"type": "object", "additionalProperties": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}}},
        "log": {"type": "object"},
    },
}


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"count": None, "unknown": None}, {}),
        ({"name": None, "based_on": None}, {"name": None, "based_on": None}),
        ({"count": 10.0, "share": 1.0}, {"count": 10, "share": 1.0}),
        ({"count": 10.5}, {"count": 10.5}),
        ({"count": 1e300}, {"count": int(1e300)}),
        ({"inner": {"os": None}, "by_id": {"a": None}}, {"inner": {}, "by_id": {"a": None}}),
        ({"rows": [{"path": None}, None]}, {"rows": [{}, None]}),
        ({"log": {"level": None, "count": 1.0}}, {"log": {"level": None, "count": 1.0}}),
        ({"unknown": {"a": None}}, {"unknown": {"a": None}}),
    ],
)
def test_what_is_optional_may_be_null_and_what_is_whole_is_an_integer(given: Any, taken: Any) -> None:
    found = normalize_arguments(given, OPTIONAL)
    assert found == taken
    assert [type(one) for one in found.values()] == [type(one) for one in taken.values()]


def test_every_optional_key_of_every_request_may_be_null() -> None:
    def check(name: str) -> None:
        schema = read_schema(f"api/{name}")
        optional = {key: None for key in schema["properties"] if key not in schema.get("required", ())}
        left = normalize_arguments(optional, schema)
        assert all("null" in schema["properties"][key]["type"] for key in left)

    check_each([path.name.removesuffix(".schema.json") for path in (SCHEMAS_DIR / "api").glob("*_request.*")], check)


CALLS: dict[str, dict[str, Any]] = {
    "capability_skill_load": {"capability_id": "alpha", "revision": None, "digest": None},
    "capability_skill_reload": {"capability_id": "alpha"},
    "prompt_render": {
        "capability_ids": ["alpha"], "environment": {"os": None, "bins": None}, "arguments": {"alpha": None},
    },
    "capability_match": {"message": "alpha please", "top_k": None, "group": None, "os": None},
    "capability_search": {"q": "alpha", "top_k": None, "group": None},
    "capability_feedback": {"capability_id": "alpha", "outcome": "used", "revision": None},
    "capability_propose": {"files": bundle("beta"), "note": None},
    "capability_registry_list": {"group": None, "os": None, "fields": None, "limit": None, "cursor": None},
}  # fmt: skip


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return value


@pytest.fixture
def key() -> dict[str, str]:
    publish()
    STORE.refresh()
    return {"Authorization": f"Bearer {agent_key('read', 'feedback', 'propose')}"}


def _post(path: str, body: Any, key: dict[str, str]) -> Any:
    return Client().post(path, json.dumps(body), content_type="application/json", headers=key)


def test_a_call_over_http_with_nulls_is_the_call_without_them(key: dict[str, str]) -> None:
    for name in ("capability_skill_load", "prompt_render", "capability_match"):
        given = CALLS[name]
        answers = [_post(f"/api/v1/{name}", one, key) for one in (given, _without_nulls(given))]
        assert answers[0].status_code == answers[1].status_code == 200, answers[0].content
        assert answers[0].json() == answers[1].json()
    assert _post("/api/v1/capability_feedback", CALLS["capability_feedback"], key).status_code == 200
    assert _post("/api/v1/capability_propose", CALLS["capability_propose"], key).status_code == 201


@pytest.mark.parametrize("limit", ["10", "10.0", "10.00"])
def test_a_whole_number_in_a_query_may_have_zeros_behind_its_point(limit: str, key: dict[str, str]) -> None:
    answer = Client().get("/api/v1/capability_registry_list", {"limit": limit}, headers=key)
    assert answer.status_code == 200, answer.content


def _messages() -> Iterator[dict[str, Any]]:
    for number, tool in enumerate(TOOLS):
        params = {"name": tool["name"], "arguments": CALLS[tool["name"]], "_meta": None}
        yield {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    for number, method in enumerate(("ping", "tools/list", "resources/list", "prompts/list", "initialize"), 100):
        yield {"jsonrpc": "2.0", "id": number, "method": method, "params": None}
    named = {"name": "alpha", "arguments": {"arguments": None}}
    yield {"jsonrpc": "2.0", "id": 200, "method": "prompts/get", "params": named}
    yield {"jsonrpc": "2.0", "id": 201, "method": "prompts/get", "params": {"name": "alpha", "arguments": None}}
    listed = {"name": "capability_registry_list", "arguments": None}
    yield {"jsonrpc": "2.0", "id": 202, "method": "tools/call", "params": listed}


def test_a_message_with_nulls_is_the_message_without_them(key: dict[str, str]) -> None:
    def check(message: dict[str, Any]) -> None:
        for path in ("/mcp", "/mcp/"):
            answer = _post(path, message, key).json()
            assert "error" not in answer, answer
            assert not answer["result"].get("isError"), answer

    check_each(list(_messages()), check, name=lambda message: message["id"])


@pytest.mark.parametrize("top_k", [3, 3.0])
def test_a_tool_takes_a_whole_float_as_an_integer(top_k: float, key: dict[str, str]) -> None:
    arguments = {"message": "alpha please", "top_k": top_k}
    params = {"name": "capability_match", "arguments": arguments}
    answer = _post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, key).json()
    assert answer["result"]["isError"] is False
