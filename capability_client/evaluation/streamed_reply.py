"""A reply that comes in pieces, put together to the document that the vendor sends in one.

Sources: OpenAI's reference of chat completion chunks, Anthropic's guide "Streaming Messages". Events, deltas and keys
that are not known are left out, as Anthropic asks for. What is not in the vendor's form raises KeyError, TypeError,
IndexError or AttributeError.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from capability_kit.json_text import parse_json

_END: Final = "[DONE]"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PartialReply:
    """What has come of a reply. `calls` are names, each with its arguments: a text that may end anywhere."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()


class StreamedReply(Protocol):
    """What both vendors' replies have.

    `is_ended`: nothing more is to be read; `is_whole`: nothing is missing; `error`: what the vendor ended it with;
    `usage`: its count so far, in its own keys; `size`: bytes of text and arguments.
    """

    is_ended: bool
    is_whole: bool
    error: Any
    usage: Json
    size: int

    def add(self, data: str) -> None:
        """Take the data of an event."""

    def partial(self) -> PartialReply:
        """The part of the reply that has come so far."""

    def document(self) -> Json:
        """As the vendor sends it without a stream, with what is read of it."""


def _object(data: str) -> Json:
    found = parse_json(data)
    if not isinstance(found, dict):
        raise TypeError(f"expected an object in an event, got {data[:80]!r}")
    return found


@dataclass(slots=True)
class _StreamedCall:
    """A call in the making; `given` is what its arguments begin with where no piece of them follows."""

    call_id: str = ""
    name: str = ""
    given: Any = None
    pieces: list[str] = field(default_factory=list)

    def written(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class OpenaiReply:
    """`choices[0]` of chat completion chunks. A reply with its `finish_reason` is whole, also where a server leaves
    `[DONE]` out."""

    is_ended: bool = False
    is_whole: bool = False
    error: Any = None
    usage: Json = field(default_factory=dict)
    size: int = 0
    _text: list[str] = field(default_factory=list)
    _calls: list[_StreamedCall] = field(default_factory=list)
    _by_index: dict[Any, _StreamedCall] = field(default_factory=dict)

    def add(self, data: str) -> None:
        """See `StreamedReply`."""
        if data.strip() == _END:
            self.is_ended = self.is_whole = True
            return
        chunk = _object(data)
        self.error = chunk.get("error")
        self.usage |= chunk.get("usage") or {}
        # The last chunk has usage and no choice.
        for choice in chunk.get("choices") or ():
            if choice.get("index", 0) == 0:
                self._take(choice.get("delta") or {})
                self.is_whole = self.is_whole or bool(choice.get("finish_reason"))

    def _take(self, delta: Json) -> None:
        if text := delta.get("content"):
            self.size += _size(text)
            self._text.append(text)
        for place, piece in enumerate(delta.get("tool_calls") or ()):
            call = self._call_of(piece, place)
            made = piece.get("function") or {}
            call.name = call.name or str(made.get("name") or "")
            if arguments := made.get("arguments"):
                written = arguments if isinstance(arguments, str) else json.dumps(arguments)
                self.size += _size(written)
                call.pieces.append(written)

    def _call_of(self, piece: Json, place: int) -> _StreamedCall:
        """Some servers give each call index 0, and an id of its own."""
        index, call_id = piece.get("index", place), str(piece.get("id") or "")
        call = self._by_index.get(index)
        if call is None or (call_id and call.call_id and call_id != call.call_id):
            call = self._by_index[index] = _StreamedCall()
            self._calls.append(call)
        call.call_id = call.call_id or call_id
        return call

    def partial(self) -> PartialReply:
        """See `StreamedReply`."""
        return PartialReply("".join(self._text), tuple((one.name, one.written()) for one in self._calls))

    def document(self) -> Json:
        """See `StreamedReply`."""
        calls = [{"id": one.call_id, "function": {"name": one.name, "arguments": one.written()}} for one in self._calls]
        message = {"content": "".join(self._text), "tool_calls": calls}
        return {"choices": [{"message": message}], "usage": self.usage}


@dataclass(slots=True)
class AnthropicReply:
    """The events of one message, from `message_start` to `message_stop`."""

    is_ended: bool = False
    is_whole: bool = False
    error: Any = None
    usage: Json = field(default_factory=dict)
    size: int = 0
    _blocks: dict[int, list[str] | _StreamedCall] = field(default_factory=dict)

    def add(self, data: str) -> None:
        """See `StreamedReply`."""
        event = _object(data)
        kind = event.get("type")
        if kind == "message_start":
            self._count(event["message"].get("usage"))
        elif kind == "content_block_start":
            self._begin(event["index"], event["content_block"])
        elif kind == "content_block_delta":
            self._take(event["index"], event["delta"])
        elif kind == "message_delta":
            # Cumulative: each count replaces the one before.
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self.is_ended = self.is_whole = True
        elif kind == "error":
            self.error = event["error"]

    def _count(self, usage: Json | None) -> None:
        self.usage |= {name: count for name, count in (usage or {}).items() if count is not None}

    def _begin(self, index: int, block: Json) -> None:
        if block["type"] == "text":
            self._blocks[index] = []
            self._take(index, {"type": "text_delta", "text": block.get("text") or ""})
        elif block["type"] == "tool_use":
            self._blocks[index] = _StreamedCall(str(block["id"]), str(block["name"]), block.get("input"))

    def _take(self, index: int, delta: Json) -> None:
        if delta["type"] == "text_delta":
            pieces, piece = self._blocks[index], delta["text"]
        elif delta["type"] == "input_json_delta":
            if index not in self._blocks:
                # Of a tool that runs at the vendor's.
                return
            pieces, piece = self._blocks[index], delta["partial_json"]
        else:
            return
        self.size += _size(piece)
        (pieces.pieces if isinstance(pieces, _StreamedCall) else pieces).append(piece)

    def partial(self) -> PartialReply:
        """See `StreamedReply`."""
        blocks = self._in_order()
        text = "".join("".join(block) for block in blocks if not isinstance(block, _StreamedCall))
        return PartialReply(text, tuple((one.name, one.written()) for one in blocks if isinstance(one, _StreamedCall)))

    def document(self) -> Json:
        """See `StreamedReply`."""
        return {"content": [_block(one) for one in self._in_order()], "usage": self.usage}

    def _in_order(self) -> list[list[str] | _StreamedCall]:
        return list(self._blocks.values())


def _block(block: list[str] | _StreamedCall) -> Json:
    """Input that is not JSON, such as one that was cut off, stays a text: the gate says so to the model."""
    if not isinstance(block, _StreamedCall):
        return {"type": "text", "text": "".join(block)}
    written = block.written()
    try:
        given = json.loads(written) if written else block.given
    except (ValueError, RecursionError):
        given = written
    return {"type": "tool_use", "id": block.call_id, "name": block.name, "input": given}


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
