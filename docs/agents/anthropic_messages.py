"""A model behind Anthropic's messages format, by plain HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from agent_client import Session
from agent_client.session import Message, ModelCall, ModelReply


@dataclass(frozen=True)
class AnthropicMessages:
    """`POST {base_url}/v1/messages`."""

    base_url: str
    api_key: str
    model: str
    tokens_max: int = 1024

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """One step."""
        body = {
            "model": self.model,
            "max_tokens": self.tokens_max,
            "system": system_of(session),
            "messages": messages_of(messages),
            "tools": session.tools("anthropic"),
        }
        headers = {"x-api-key": self.api_key, "anthropic-version": "2023-06-01"}
        answer = httpx.post(f"{self.base_url}/v1/messages", json=body, headers=headers, timeout=60)
        answer.raise_for_status()
        blocks = answer.json()["content"]
        calls = tuple(
            ModelCall(each["id"], each["name"], each["input"]) for each in blocks if each["type"] == "tool_use"
        )
        return ModelReply("".join(each["text"] for each in blocks if each["type"] == "text"), calls)


def system_of(session: Session) -> list[dict[str, Any]]:
    """What stays the same over the conversation stands first, so that the vendor can keep it."""
    system = [{"type": "text", "text": session.system_prompt().prompt, "cache_control": {"type": "ephemeral"}}]
    if for_this_turn := session.prompt().prompt:
        system.append({"type": "text", "text": for_this_turn})
    return system


def messages_of(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Results stand in one message of the user, behind the message of the agent that asked for them."""
    made: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            block = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
            if made[-1]["role"] == "user" and isinstance(made[-1]["content"], list):
                made[-1]["content"].append(block)
            else:
                made.append({"role": "user", "content": [block]})
        elif message.role == "user":
            made.append({"role": "user", "content": message.text})
        else:
            made.append({"role": "assistant", "content": _blocks(message)})
    return made


def _blocks(message: Message) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": message.text}] if message.text else []
    calls = [
        {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.arguments} for call in message.calls
    ]
    return [*text, *calls]
