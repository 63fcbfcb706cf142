"""Vendors of models that are as strict as OpenAI (chat completions), Anthropic (messages) and Gemini, without a socket.

`StrictVendor.post` stands in for `httpx2.post`: it refuses with 400 what the vendor would refuse, and lets a script
answer. The rules are those of the vendors' API references; where a vendor has become lenient, the strict form holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from json import dumps
from typing import Any, Literal

import httpx2

from capability_kit.prompt import estimate_tokens
from tests.vendor_streams import STREAM_TYPE, write_stream

# What each reply costs.
READ, WRITTEN = 100, 7
Json = dict[str, Any]
Vendor = Literal["openai", "anthropic"]
# `(text, [(name, arguments)])`: what the model says, and what it calls.
Reply = tuple[str, Sequence[tuple[str, Any]]]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TOOLS_MAX = 128


class VendorRefused(Exception):
    """A request that the vendor would answer with 400."""


def _require(holds: object, words: str) -> None:
    if not holds:
        raise VendorRefused(words)


def _only(value: Mapping[str, Any], where: str, required: Iterable[str], optional: Iterable[str] = ()) -> None:
    _require(isinstance(value, dict), f"{where}: not an object")
    missing, unknown = set(required) - set(value), set(value) - set(required) - set(optional)
    _require(not missing, f"{where}: missing {sorted(missing)}")
    _require(not unknown, f"{where}: unknown {sorted(unknown)}")


# OpenAI, chat completions.


def check_openai(body: Json) -> None:
    """Raise `VendorRefused` for what `POST chat/completions` refuses."""
    optional = ("tools", "tool_choice", "temperature", "max_completion_tokens", "stream", "stream_options")
    _only(body, "body", ("model", "messages"), optional)
    _require(isinstance(body.get("stream", False), bool), "stream: not a boolean")
    if "stream_options" in body:
        _require(body.get("stream"), "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
        _only(body["stream_options"], "stream_options", (), ("include_usage", "include_obfuscation"))
    _require(body["messages"], "messages: empty")
    open_ids: list[str] = []
    for index, message in enumerate(body["messages"]):
        where = f"messages[{index}]"
        role = message.get("role")
        if role == "tool":
            _only(message, where, ("role", "tool_call_id", "content"))
            _require(isinstance(message["content"], str), f"{where}: content is not a text")
            wanted = message["tool_call_id"]
            _require(wanted in open_ids, f"{where}: role 'tool' must be a response to a preceding 'tool_calls'")
            open_ids.remove(wanted)
            continue
        _require(not open_ids, f"{where}: 'tool_calls' must be followed by tool messages; missing {open_ids}")
        _require(role in ("system", "user", "assistant"), f"{where}: unknown role {role!r}")
        open_ids = _openai_calls(message, where) if role == "assistant" else []
        if role != "assistant":
            _only(message, where, ("role", "content"))
            _require(isinstance(message["content"], str), f"{where}: content is not a text")
    _require(not open_ids, f"messages: 'tool_calls' must be followed by tool messages; missing {open_ids}")
    _check_names([_openai_tool(tool) for tool in body.get("tools", ())])


def _openai_calls(message: Json, where: str) -> list[str]:
    _only(message, where, ("role", "content"), ("tool_calls",))
    calls = message.get("tool_calls", [])
    is_silent = message["content"] is None
    _require(not is_silent or calls, f"{where}: content may be null only beside tool_calls")
    _require(is_silent or isinstance(message["content"], str), f"{where}: content is not a text")
    _require("tool_calls" not in message or calls, f"{where}: tool_calls is empty")
    for call in calls:
        _only(call, where, ("id", "type", "function"))
        _only(call["function"], where, ("name", "arguments"))
        _require(call["type"] == "function" and call["id"], f"{where}: odd call")
        _require(isinstance(call["function"]["arguments"], str), f"{where}: arguments are not a text")
        _require(_NAME.fullmatch(call["function"]["name"]), f"{where}: odd name {call['function']['name']!r}")
    ids = [call["id"] for call in calls]
    _require(len(ids) == len(set(ids)), f"{where}: two calls have one id")
    return ids


def _openai_tool(tool: Json) -> str:
    _only(tool, "tools", ("type", "function"))
    _only(tool["function"], "tools", ("name",), ("description", "parameters", "strict"))
    return str(tool["function"]["name"])


# Anthropic, messages.


def check_anthropic(body: Json) -> None:
    """Raise `VendorRefused` for what `POST v1/messages` refuses."""
    optional = ("system", "tools", "tool_choice", "temperature", "stream")
    _only(body, "body", ("model", "max_tokens", "messages"), optional)
    _require(isinstance(body.get("stream", False), bool), "stream: not a boolean")
    messages = body["messages"]
    roles = [message.get("role") for message in messages]
    _require(roles and roles[0] == "user", "messages: the first one is the user's")
    _require(roles == (["user", "assistant"] * len(roles))[: len(roles)], f"messages: roles must alternate: {roles}")
    _require(roles[-1] == "user", "messages: the last one is the user's")
    wanted: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        _only(message, where, ("role", "content"))
        blocks = _anthropic_blocks(message, where)
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        _require(
            [block["type"] for block in blocks[: len(results)]] == ["tool_result"] * len(results),
            f"{where}: tool_result blocks come first",
        )
        _require(sorted(results) == sorted(wanted), f"{where}: tool_use {wanted} without their tool_result {results}")
        wanted = [block["id"] for block in blocks if block["type"] == "tool_use"]
        _require(not seen & {*wanted} and len(wanted) == len({*wanted}), f"{where}: tool_use ids must be unique")
        seen |= {*wanted}
    _check_names([_anthropic_tool(tool) for tool in body.get("tools", ())])


def _anthropic_blocks(message: Json, where: str) -> list[Json]:
    content = message["content"]
    blocks: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    _require(blocks, f"{where}: content is empty")
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            _only(block, where, ("type", "text"), ("cache_control",))
            _require(block["text"].strip(), f"{where}: text content blocks must contain non-whitespace text")
        elif kind == "tool_use" and message["role"] == "assistant":
            _only(block, where, ("type", "id", "name", "input"), ("cache_control",))
            _require(isinstance(block["input"], dict), f"{where}: input is not an object")
            _require(re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]), f"{where}: odd id")
            _require(_NAME.fullmatch(block["name"]), f"{where}: odd name")
        elif kind == "tool_result" and message["role"] == "user":
            _only(block, where, ("type", "tool_use_id", "content"), ("is_error", "cache_control"))
        else:
            raise VendorRefused(f"{where}: {message['role']} has a block {kind!r}")
    return blocks


def _anthropic_tool(tool: Json) -> str:
    optional = ("description", "cache_control", "strict", "input_examples", "defer_loading")
    _only(tool, "tools", ("name", "input_schema"), optional)
    return str(tool["name"])


# Gemini, generateContent.


def check_gemini(contents: Sequence[Json]) -> None:
    """Raise `VendorRefused` for `contents` that Gemini refuses."""
    roles = [content.get("role") for content in contents]
    _require(roles and roles == (["user", "model"] * len(roles))[: len(roles)], f"contents: alternate, found {roles}")
    wanted: list[str] = []
    for index, content in enumerate(contents):
        where = f"contents[{index}]"
        _only(content, where, ("role", "parts"))
        _require(content["parts"], f"{where}: no parts")
        results = []
        for part in content["parts"]:
            (kind,) = part
            if kind == "text":
                _require(part["text"].strip(), f"{where}: an empty text")
            elif kind == "functionCall" and content["role"] == "model":
                _only(part[kind], where, ("name", "args"))
                _require(isinstance(part[kind]["args"], dict), f"{where}: args are not an object")
            elif kind == "functionResponse" and content["role"] == "user":
                _only(part[kind], where, ("name", "response"))
                _require(isinstance(part[kind]["response"], dict), f"{where}: response is not an object")
                results.append(part[kind]["name"])
            else:
                raise VendorRefused(f"{where}: {content['role']} has a part {kind!r}")
        _require(results == wanted, f"{where}: functionCall {wanted} without their functionResponse {results}")
        wanted = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
    _require(not wanted, f"contents: functionCall {wanted} without a functionResponse")


def _check_names(names: Sequence[str]) -> None:
    _require(len(names) <= _TOOLS_MAX, f"tools: {len(names)} are more than {_TOOLS_MAX}")
    _require(len(names) == len(set(names)), "tools: two have one name")
    _require(all(_NAME.fullmatch(name) for name in names), f"tools: odd names {names}")


@dataclass
class StrictVendor:
    """One vendor. `reply` is given the request's body and plays the model; ids of calls are the vendor's own.

    `tokens_max` is the context of the model: a body of more estimated tokens is refused.
    """

    vendor: Vendor
    reply: Callable[[Json], Reply]
    tokens_max: int = 128_000
    requests: int = 0
    largest: int = 0
    _calls: int = field(default=0, repr=False)

    def post(self, url: str, *, json: Any, headers: Mapping[str, str], timeout: float) -> httpx2.Response:
        """As `httpx2.post`, which refuses what no JSON can hold."""
        request = httpx2.Request("POST", url, json=json, headers=dict(headers))
        self.requests += 1
        try:
            body = self._checked(request.content.decode("utf-8"))
        except VendorRefused as error:
            return httpx2.Response(400, json={"error": {"message": str(error)}}, request=request)
        text, calls = self.reply(body)
        document = self._document(text, calls)
        if body.get("stream"):
            content = b"".join(write_stream(self.vendor, document, body))
            return httpx2.Response(200, content=content, headers={"content-type": STREAM_TYPE}, request=request)
        # With escapes: a model may write half a character.
        headers = {"content-type": "application/json"}
        return httpx2.Response(200, content=dumps(document), headers=headers, request=request)

    def _checked(self, raw: str) -> Json:
        body: Json = json.loads(raw)
        tokens = estimate_tokens(raw)
        self.largest = max(self.largest, tokens)
        _require(tokens <= self.tokens_max, f"context_length_exceeded: {tokens:,} of {self.tokens_max:,} tokens")
        (check_openai if self.vendor == "openai" else check_anthropic)(body)
        return body

    def _document(self, text: str, calls: Sequence[tuple[str, Any]]) -> Json:
        named = []
        for name, arguments in calls:
            self._calls += 1
            named.append((f"call_{self._calls}", name, arguments))
        if self.vendor == "openai":
            made = [
                {"id": each, "type": "function", "function": {"name": name, "arguments": _written(arguments)}}
                for each, name, arguments in named
            ]
            message = {"role": "assistant", "content": text or None} | ({"tool_calls": made} if made else {})
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if made else "stop"}
            return {"choices": [choice], "usage": {"prompt_tokens": READ, "completion_tokens": WRITTEN}}
        blocks = [{"type": "text", "text": text}] if text else []
        uses = [{"type": "tool_use", "id": each, "name": name, "input": given} for each, name, given in named]
        usage = {"input_tokens": READ, "output_tokens": WRITTEN}
        reason = "tool_use" if uses else "end_turn"
        return {"role": "assistant", "content": [*blocks, *uses], "stop_reason": reason, "usage": usage}


def _written(arguments: Any) -> str:
    """A text is what a model wrote that is not JSON."""
    return arguments if isinstance(arguments, str) else dumps(arguments)


def tool_names(body: Json) -> list[str]:
    """The names of the tools of a request, in either vendor's form."""
    return [str(tool.get("function", tool)["name"]) for tool in body.get("tools", ())]
