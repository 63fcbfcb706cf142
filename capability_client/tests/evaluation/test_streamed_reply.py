"""Pieces of a reply, put together to the document of the vendor."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_client.evaluation.streamed_reply import AnthropicReply, OpenaiReply, PartialReply


def _openai(*deltas: dict[str, Any]) -> OpenaiReply:
    reply = OpenaiReply()
    for delta in deltas:
        reply.add(json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}))
    return reply


def _calls(reply: OpenaiReply) -> list[tuple[str, str, str]]:
    calls = reply.document()["choices"][0]["message"]["tool_calls"]
    return [(one["id"], one["function"]["name"], one["function"]["arguments"]) for one in calls]


def _call(name: str = "", arguments: Any = "", **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


def test_calls_are_told_apart_by_index_and_where_servers_do_not_count_by_id() -> None:
    reply = _openai(
        {"tool_calls": [_call("first", '{"a"', index=0, id="x")]},
        {"tool_calls": [_call("second", "{}", index=1, id="y")]},
        {"tool_calls": [_call(None, ": 1}", index=0)]},  # type: ignore[arg-type]
    )
    assert _calls(reply) == [("x", "first", '{"a": 1}'), ("y", "second", "{}")]
    same = _openai(
        {"tool_calls": [_call("first", "{}", index=0, id="x")]},
        {"tool_calls": [_call("second", "{}", index=0, id="y")]},
    )
    assert _calls(same) == [("x", "first", "{}"), ("y", "second", "{}")]
    without = _openai({"tool_calls": [_call("first", {"a": 1}), _call("second", "{}")]})
    assert _calls(without) == [("", "first", '{"a": 1}'), ("", "second", "{}")]


def test_other_choices_and_empty_deltas_are_left_out() -> None:
    reply = _openai({"role": "assistant", "content": None, "tool_calls": None}, {"content": "a"}, {})
    reply.add('{"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}], "usage": null}')
    reply.add('{"choices": null, "usage": {"prompt_tokens": 3}}')
    assert (reply.partial(), reply.is_whole, reply.usage) == (PartialReply("a"), False, {"prompt_tokens": 3})
    reply.add('{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}')
    assert (reply.is_whole, reply.is_ended) == (True, False)
    reply.add(" [DONE]")
    assert reply.is_ended


@pytest.mark.parametrize("data", ["", "{", "[]", '"x"', '{"choices": [7]}', '{"choices": [{"delta": {"content": 7}}]}'])
def test_what_is_not_a_chunk_is_refused_and_what_came_before_stays(data: str) -> None:
    reply = _openai({"content": "a"})
    with pytest.raises((TypeError, AttributeError)):
        reply.add(data)
    assert reply.partial() == PartialReply("a")


def _anthropic(*events: dict[str, Any]) -> AnthropicReply:
    reply = AnthropicReply()
    for event in events:
        reply.add(json.dumps(event))
    return reply


def _begun(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, kind: str, **piece: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **piece}}


def test_blocks_thoughts_and_events_that_are_not_known_are_left_out() -> None:
    reply = _anthropic(
        {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}},
        _begun(0, type="thinking", thinking=""),
        _delta(0, "thinking_delta", thinking="secret"),
        _delta(0, "signature_delta", signature="s"),
        _begun(1, type="text", text=""),
        _delta(1, "text_delta", text="Hello"),
        _delta(1, "citations_delta", citation={}),
        _begun(2, type="server_tool_use", id="s", name="web_search", input={}),
        _delta(2, "input_json_delta", partial_json='{"q": 1}'),
        {"type": "content_block_stop", "index": 2},
        _begun(3, type="tool_use", id="t", name="save", input={}),
        _delta(3, "input_json_delta", partial_json=""),
        _delta(3, "input_json_delta", partial_json='{"a": '),
        {"type": "ping"},
        {"type": "news", "more": 1},
    )
    assert reply.partial() == PartialReply("Hello", (("save", '{"a": '),))
    assert reply.usage == {"input_tokens": 9, "output_tokens": 1}
    reply.add(json.dumps(_delta(3, "input_json_delta", partial_json="[1]}")))
    reply.add('{"type": "message_delta", "delta": {}, "usage": {"output_tokens": 15, "input_tokens": null}}')
    assert not reply.is_whole
    reply.add('{"type": "message_stop"}')
    assert (reply.is_whole, reply.is_ended) == (True, True)
    assert reply.document() == {
        "content": [
            {"type": "text", "text": "Hello"},
            {"type": "tool_use", "id": "t", "name": "save", "input": {"a": [1]}},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 15},
    }


@pytest.mark.parametrize(
    ("pieces", "given", "found"),
    [
        ([], {}, {}),
        ([], {"a": 1}, {"a": 1}),
        ([""], {}, {}),
        (['{"a": '], {}, '{"a": '),
        (["[" * 100_000], {}, "[" * 100_000),
    ],
)
def test_input_without_pieces_is_the_one_it_began_with_and_what_is_not_json_stays_a_text(
    pieces: list[str], given: Any, found: Any
) -> None:
    deltas = [_delta(0, "input_json_delta", partial_json=piece) for piece in pieces]
    reply = _anthropic(_begun(0, type="tool_use", id="t", name="save", input=given), *deltas)
    assert reply.document()["content"][0]["input"] == found


@pytest.mark.parametrize(
    "event",
    [_delta(7, "text_delta", text="x"), _delta(0, "text_delta", text=7), {"type": "message_start"}, {"type": "error"}],
)
def test_what_is_not_an_event_of_a_message_is_refused(event: dict[str, Any]) -> None:
    reply = _anthropic(_begun(0, type="text", text="a"))
    with pytest.raises((KeyError, AttributeError)):
        reply.add(json.dumps(event))
    assert reply.partial() == PartialReply("a")


def test_its_size_is_that_of_words_and_arguments() -> None:
    assert _openai({"content": "é"}, {"tool_calls": [_call("n", "ab")]}).size == 4
    assert _anthropic(_begun(0, type="text", text=""), _delta(0, "text_delta", text="é\ud800")).size == 5
