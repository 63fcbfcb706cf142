"""Why a use failed, for the registry: the last call of the turn that failed, and, redacted, what was said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from capability_client.session.messages import Message, ModelCall
from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.tool_names import wire_name
from capability_kit.json_text import map_texts, parse_json
from capability_kit.outcome_reports import CONVERSATION_BYTES_MAX, MESSAGES_MAX, NAME_LENGTH_MAX

Json = dict[str, Any]


def find_failed_call(bundle: Bundle, messages: Sequence[Message]) -> Json | None:
    """The last call of a tool of this skill that failed since the user last spoke: `{"tool", "code", "missing"?}`."""
    turn = list(_turn(messages))
    calls = {call.call_id: call for message in turn for call in message.calls}
    tools = {wire_name(bundle.capability_id, tool["name"]): tool for tool in bundle.tools}
    for message in turn:
        call = calls.get(message.call_id) if message.role == "tool" else None
        code = _error_code(message.text) if call is not None else ""
        if call is not None and code and call.name in tools:
            tool = tools[call.name]
            required: Any = tool["args_schema"].get("required", ())
            left_out = sorted(set(required) - _given(call))
            found = {"tool": tool["name"], "code": code} | ({"missing": left_out[0]} if left_out else {})
            return {name: str(value)[:NAME_LENGTH_MAX] for name, value in found.items()}
    return None


def _turn(messages: Sequence[Message]) -> Iterable[Message]:
    """The messages since the user last spoke, the newest first."""
    for message in reversed(messages):
        if message.role == "user":
            return
        yield message


def _error_code(text: str) -> str:
    try:
        code = parse_json(text)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return ""
    return code if isinstance(code, str) and code.replace("_", "").isalnum() and code.isascii() else ""


def _given(call: ModelCall) -> set[str]:
    arguments = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except ValueError:
            return set()
    return set(arguments) if isinstance(arguments, dict) else set()


def redact_conversation(messages: Sequence[Message], redact: Callable[[str], str]) -> list[Json]:
    """The newest messages that fit, each text and each string in arguments through `redact`."""
    kept: list[Json] = []
    left = CONVERSATION_BYTES_MAX - 2
    for message in reversed(messages[-MESSAGES_MAX:]):
        row: Json = {"role": message.role, "text": redact(message.text)}
        if message.calls:
            row["calls"] = [{"tool": call.name, "arguments": _arguments(call, redact)} for call in message.calls]
        left -= len(json.dumps(row, ensure_ascii=False).encode()) + 2
        if left < 0:
            break
        kept.append(row)
    return kept[::-1]


def _arguments(call: ModelCall, redact: Callable[[str], str]) -> Json:
    if isinstance(call.arguments, dict):
        redacted: Json = map_texts(call.arguments, redact)
        return redacted
    return {"text": redact(call.arguments_text)}
