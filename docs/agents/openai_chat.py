"""A model behind OpenAI's chat completions format, by plain HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from agent_client import Session
from agent_client.session import Message, ModelCall, ModelReply


@dataclass(frozen=True)
class OpenAiChat:
    """`POST {base_url}/chat/completions`; any server that speaks the format will do."""

    base_url: str
    api_key: str
    model: str

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """One step."""
        system = f"{session.system_prompt().prompt}\n{session.prompt().prompt}"
        body = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, *map(message_of, messages)],
            "tools": session.tools("openai", strict=True),
        }
        headers = {"Authorization": f"Bearer {self.api_key}"}
        answer = httpx.post(f"{self.base_url}/chat/completions", json=body, headers=headers, timeout=60)
        answer.raise_for_status()
        said = answer.json()["choices"][0]["message"]
        return ModelReply(said.get("content") or "", tuple(map(call_of, said.get("tool_calls") or ())))


def message_of(message: Message) -> dict[str, Any]:
    """In the vendor's form."""
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if message.role == "user":
        return {"role": "user", "content": message.text}
    calls = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text or None} | ({"tool_calls": calls} if calls else {})


def call_of(call: dict[str, Any]) -> ModelCall:
    """Arguments come as a text; what is no JSON goes to the gate as it is, which says so to the model."""
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = call["function"]["arguments"]
    return ModelCall(call["id"], call["function"]["name"], arguments)
