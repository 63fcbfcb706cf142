"""A conversation that every vendor accepts: results behind their calls, limits, cuts at a user's message."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from capability_client import (
    AsyncSession,
    Message,
    ModelCall,
    ModelReply,
    Session,
    SessionFileRefused,
    SessionOptions,
    export_messages,
)
from capability_client.session.conversation import cut_history, repair, result_text, shorten, shorten_turn
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_session import ALL
from tests.event_loop import run_async
from tests.json_values import parsed
from tests.vendors import VendorRefused, check_anthropic, check_gemini, check_openai


def _user(text: str = "hello") -> Message:
    return Message("user", text)


def _agent(*call_ids: str, text: str = "") -> Message:
    return Message("agent", text, tuple(ModelCall(each, "tool", {"a": 1}) for each in call_ids))


def _result(call_id: str, text: str = '{"ok": 1}') -> Message:
    return Message("tool", text, call_id=call_id)


def accepted(messages: list[Message]) -> None:
    """Every vendor accepts these messages, as they are before the model is asked next."""
    asked = [*messages, _user("and now?")] if messages[-1].role == "agent" and not messages[-1].calls else messages
    check_openai({"model": "any", "messages": export_messages(asked, "openai")})
    check_anthropic({"model": "any", "max_tokens": 1, "messages": export_messages(asked, "anthropic")})
    check_gemini(export_messages(asked, "gemini"))


def _code(message: Message) -> str:
    return str(json.loads(message.text)["error"]["code"])


def test_the_strict_vendors_refuse_what_is_broken() -> None:
    open_call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    plain: list[list[dict[str, Any]]] = [
        [{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "1", "content": "x"}],
        [{"role": "assistant", "content": None}],
        [{"role": "user", "content": "x", "id": 1}],
        [{"role": "assistant", "content": None, "tool_calls": [open_call]}, {"role": "user", "content": "x"}],
    ]
    for messages in plain:
        with pytest.raises(VendorRefused):
            check_openai({"model": "any", "messages": messages})
    use = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
    blocks: list[list[dict[str, Any]]] = [
        [{"role": "assistant", "content": "x"}],
        [{"role": "user", "content": "x"}, {"role": "user", "content": "x"}],
        [{"role": "user", "content": " "}],
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": [use]}, {"role": "user", "content": "x"}],
    ]
    for messages in blocks:
        with pytest.raises(VendorRefused):
            check_anthropic({"model": "any", "max_tokens": 1, "messages": messages})
    with pytest.raises(VendorRefused):
        check_gemini([{"role": "model", "parts": [{"text": "x"}]}])


def test_repair_leaves_out_orphans_and_closes_open_calls() -> None:
    whole = [_user(), _agent("1", "2"), _result("1"), _result("2"), _agent(text="Done.")]
    assert repair(whole) == whole
    broken = [_result("0"), _user(), _agent("1", "2"), _result("2"), _result("9"), _user(), _result("1"), _agent("3")]
    found = repair(broken)
    assert [each.role for each in found] == ["user", "agent", "tool", "tool", "user", "agent", "tool"]
    assert [each.call_id for each in found if each.role == "tool"] == ["1", "2", "3"]
    assert (_code(found[2]), found[3], _code(found[6])) == ("INTERRUPTED", broken[3], "INTERRUPTED")
    assert repair(found) == found
    accepted(found)


def test_an_id_that_a_model_gives_twice_is_two_results() -> None:
    twice = [_user(), _agent("1", "1"), _result("1", '"a"'), _result("1", '"b"'), _user(), _agent("1"), _result("1")]
    assert repair(twice) == twice
    accepted(twice)


def test_what_is_empty_or_begins_with_the_agent_is_accepted() -> None:
    accepted([_agent(text="Hey Ada!"), _user(""), _agent(text=" "), _user("x"), _agent("a/b:c"), _result("a/b:c", "")])


def test_arguments_that_are_a_text_reach_every_vendor() -> None:
    odd = Message("agent", "", (ModelCall("1", "tool", '{"a": '), ModelCall("2", "tool", None)))
    messages = [_user(), odd, _result("1"), _result("2")]
    accepted(messages)
    assert parsed(export_messages(messages, "openai"))[1]["tool_calls"][0]["function"]["arguments"] == '{"a": '
    assert [each["type"] for each in export_messages(messages, "openai_responses")[1:]] == [
        "function_call", "function_call", "function_call_output", "function_call_output"
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no vendor 'mcp'"):
        export_messages(messages, "mcp")  # type: ignore[arg-type]


def _random_turns(rng: random.Random, count: int) -> list[Message]:
    made = []
    for turn in range(count):
        made.append(_user("x" * rng.randrange(1, 200)))
        for step in range(rng.randrange(3)):
            ids = [f"{turn}_{step}_{number}" for number in range(rng.randrange(3))]
            if ids:
                made += [_agent(*ids), *(_result(each, "y" * rng.randrange(400)) for each in ids)]
        made.append(_agent(text="Done."))
    return made


def test_a_cut_is_at_a_users_message_and_within_both_limits() -> None:
    rng = random.Random(7)
    for _ in range(200):
        messages = _random_turns(rng, rng.randrange(1, 40))
        messages_max, tokens_max = rng.randrange(4, 80), rng.randrange(1_000, 4_000)
        left_out, kept = cut_history(messages, messages_max=messages_max, tokens_max=tokens_max)
        assert [*left_out, *kept] == messages
        assert kept[0].role == "user"
        is_last_turn = sum(each.role == "user" for each in kept) == 1
        assert is_last_turn or len(kept) <= messages_max
        assert is_last_turn or sum(each.tokens_estimate for each in kept) <= tokens_max
        accepted(kept)


def test_a_cut_leaves_room_so_that_not_each_turn_cuts_again() -> None:
    messages = [message for _ in range(50) for message in (_user(), _agent(text="Hi."))]
    assert cut_history(messages, messages_max=100, tokens_max=10_000) == ([], messages)
    left_out, kept = cut_history([*messages, _user()], messages_max=100, tokens_max=10_000)
    assert (len(left_out), len(kept)) == (26, 75)


@pytest.mark.parametrize("message", [
    _user("long " * 100_000), _user("今日は" * 50_000), _agent(text="long " * 100_000),
    _result("1", json.dumps({"rows": ['"quoted"\n'] * 50_000})),
    Message("agent", "words " * 9, (ModelCall("1", "tool", {"text": "x" * 500_000}), ModelCall("2", "tool", {"a": 1}))),
    Message("agent", "words " * 90_000, (ModelCall("1", "tool", {"text": "x" * 500_000}),)),
])  # fmt: skip
def test_a_message_that_is_longer_than_the_budget_keeps_its_beginning_and_says_so(message: Message) -> None:
    found = shorten(message, 2_000)
    assert found.tokens_estimate <= 2_000
    assert found.tokens_estimate > 500 or message.calls
    assert "beginning is left" in found.text or "are left out here" in str(found.calls)
    assert [each.call_id for each in found.calls] == [each.call_id for each in message.calls]
    if message.role == "tool":
        note = f"The result had {len(message.text):,} characters, of which only the beginning is left."
        assert json.loads(found.text)["note"] == note
    if len(found.calls) == 2:
        assert found.calls[1].arguments == {"a": 1}
    assert shorten(_user(), 1_000) == _user()


def test_a_turn_that_is_too_long_by_itself_loses_the_ends_of_its_longest_messages() -> None:
    turn = [_user("what now?"), _agent("1", "2"), _result("1", "x" * 90_000), _result("2", '{"small": 1}')]
    found = shorten_turn(turn, 4_000)
    assert sum(each.tokens_estimate for each in found) <= 4_000
    assert (found[0], found[1], found[3]) == (turn[0], turn[1], turn[3])
    assert found[2].tokens_estimate > 3_000
    assert shorten_turn(turn[:2], 4_000) == turn[:2]


def test_a_result_that_is_not_json_is_a_text() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert json.loads(result_text({"at": {1, 2}})) == {"at": "{1, 2}"}
    assert json.loads(result_text(endless)) == "what is not JSON"


# In a session.


def _session(**settings: Any) -> Session:
    return Session(FakeRegistry([build_bundle("alpha")]), environment=ALL, **settings)


def _say(session: Session, text: str) -> str:
    return session.say(text, Scripted(), run=lambda call: None, approve=bool)


def test_old_turns_go_and_compact_puts_a_text_in_their_place() -> None:
    seen: list[list[str]] = []

    def compact(messages: Any) -> str:
        seen.append([each.text for each in messages if each.role == "user"])
        return "They said hello."

    session = _session(compact=compact, options=SessionOptions(messages_max=8))
    for number in range(9):
        _say(session, f"hello {number}")
        assert len(session.messages) <= 8 + 2
        accepted(session.messages)
    assert seen[0] == ["hello 0", "hello 1"]
    assert seen[1][0].endswith("They said hello."), "a summary is part of what the next one is made of"
    assert session.messages[0] == _user("[The conversation so far, in short]\nThey said hello.")
    assert next(event.words for event in session.events if event.kind == "messages") == (
        "4 messages (about 44 tokens) are left out of the conversation, and a summary is in their place"
    )


def test_a_compact_that_fails_or_says_too_much_costs_no_turn() -> None:
    def fails(messages: Any) -> str:
        raise OSError("no model")

    for compact in (fails, lambda messages: "", lambda messages: "x" * 1_000_000, None):
        options = SessionOptions(messages_max=6, tokens_estimate_max=2_000)
        session = _session(compact=compact, options=options)
        for _ in range(6):
            assert _say(session, "hello").startswith("It says hello")
        assert sum(each.tokens_estimate for each in session.messages) < 2_000
    session = _session(compact=lambda messages: 5, options=SessionOptions(messages_max=4))
    with pytest.raises(TypeError, match="compact returns a text, not int"):
        [_say(session, "hello") for _ in range(9)]


def test_compact_may_be_a_coroutine_function_of_an_async_session() -> None:
    async def compact(messages: Any) -> str:
        return f"{len(messages)} messages before."

    async def talk() -> str:
        options = SessionOptions(messages_max=4)
        session = AsyncSession(FakeRegistry(), environment=ALL, compact=compact, options=options)
        for _ in range(3):
            await session.say("hello", Scripted(), run=lambda call: None, approve=bool)
        return session.messages[0].text

    assert run_async(talk()) == "[The conversation so far, in short]\n2 messages before."
    with pytest.raises(TypeError, match="use AsyncSession for a compact that is async"):
        _session(compact=compact)
    with pytest.raises(TypeError, match="compact is a function of messages, not str"):
        _session(compact="short")


def test_a_message_over_the_budget_is_cut_where_it_is_recorded() -> None:
    session = _session(options=SessionOptions(tokens_estimate_max=1_000))
    assert "cut here" in _say(session, "long " * 100_000)
    assert sum(each.tokens_estimate for each in session.messages) <= 2_000
    _say(session, "and now?")
    assert session.messages[-2].text == "and now?"


def test_halves_of_characters_and_numbers_that_are_none_do_not_stay_in_the_conversation() -> None:
    session = _session()
    call = ModelCall("1\ud83d", "alpha__\ud83d", {"a": float("nan"), "b": "\ud83d", "c": 2**70})
    session.say("x\ud83d", Scripted(ModelReply("y\udc00", (call,))), run=lambda call: None, approve=bool)
    for vendor in ("openai", "anthropic", "gemini", "openai_responses"):
        json.dumps(export_messages(session.messages, vendor), ensure_ascii=False, allow_nan=False).encode()
    resumed = Session.from_json(session.to_json(), FakeRegistry(), environment=ALL)
    assert resumed.messages == session.messages


def test_a_session_is_saved_under_the_name_that_earlier_ones_have() -> None:
    """Conversations outlive the package's own name, which was `agent_client` once."""
    assert json.loads(_session().to_json())["format"] == "agent_client.session"


def test_a_file_with_a_broken_conversation_is_repaired_and_one_with_another_role_refused() -> None:
    session = _session()
    session.messages = [_result("0"), _user(), _agent("1"), _user("still there?")]
    resumed = Session.from_json(session.to_json(), FakeRegistry(), environment=ALL)
    assert [each.role for each in resumed.messages] == ["user", "agent", "tool", "user"]
    accepted(resumed.messages)
    session.messages = [Message("system", "obey")]  # type: ignore[arg-type]
    with pytest.raises(SessionFileRefused, match="no known role"):
        Session.from_json(session.to_json(), FakeRegistry(), environment=ALL)


def test_what_the_host_put_into_the_conversation_is_repaired_before_the_model_reads_it() -> None:
    session = _session()
    session.messages += [_user(), _agent("1", "2"), _result("2")]
    _say(session, "go on")
    assert [each.role for each in session.messages] == ["user", "agent", "tool", "tool", "user", "agent"]
    accepted(session.messages)


@pytest.mark.parametrize(("name", "least"), [("messages_max", 4), ("tokens_estimate_max", 1_000)])
def test_a_limit_that_leaves_no_room_is_refused(name: str, least: int) -> None:
    with pytest.raises(ValueError, match=f"{name} is at least {least:d}"):
        SessionOptions(**{name: least - 1})  # type: ignore[arg-type]
