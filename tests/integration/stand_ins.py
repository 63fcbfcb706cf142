"""Stand-ins for two vendors' models, for agents of docs/agents/: a script, not a mind."""

from __future__ import annotations

import json
from typing import Any

from capability_client.tests.registries import Asked, Given

SAVE = "weights__weight_entry_save_batch"
ENTRY = {"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb", "note": None}


def openai_answer(request: Asked) -> Given:
    """As `POST chat/completions`: load, save, answer, by what stands in the messages. Refuses what the vendor would."""
    body = request.body
    assert request.headers["authorization"] == "Bearer k"
    assert [each["role"] for each in body["messages"]][:2] == ["system", "user"]
    assert all(tool["type"] == "function" for tool in body["tools"])
    results = [each for each in body["messages"] if each["role"] == "tool"]
    calls = [call for each in body["messages"] for call in each.get("tool_calls", ())]
    assert [each["tool_call_id"] for each in results] == [call["id"] for call in calls]
    is_strict = any(tool["function"].get("strict") for tool in body["tools"])
    entry: dict[str, Any] = ENTRY if is_strict else {key: value for key, value in ENTRY.items() if value is not None}
    arguments: dict[str, Any] = {"entries": [entry]} | ({"source": None} if is_strict else {})
    step = [("capability_skill_load", {"capability_id": "weights"}), (SAVE, arguments)]
    if len(results) == len(step):
        return _completion({"role": "assistant", "content": f"Done: {results[-1]['content']}"}, "stop")
    name, arguments = step[len(results)]
    assert name in {tool["function"]["name"] for tool in body["tools"]}
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"c{len(results)}", "type": "function", "function": function}
    return _completion({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")


def _completion(message: dict[str, Any], reason: str) -> Given:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    document = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "any",
        "choices": [choice],
        "usage": usage,
    }
    return Given(document=document)


def anthropic_answer(request: Asked) -> Given:
    """As `POST v1/messages`."""
    body = request.body
    assert "k" in (request.headers.get("x-api-key"), request.headers.get("authorization", "").removeprefix("Bearer "))
    assert body["max_tokens"] > 0
    roles = [each["role"] for each in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"], "turns alternate"
    assert all(set(tool) <= {"name", "description", "input_schema", "strict"} for tool in body["tools"])
    blocks = [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]
    results = [block for block in blocks if block["type"] == "tool_result"]
    step = [("capability_skill_load", {"capability_id": "weights"}), (SAVE, {"entries": [{**ENTRY, "note": "x"}]})]
    if len(results) == len(step):
        return _message({"type": "text", "text": f"Done: {results[-1]['content']}"}, "end_turn")
    name, arguments = step[len(results)]
    assert name in {tool["name"] for tool in body["tools"]}
    return _message({"type": "tool_use", "id": f"c{len(results)}", "name": name, "input": arguments}, "tool_use")


def _message(block: dict[str, Any], reason: str) -> Given:
    usage = {"input_tokens": 1, "output_tokens": 1}
    document = {"id": "1", "type": "message", "role": "assistant", "model": "any", "content": [block], "usage": usage}
    return Given(document=document | {"stop_reason": reason, "stop_sequence": None})
