"""The loop with the vendors' own packages: `pip install openai anthropic`.

    python -m docs.agents.vendor_sdks openai|anthropic REGISTRY_URL MODEL_URL MODEL "message"

They speak the two formats of openai_chat.py and anthropic_messages.py, and bring their retries and time limits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from anthropic import Anthropic
from openai import OpenAI

from capability_client import Message, ModelCall, ModelReply, Registry, Session, User, export_messages
from docs.agents.anthropic_messages import kept_messages, system_of
from docs.agents.openai_chat import call_of
from docs.agents.scripted import ask_person, keep_weights


@dataclass(frozen=True)
class OpenAiSdk:
    """`client` is any `openai.OpenAI`, with the address and key of the service that hosts the model."""

    client: OpenAI
    model: str

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """One step."""
        parts = session.prompt_parts()
        exported = export_messages(messages, "openai", turn=parts.turn)
        answer = self.client.chat.completions.create(
            model=self.model,
            messages=[{"role": "system", "content": parts.before}, *exported],
            tools=session.tools("openai", strict=True),
        )
        said = answer.choices[0].message
        return ModelReply(said.content or "", tuple(call_of(call.model_dump()) for call in said.tool_calls or ()))


@dataclass(frozen=True)
class AnthropicSdk:
    """`client` is any `anthropic.Anthropic`."""

    client: Anthropic
    model: str
    tokens_max: int = 1024

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """One step."""
        parts = session.prompt_parts()
        answer = self.client.messages.create(
            model=self.model,
            max_tokens=self.tokens_max,
            system=system_of(parts),
            messages=kept_messages(messages, parts),
            tools=session.tools("anthropic"),
        )
        calls = tuple(ModelCall(one.id, one.name, one.input) for one in answer.content if one.type == "tool_use")
        return ModelReply("".join(one.text for one in answer.content if one.type == "text"), calls)


def main(vendor: str, registry_url: str, model_url: str, model: str, text: str) -> None:
    """One message and its answer. The keys are taken from OPENAI_API_KEY and ANTHROPIC_API_KEY by the packages."""
    found = (
        OpenAiSdk(OpenAI(base_url=model_url), model)
        if vendor == "openai"
        else AnthropicSdk(Anthropic(base_url=model_url), model)
    )
    with Registry(registry_url) as registry:
        session = Session(registry, user=User(name="Alice"))
        print(f"agent: {session.say(text, found, run=keep_weights, approve=ask_person)}")


if __name__ == "__main__":
    main(*sys.argv[1:6])
