"""How much of what a model reads a vendor can keep from one request to the next: `python bench/prompt_cache.py`.

Two talks of 36 messages over the examples, with a scripted model. A vendor keeps the beginning of a request that is
the same as before: tools, then the system text, then the messages. What follows the first difference is read again.
Prints Markdown; tokens are capability_client's own estimate (prompt.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from capability_client import (
    Environment,
    Message,
    ModelCall,
    ModelReply,
    Session,
    SessionOptions,
    ToolCall,
    User,
    export_messages,
)
from capability_client.client.local_registry import LocalSkills
from capability_kit.prompt import estimate_tokens

EXAMPLES: Final = Path(__file__).resolve().parent.parent / "examples"
# What the user says, the skill that it needs, and the tools of it that the model calls, one in each step.
Talk = Sequence[tuple[str, str, Sequence[str]]]
STEADY: Final[Talk] = (
    ("hello, who are you?", "", ()),
    ("I just weighed 187.6 lbs", "weights", ("weight_entry_save_batch",)),
    ("and how did I do this month?", "weights", ("weight_trend_get",)),
    ("what is 1 + 1?", "", ()),
    ("thanks", "", ()),
    ("I had chicken and rice for lunch", "meals", ("meal_log_create",)),
    ("and a coffee", "meals", ("meal_log_create",)),
    ("how many calories was that?", "meals", ()),
    ("is that a lot?", "", ()),
    ("what does the label on my shirt mean?", "", ()),
    ("log my workout: squats, 5 x 225", "workouts", ("workout_session_create", "workout_sets_log_batch")),
    ("another set at 235", "workouts", ("workout_sets_log_batch",)),
    ("how long should I rest?", "", ()),
    ("I am done for today", "", ()),
    ("I weighed 187.2 this morning", "weights", ("weight_entry_save_batch",)),
    ("and yesterday 187.9", "weights", ("weight_entry_save_batch",)),
    ("what is the capital of Peru?", "", ()),
    ("write a limerick about rice", "", ()),
    ("a shorter one", "", ()),
    ("translate it into French", "", ()),
    ("and into Danish", "", ()),
    ("the customer moved off the annual plan and wants a refund", "billing_refund", ("billing_invoice_list",)),
    ("the second invoice", "billing_refund", ("billing_refund_create",)),
    ("tell him that it is done", "", ()),
    ("good. I had eggs for dinner", "meals", ("meal_log_create",)),
    ("two of them", "meals", ()),
    ("is rice bad for me?", "", ()),
    ("what about beans?", "", ()),
    ("and bread?", "", ()),
    ("the disk of the server is full", "disk_pressure", ("node_disk_usage_get",)),
    ("which folder is it?", "", ()),
    ("I will call a colleague", "", ()),
    ("and my weight this week?", "weights", ("weight_entry_list",)),
    ("what is 2 + 2?", "", ()),
    ("and 3 + 3?", "", ()),
    ("thank you, good night", "", ()),
)
# Another skill with each message: what expires is loaded again, and each message is hinted.
RESTLESS: Final[Talk] = (
    ("I just weighed 187.6 lbs", "weights", ("weight_entry_save_batch",)),
    ("I had chicken and rice for lunch", "meals", ("meal_log_create",)),
    ("log my workout: squats, 5 x 225", "workouts", ("workout_session_create",)),
    ("the customer moved off the annual plan and wants a refund", "billing_refund", ("billing_invoice_list",)),
    ("the disk of the server is full", "disk_pressure", ("node_disk_usage_get",)),
    ("what is the capital of Peru?", "", ()),
) * 6
TALKS: Final[Mapping[str, Talk]] = {"steady": STEADY, "restless": RESTLESS}
ANSWER: Final = "That is done. Here is what I found, in a sentence or two, as the instructions of the skill say it."


def example_of(schema: Any) -> Any:
    """A value that fits a schema of the examples."""
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: example_of(each) for name, each in properties.items()}
    if kind == "array":
        return [example_of(schema.get("items", {}))] * max(1, schema.get("minItems", 1))
    if kind in ("number", "integer"):
        return schema.get("minimum", 5)
    if kind == "boolean":
        return True
    return "2026-01-15" if schema.get("format") == "date" else "x" * max(8, schema.get("minLength", 0))


class Scripted:
    """A model that loads what it needs, calls its tools one after the other, and answers.

    `requests` are the bodies that a vendor would get, in the order in which it reads them.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.requests: list[str] = []
        self.plan: list[ModelCall] = []
        self.calls = 0

    def hear(self, skill: str, tools: Sequence[str]) -> None:
        """What the next message needs."""
        self.plan = []
        if skill and self.session.active.get(skill) is None:
            self.plan.append(self._call("capability_skill_load", {"capability_id": skill}))
        contracts = {tool["name"]: tool for tool in SKILLS.load(skill).tools} if skill else {}
        for name in tools:
            arguments = example_of(contracts[name]["args_schema"])
            if self.session.options.layout == "append":
                given = {"tool": f"{skill}__{name}", "arguments": arguments}
                self.plan.append(self._call("capability_tool_call", given))
            else:
                self.plan.append(self._call(f"{skill}__{name}", arguments))

    def _call(self, name: str, arguments: Any) -> ModelCall:
        self.calls += 1
        return ModelCall(f"call_{self.calls}", name, arguments)

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """One step."""
        parts = session.prompt_parts()
        exported = export_messages(messages, "openai", turn=parts.turn)
        read = [*session.tools("openai"), {"role": "system", "content": parts.before}, *exported]
        self.requests.append("\n".join(json.dumps(each, ensure_ascii=False) for each in read))
        return ModelReply("", (self.plan.pop(0),)) if self.plan else ModelReply(ANSWER)


SKILLS: Final = LocalSkills(EXAMPLES)


def result_of(call: ToolCall) -> Any:
    """What the tools return."""
    contract = next(tool for tool in SKILLS.load(call.capability_id).tools if tool["name"] == call.tool)
    return example_of(contract.get("result_schema", {}))


def always(call: ToolCall) -> bool:  # noqa: ARG001
    """A person who approves."""
    return True


def talk(messages: Talk, **options: Any) -> list[str]:
    """The requests of a talk."""
    session = Session(SKILLS, user=User(name="Ada"), environment=Environment(), options=SessionOptions(**options))
    model = Scripted(session)
    for text, skill, tools in messages:
        model.hear(skill, tools)
        session.say(text, model, run=result_of, approve=always)
    return model.requests


def shared_characters(one: str, other: str) -> int:
    """How many characters of their beginning are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def measure(requests: Sequence[str]) -> tuple[int, int, int]:
    """`(requests, tokens that are sent, tokens of them behind the beginning of the request before)`."""
    sent = sum(map(estimate_tokens, requests))
    pairs = pairwise(requests)
    shared = sum(estimate_tokens(after[: shared_characters(before, after)]) for before, after in pairs)
    return len(requests), sent, shared


def main() -> None:
    print("| talk | layout | requests | tokens sent | as before | new | at a tenth for a kept token |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name, messages in TALKS.items():
        for layout in ("system", "append"):
            requests, sent, shared = measure(talk(messages, layout=layout))
            new, price = sent - shared, round(sent - shared * 0.9)
            print(f"| {name} | `{layout}` | {requests} | {sent:,} | {shared / sent:.0%} | {new:,} | {price:,} |")


if __name__ == "__main__":
    main()
