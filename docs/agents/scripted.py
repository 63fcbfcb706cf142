"""The loop without a model, against a running registry: `python -m docs.agents.scripted ADDRESS [KEY]`.

The model is played by four rules: add two numbers, load what is hinted, save the weight that was said, answer with what
came back.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from capability_client import Registry, Session, User
from capability_client.session import Message, ModelCall, ModelReply, ToolCall


class Scripted:
    """A model of four rules."""

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """Load, call, answer."""
        last = messages[-1]
        if last.role == "user":
            hinted = re.search(r"load one before you follow it\):\n- (\w+)", session.prompt().prompt)
            sum_of_two = re.search(r"(\d+) \+ (\d+)", last.text)
            if sum_of_two is not None:
                return ModelReply(f"{int(sum_of_two[1]) + int(sum_of_two[2])}.")
            if hinted is None:
                return ModelReply("I have no skill for that.")
            return ModelReply(calls=(ModelCall("1", "capability_skill_load", {"capability_id": hinted[1]}),))
        result = json.loads(last.text)
        if "loaded" in result:
            said = next(each.text for each in reversed(messages) if each.role == "user")
            weight = re.search(r"(\d+(?:\.\d+)?) ?(lb|kg)", said)
            if weight is None:
                return ModelReply(f"I have loaded {result['loaded']}. What is the weight?")
            entry = {"measured_on": "2026-01-15", "weight": float(weight[1]), "unit": weight[2]}
            return ModelReply(calls=(ModelCall("2", "weights__weight_entry_save_batch", {"entries": [entry]}),))
        if "error" in result:
            return ModelReply(f"I have not saved it: {result['error']['message']}")
        return ModelReply(f"Saved {result['saved']} entry.")


def keep_weights(call: ToolCall) -> Any:
    """What stands behind the tools: here, nothing but an answer that fits the contract."""
    return {"saved": len(call.arguments["entries"])}


def ask_person(call: ToolCall) -> bool:
    """A person decides; this one says yes."""
    print(f"person: yes to {call.summary()}")
    return True


def main(url: str, key: str | None = None) -> None:
    """One conversation."""
    with Registry(url, key) as registry:
        session = Session(registry, user=User(name="Alice"))
        print(f"agent: {session.start().greeting}")
        for text in ("I just weighed 187.6 lbs", "what is 1 + 1?"):
            print(f"user: {text}")
            print(f"agent: {session.say(text, Scripted(), run=keep_weights, approve=ask_person)}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
