"""A model behind Anthropic's messages format, by plain HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from capability_client import Message, ModelCall, ModelReply, PromptParts, Session, export_messages

KEPT: Final = {"type": "ephemeral"}


@dataclass(frozen=True)
class AnthropicMessages:
    """`POST {base_url}/v1/messages`."""

    base_url: str
    api_key: str
    model: str
    tokens_max: int = 1024

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """One step."""
        parts = session.prompt_parts()
        body = {
            "model": self.model,
            "max_tokens": self.tokens_max,
            "system": system_of(parts),
            "messages": kept_messages(messages, parts),
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


def system_of(parts: PromptParts) -> list[dict[str, Any]]:
    """Two blocks up to which the vendor keeps the request, its tools included: the conversation's, and the skills'."""
    texts = [text for text in (parts.system, parts.skills) if text]
    return [{"type": "text", "text": text, "cache_control": KEPT} for text in texts]


def kept_messages(messages: Sequence[Message], parts: PromptParts) -> list[dict[str, Any]]:
    """The messages, kept up to the last of them; what is of this request alone stands behind that."""
    exported = export_messages(messages, "anthropic", turn=parts.turn)
    last: Any = exported[-1]["content"]
    last[-2 if parts.turn and len(last) > 1 else -1]["cache_control"] = KEPT
    return exported
