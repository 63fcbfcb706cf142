"""The loop without a model, against a running registry: `python -m docs.agents.scripted ADDRESS [KEY]`.

The model is played by five rules: add two numbers, load what is hinted, save the weight that was said, open a form for
several of them, answer with what came back.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from capability_client import Message, ModelCall, ModelReply, Registry, Session, SkillForm, ToolCall, User


class Scripted:
    """A model of five rules."""

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """Load, call, answer."""
        last = messages[-1]
        if last.role == "user":
            hinted = re.search(r"load one before you follow it\):\n- (\w+)", session.prompt().prompt)
            sum_of_two = re.search(r"(\d+) \+ (\d+)", last.text)
            if sum_of_two is not None:
                return ModelReply(f"{int(sum_of_two[1]) + int(sum_of_two[2])}.")
            weights = re.findall(r"\d+\.\d+", last.text)
            if len(weights) > 1:
                return ModelReply(calls=(ModelCall("3", "form_open", batch_of(weights)),))
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
        if result.get("form") == "closed":
            return ModelReply("Nothing was saved.")
        saved = result.get("result", result)["saved"]
        return ModelReply(f"Saved {saved} {'entry' if saved == 1 else 'entries'}.")


def batch_of(weights: Sequence[str]) -> dict[str, Any]:
    """The arguments of `form_open`: a row for each weight, to be reviewed before anything is saved."""
    rows = [
        {"measured_on": f"2026-01-{day}", "weight": float(weight), "unit": "lb", "include": True}
        for day, weight in enumerate(weights, start=13)
    ]
    return {"schema_id": "WeightBatchEditor.v1", "data": {"source": "chat", "entries": rows}}


def keep_weights(call: ToolCall) -> dict[str, int]:
    """What stands behind the tools: here, nothing but an answer that fits the contract."""
    entries = call.arguments["entries"]
    return {"saved": len(entries) if isinstance(entries, list) else 0}


def ask_person(call: ToolCall) -> bool:
    """A person decides; this one says yes."""
    print(f"person: yes to {call.summary()}")
    return True


def show_form(form: SkillForm) -> dict[str, Any]:
    """The user sees the form, corrects one value, and presses a button; a UI would draw `form.messages()`."""
    print("\n".join(f"  | {line}" for line in form.plain().splitlines()))
    data: dict[str, Any] = copy.deepcopy(form.data)
    data["entries"][1]["weight"] = "187.4"
    print("person: changes 187.9 to 187.4, and presses Save all")
    return form.press("save_all", data)


def main(url: str, key: str | None = None) -> None:
    """One conversation."""
    with Registry(url, key) as registry:
        session = Session(registry, user=User(name="Alice"))
        print(f"agent: {session.start().greeting}")
        for text in ("I just weighed 187.6 lbs", "what is 1 + 1?", "and the mornings before: 188.2, 187.9"):
            print(f"user: {text}")
            said = session.say(text, Scripted(), run=keep_weights, approve=ask_person, show=show_form)
            print(f"agent: {said}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
