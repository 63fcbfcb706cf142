"""Reads that take long have a limit, by key or by the network of those who read without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from agent_api.v1.match_and_search import MESSAGE_MAX, match_cost
from studio.config.parsers import parse_rate_limits
from tests.factories import bearer, publish
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db

BASE = "/api/v1/"
Call = Callable[[Client, dict[str, Any]], Any]


def _post(name: str, **body: Any) -> Call:
    return lambda client, more: client.post(BASE + name, body, content_type="application/json", **more)


def _tool(name: str, **arguments: Any) -> Call:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return lambda client, more: client.post("/mcp", message, content_type="application/json", **more)


CALLS: dict[str, Call] = {
    "reload": _post("capability_skill_reload", capability_id="alpha"),
    "prompt": _post("prompt_render", capability_ids=["alpha"]),
    "unknown id": lambda client, more: client.get(f"{BASE}capability_skill_load?capability_id=nobody", **more),
    "file of an unknown id": lambda client, more: client.get(
        f"{BASE}capability_file_load?capability_id=nobody&path=a.md", **more
    ),
    "MCP reload": _tool("capability_skill_reload", capability_id="alpha"),
    "MCP prompt": _tool("prompt_render", capability_ids=["alpha"]),
    "MCP unknown id": _tool("capability_skill_load", capability_id="nobody"),
}


def _is_refused(answer: Any) -> bool:
    return answer.status_code == 429 or "RATE_LIMITED" in answer.content.decode()


def test_each_is_counted_by_key_and_by_network(settings: Any) -> None:
    publish()
    settings.RATE_LIMITS = dict(parse_rate_limits("match=off,write=off,guess=off,uncached=2/min"))
    for number, (name, call) in enumerate(CALLS.items()):
        # An address of an IPv6 network each, so that the calls of one do not count for another.
        of = f"2001:db8:0:{number}"
        key = {"headers": bearer("read", name=f"key {number}")}

        def check(who: str, call: Call = call, of: str = of, key: dict[str, Any] = key) -> None:
            seen = [
                _is_refused(call(Client(REMOTE_ADDR=f"{of}::{turn}"), key if who == "key" else {})) for turn in range(3)
            ]
            assert seen == [False, False, True]

        check_each([f"{name} by {who}" for who in ("key", "network")], lambda cell: check(cell.rpartition(" ")[2]))


def test_what_is_cached_is_not_counted(client: Client, settings: Any) -> None:
    publish()
    settings.RATE_LIMITS = dict(parse_rate_limits("uncached=1/min"))
    for _ in range(3):
        assert client.get(f"{BASE}capability_skill_load?capability_id=alpha").status_code == 200
        assert client.get(f"{BASE}capability_registry_list").status_code == 200


def test_a_prompt_counts_each_capability(client: Client, settings: Any) -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    settings.RATE_LIMITS = dict(parse_rate_limits("uncached=3/min"))
    body = {"capability_ids": ["alpha", "beta", "gamma"]}
    asked = [client.post(f"{BASE}prompt_render", body, content_type="application/json").status_code for _ in range(2)]
    assert asked == [200, 429]


def test_a_long_message_counts_as_many() -> None:
    assert [match_cost("x" * length) for length in (1, 2_000, 2_199, 2_200, MESSAGE_MAX)] == [1, 1, 1, 2, 491]


def test_long_messages_use_up_the_limit(client: Client, settings: Any) -> None:
    publish()
    settings.RATE_LIMITS = dict(parse_rate_limits("match=3/min"))
    statuses = [
        client.post(f"{BASE}capability_match", {"message": text}, content_type="application/json").status_code
        for text in ("short", "x" * 2_600, "short")
    ]
    # The one that goes past the limit is still answered: a limit never refuses a kind of call forever.
    assert statuses == [200, 200, 429]
