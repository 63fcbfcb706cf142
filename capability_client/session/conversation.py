"""A conversation that every vendor accepts: each call has its result directly behind it, and it has limits.

Whatever interrupted a turn, and whatever was saved half-way: `repair` is applied wherever messages are read. A history
that is too long is cut at a user's message, never between a call and its result.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from capability_client.session.messages import Message, ModelCall
from capability_kit.text.sanitize import strip_surrogates

# What is left after a cut, so that not every turn cuts again.
KEPT_SHARE: Final = 0.75
# Of the budget, for the text that `compact` returns.
SUMMARY_SHARE: Final = 0.25
# No message of a turn is cut below this, however many there are.
_TOKENS_MIN: Final = 64
_NOT_JSON: Final = "what is not JSON"
_INTERRUPTED: Final = "The turn was interrupted before this call ran; nothing has happened."
_INTERRUPTED_RUNNING: Final = (
    "The turn was interrupted while this call ran, and its result is not known. If it writes, find out whether it "
    "took effect before you call it again."
)
_WAITING: Final = (
    "This call waits for a person, who decides later; nothing has happened yet. Do not call it again: say that it "
    "waits. Its result comes once they have decided."
)


def interrupted_result(call: ModelCall, *, was_running: bool = False, waiting: str = "") -> Message:
    """The result of a call that a turn has left open; `waiting` is its id at the gate where a person is to decide."""
    words = _INTERRUPTED_RUNNING if was_running else _INTERRUPTED
    error = {"code": "INTERRUPTED", "message": words}
    if waiting:
        error = {"code": "WAITING_FOR_APPROVAL", "message": _WAITING, "call_id": waiting}
    return Message("tool", json.dumps({"error": error}), call_id=call.call_id)


def repair(messages: Iterable[Message], *, was_running: bool = False, waiting: str = "") -> list[Message]:
    """The messages with one result for each call, directly behind it and in the order of the calls.

    A result without a call is left out; a call without a result gets an error `INTERRUPTED`. `was_running`: the first
    call without a result had begun. `waiting`: it waits for a person, under this id.
    """
    found = list(messages)
    if _is_whole(found):
        return found
    kept: list[Message] = []
    pending: list[Message] = []
    for message in [*found, None]:
        if message is not None and message.role == "tool":
            pending.append(message)
            continue
        if kept:
            kept += _results_of(kept[-1], pending, was_running=was_running, waiting=waiting)
        pending = []
        if message is not None:
            kept.append(message)
    return kept


def _is_whole(messages: Sequence[Message]) -> bool:
    """Whether each call has its result behind it, in the order of the calls, as nearly always."""
    calls: tuple[ModelCall, ...] = ()
    answered = 0
    for message in messages:
        if message.role == "tool":
            if answered == len(calls) or calls[answered].call_id != message.call_id:
                return False
            answered += 1
        elif answered < len(calls):
            return False
        else:
            calls, answered = message.calls, 0
    return answered == len(calls)


def _results_of(message: Message, found: Iterable[Message], *, was_running: bool, waiting: str) -> list[Message]:
    """One for each call of the message, of those that were found behind it."""
    results: dict[str, list[Message]] = {}
    for result in found:
        results.setdefault(result.call_id, []).append(result)
    made = []
    for call in message.calls:
        if results.get(call.call_id):
            made.append(results[call.call_id].pop(0))
        else:
            made.append(interrupted_result(call, was_running=was_running, waiting=waiting))
            was_running, waiting = False, ""
    return made


def cut_history(
    messages: Sequence[Message], *, messages_max: int, tokens_max: int
) -> tuple[list[Message], list[Message]]:
    """`(what is left out, what stays)`: nothing is left out within the limits, else the oldest whole turns.

    The last turn always stays. `tokens_max` is an estimate (`Message.tokens_estimate`).
    """
    if len(messages) <= messages_max and sum(each.tokens_estimate for each in messages) <= tokens_max:
        return [], list(messages)
    start, tokens = len(messages), 0
    for index in range(len(messages) - 1, -1, -1):
        tokens += messages[index].tokens_estimate
        is_within = len(messages) - index <= messages_max * KEPT_SHARE and tokens <= tokens_max * KEPT_SHARE
        is_last_turn = start == len(messages)
        if not is_within and not is_last_turn:
            break
        if messages[index].role == "user":
            start = index
    start = 0 if start == len(messages) else start
    return list(messages[:start]), list(messages[start:])


def shorten_turn(messages: Sequence[Message], tokens_max: int) -> list[Message]:
    """The messages of one turn, the longest of them cut so that together they are within `tokens_max`."""
    sizes = [each.tokens_estimate for each in messages]
    if sum(sizes) <= tokens_max:
        return list(messages)
    sizes.sort()
    left, most = tokens_max, tokens_max
    for index, size in enumerate(sizes):
        most = left // (len(sizes) - index)
        if size > most:
            break
        left -= size
    return [shorten(each, max(_TOKENS_MIN, most)) for each in messages]


def shorten(message: Message, tokens_max: int) -> Message:
    """The message with the beginning of its text alone where it is longer than about `tokens_max`; the text says so.

    Of a result it is JSON again. Arguments that alone take more than half of it are left out, the longest first.
    """
    if message.tokens_estimate <= tokens_max:
        return message
    message = replace(message, calls=_within(message.calls, tokens_max // 2))
    kept, characters = message, len(message.text)
    while kept.tokens_estimate > tokens_max and characters > 0:
        characters = int(characters * min(0.9, tokens_max / kept.tokens_estimate))
        kept = replace(message, text=_beginning(message, characters))
    return kept


def _beginning(message: Message, characters: int) -> str:
    note = f"{len(message.text):,} characters, of which only the beginning is left"
    if message.role != "tool":
        return f"{message.text[:characters]}\n[cut here: {note}]"
    found = {"beginning": message.text[:characters], "note": f"The result had {note}."}
    return json.dumps(found, ensure_ascii=False)


def _within(calls: tuple[ModelCall, ...], tokens_max: int) -> tuple[ModelCall, ...]:
    sizes = [len(json.dumps(each.arguments, ensure_ascii=False)) for each in calls]
    made = list(calls)
    for index in sorted(range(len(calls)), key=lambda each: -sizes[each]):
        if Message("agent", "", tuple(made)).tokens_estimate <= tokens_max:
            break
        note = {"note": f"{sizes[index]:,} characters of arguments are left out here"}
        made[index] = replace(calls[index], arguments=note)
    return tuple(made)


def summary_message(text: str, tokens_max: int) -> Message:
    """What stands in the place of messages that were left out."""
    said = f"[The conversation so far, in short]\n{strip_surrogates(text).strip()}"
    return shorten(Message("user", said), int(tokens_max * SUMMARY_SHARE))


def clean_message(message: Message) -> Message:
    """The message as JSON can hold it: without halves of characters. Arguments that are not JSON become texts."""
    calls = tuple(
        ModelCall(strip_surrogates(str(call.call_id)), strip_surrogates(str(call.name)), plain_json(call.arguments))
        for call in message.calls
    )
    return replace(
        message, text=strip_surrogates(message.text), calls=calls, call_id=strip_surrogates(str(message.call_id))
    )


def result_text(result: Any) -> str:
    """A tool's result as the model reads it. What no JSON can hold becomes a text."""
    try:
        return json.dumps(result, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return json.dumps(_NOT_JSON)


def plain_json(value: Any) -> Any:
    """The value as JSON can hold it; a text where it cannot."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
        return json.loads(strip_surrogates(text), parse_constant=str)
    except (ValueError, TypeError, RecursionError):
        return _NOT_JSON
