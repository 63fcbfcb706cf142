"""A model behind Anthropic's messages format, by plain HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from capability_client import Session
from capability_client.session import Message, ModelCall, ModelReply, export_messages


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
            "messages": export_messages(messages, "anthropic"),
            "tools": session.tools("anthropic"),
        }
        headers = {"x-api-key": self.api_key, "anthropic-version": "2023-06-01"}
        answer = httpx2.post(f"{self.base_url}/v1/messages", json=body, headers=headers, timeout=60)
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
