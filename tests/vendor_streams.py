"""A vendor's reply as its stream of server-sent events, in the form of the vendors' references.

Sources: OpenAI, "Chat completion chunk object"; Anthropic, "Streaming Messages".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

Json = dict[str, Any]
STREAM_TYPE = "text/event-stream; charset=utf-8"


def write_stream(vendor: Literal["openai", "anthropic"], document: Json, body: Json) -> Iterator[bytes]:
    """The events of a whole reply to a request, one after another, each with its empty line."""
    return _openai(document, body) if vendor == "openai" else _anthropic(document, body)


def _pieces(text: str) -> list[str]:
    """A word at a time, as tokens are."""
    return re.findall(r"\s*\S+\s*$|\s*\S+", text) or ([text] if text else [])


def _fragments(text: str) -> list[str]:
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def _openai(document: Json, body: Json) -> Iterator[bytes]:
    (choice,) = document["choices"]
    has_usage = (body.get("stream_options") or {}).get("include_usage", False)
    head = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_764_201_600,
        "model": body["model"],
        "system_fingerprint": "fp_1",
    }

    def chunk(delta: Json, finish_reason: str | None = None) -> bytes:
        one = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage: Json = {"usage": None} if has_usage else {}
        return openai_event(head | {"choices": [one]} | usage | {"obfuscation": "x7"})

    said = choice["message"]
    yield chunk({"role": "assistant", "content": "" if said["content"] else None, "refusal": None})
    for piece in _pieces(said["content"] or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(said.get("tool_calls", ())):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]})
        for piece in _fragments(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    if has_usage:
        counted = document["usage"]
        total = {"total_tokens": counted["prompt_tokens"] + counted["completion_tokens"]}
        yield openai_event(head | {"choices": [], "usage": counted | total})
    yield b"data: [DONE]\n\n"


def _anthropic(document: Json, body: Json) -> Iterator[bytes]:
    usage = document["usage"]
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage | {"output_tokens": 1},
    }
    yield anthropic_event("message_start", message=message)
    for index, block in enumerate(document["content"]):
        is_text = block["type"] == "text"
        begun = {"type": "text", "text": ""} if is_text else block | {"input": {}}
        yield anthropic_event("content_block_start", index=index, content_block=begun)
        yield anthropic_event("ping")
        if is_text:
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        else:
            given = block["input"]
            written = given if isinstance(given, str) else json.dumps(given)
            pieces = ["", *_fragments(written)]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        for delta in deltas:
            yield anthropic_event("content_block_delta", index=index, delta=delta)
        yield anthropic_event("content_block_stop", index=index)
    ended = {"stop_reason": document["stop_reason"], "stop_sequence": None}
    yield anthropic_event("message_delta", delta=ended, usage={"output_tokens": usage["output_tokens"]})
    yield anthropic_event("message_stop")


def openai_event(data: Json) -> bytes:
    """One event; texts are not escaped, as the vendor's are not, but for halves of characters."""
    return f"data: {_dumps(data)}\n\n".encode()


def anthropic_event(kind: str, **data: Any) -> bytes:
    """One event with its name."""
    return f"event: {kind}\ndata: {_dumps({'type': kind, **data})}\n\n".encode()


def _dumps(data: Json) -> str:
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(data)
    return text
