"""The messages of a conversation in the form of each model vendor, as strict as the vendors are.

Results stand directly behind their calls, ids are unique, no text is empty, and where roles have to alternate, what
follows in the same role is one message. Sources: the API references of OpenAI (chat completions, responses), Anthropic
(messages) and Gemini (generateContent).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, Literal

from capability_client.session.conversation import repair
from capability_client.session.messages import Message, ModelCall

MessageVendor = Literal["openai", "openai_responses", "anthropic", "gemini"]
Json = dict[str, Any]
# Anthropic takes no other ids.
_ID_SIGNS: Final = re.compile(r"[^a-zA-Z0-9_-]")
NO_TEXT: Final = "(no text)"
# A conversation that an agent begins, where a vendor wants the user to be first.
OPENED: Final = "(The user opened the conversation.)"


# Before what the session says for one request, which stands where the user's words do.
FROM_SESSION: Final = "[From the application, for this step; the user has not written it.]"


def export_messages(messages: Iterable[Message], vendor: MessageVendor, *, turn: str = "") -> list[dict[str, object]]:
    """The messages as a vendor's API takes them: `messages`, `input` (OpenAI's responses) or `contents` (Gemini).

    `turn` is for this request alone, such as `prompt_parts().turn`: it stands last. What is broken is repaired first
    (conversation.py). Raises `ValueError` for a vendor that is not known.
    """
    if vendor not in _EXPORTERS:
        raise ValueError(f"There is no vendor {vendor!r}; there are {', '.join(_EXPORTERS)}")
    whole = _with_unique_ids(_without_empty(repair(messages)))
    said = [Message("user", f"{FROM_SESSION}\n{turn.strip()}")] if turn.strip() else []
    return _EXPORTERS[vendor]([*whole, *said])


def _without_empty(messages: Iterable[Message]) -> list[Message]:
    """An agent that said nothing is left out; a user who did has at least a word."""
    found = [each for each in messages if each.role != "agent" or each.calls or each.text.strip()]
    return [replace(each, text=NO_TEXT) if each.role == "user" and not each.text.strip() else each for each in found]


def _with_unique_ids(messages: Iterable[Message]) -> list[Message]:
    """Vendors that give ids may give one twice, and a conversation may move from one vendor to another."""
    made: list[Message] = []
    seen: set[str] = set()
    names: list[str] = []
    for message in messages:
        if message.role == "tool":
            name = names.pop(0)
            made.append(message if message.call_id == name else replace(message, call_id=name))
            continue
        if not message.calls:
            names = []
            made.append(message)
            continue
        names = [_unique_id(call.call_id, seen) for call in message.calls]
        if names == [call.call_id for call in message.calls]:
            made.append(message)
            continue
        calls = tuple(replace(call, call_id=name) for call, name in zip(message.calls, names, strict=True))
        made.append(replace(message, calls=calls))
    return made


@lru_cache(maxsize=1_024)
def _clean_id(call_id: str) -> str:
    return _ID_SIGNS.sub("_", call_id)[:40] or "call"


def _unique_id(call_id: str, seen: set[str]) -> str:
    base = _clean_id(call_id)
    name, number = base, 2
    while name in seen:
        name, number = f"{base}_{number}", number + 1
    seen.add(name)
    return name


def _openai(messages: Sequence[Message]) -> list[Json]:
    return [_of_openai(message) for message in messages]


def _of_openai(message: Message) -> Json:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.role == "user":
        return {"role": "user", "content": message.text}
    calls = [
        {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_text}}
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text or None} | ({"tool_calls": calls} if calls else {})


def _openai_responses(messages: Sequence[Message]) -> list[Json]:
    made: list[Json] = []
    for message in messages:
        if message.role == "tool":
            made.append({"type": "function_call_output", "call_id": message.call_id, "output": message.text})
            continue
        if message.text.strip():
            made.append({"role": "user" if message.role == "user" else "assistant", "content": message.text})
        made += [
            {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments_text}
            for call in message.calls
        ]
    return made


def _anthropic(messages: Sequence[Message]) -> list[Json]:
    made: list[Json] = []
    for message in messages:
        blocks: list[Json] = [{"type": "text", "text": message.text}] if message.text.strip() else []
        if message.role == "tool":
            blocks = [{"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}]
        blocks += [
            {"type": "tool_use", "id": call.call_id, "name": call.name, "input": _arguments_object(call)}
            for call in message.calls
        ]
        _append(made, "assistant" if message.role == "agent" else "user", "content", blocks)
    return _begun_by_user(made, "content", {"type": "text", "text": OPENED})


def _gemini(messages: Sequence[Message]) -> list[Json]:
    made: list[Json] = []
    names: list[str] = []
    for message in messages:
        parts: list[Json] = [{"text": message.text}] if message.text.strip() else []
        if message.role == "tool":
            parts = [{"functionResponse": {"name": names.pop(0), "response": _response_object(message.text)}}]
        else:
            names = [call.name for call in message.calls]
        parts += [{"functionCall": {"name": call.name, "args": _arguments_object(call)}} for call in message.calls]
        _append(made, "model" if message.role == "agent" else "user", "parts", parts)
    return _begun_by_user(made, "parts", {"text": OPENED})


def _append(made: list[Json], role: str, key: str, parts: list[Json]) -> None:
    """Roles alternate: what follows in the same role is the same message."""
    if made and made[-1]["role"] == role:
        made[-1][key] += parts
    else:
        made.append({"role": role, key: parts})


def _begun_by_user(made: list[Json], key: str, part: Json) -> list[Json]:
    return [{"role": "user", key: [part]}, *made] if made and made[0]["role"] != "user" else made


def _arguments_object(call: ModelCall) -> Json:
    return call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}


def _response_object(text: str) -> Json:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    return found if isinstance(found, dict) else {"result": found}


_EXPORTERS: Final[Mapping[str, Callable[[Sequence[Message]], list[Json]]]] = {
    "openai": _openai,
    "openai_responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
