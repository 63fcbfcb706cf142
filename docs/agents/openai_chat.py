"""A model behind OpenAI's chat completions format, by plain HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from capability_client import Message, ModelCall, ModelReply, Session, export_messages


@dataclass(frozen=True)
class OpenAiChat:
    """`POST {base_url}/chat/completions`; any server that speaks the format will do."""

    base_url: str
    api_key: str
    model: str

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """One step. What changes stands last, so that the vendor keeps the beginning."""
        parts = session.prompt_parts()
        exported = export_messages(messages, "openai", turn=parts.turn)
        body = {
            "model": self.model,
            "messages": [{"role": "system", "content": parts.before}, *exported],
            "tools": session.tools("openai", strict=True),
        }
        headers = {"Authorization": f"Bearer {self.api_key}"}
        answer = httpx2.post(f"{self.base_url}/chat/completions", json=body, headers=headers, timeout=60)
        answer.raise_for_status()
        said = answer.json()["choices"][0]["message"]
        return ModelReply(said.get("content") or "", tuple(map(call_of, said.get("tool_calls") or ())))


def call_of(call: dict[str, Any]) -> ModelCall:
    """Arguments come as a text; what is not JSON goes to the gate as it is, which says so to the model."""
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = call["function"]["arguments"]
    return ModelCall(call["id"], call["function"]["name"], arguments)
