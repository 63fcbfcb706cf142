"""What an event of a form would come to, without doing it."""

from __future__ import annotations

from typing import Any

import pytest

from capability_kit.bundles.bundle import Bundle
from capability_kit.form_dry_run import dry_run_action

KILOS = {"type": "object", "properties": {"kilos": {"type": "number"}}, "required": ["kilos"]}


def _bundle(actions: Any, *tools: Any) -> Bundle:
    form = {"schema_id": "A.v1", "definition": {"components": []}, "actions": actions}
    capability: dict[str, object] = {"name": "Weights"}
    return Bundle("weights", "", "x", tools=tools, ui_schemas=(form,), capability=capability)


def _tool(**policy: Any) -> dict[str, Any]:
    return {"name": "save", "args_schema": KILOS, "policy": {"kind": "write"} | policy}


def _outcome(tool: dict[str, Any], context: Any = None, actions: Any = None) -> Any:
    event = {"name": "send", "context": {"kilos": "80"} if context is None else context}
    return dry_run_action(_bundle({"send": {"tool": "save"}} if actions is None else actions, tool), "A.v1", event)


def test_a_call_that_runs_and_one_that_waits() -> None:
    runs = _outcome(_tool(requires_approval=False))
    assert (runs.standing, runs.tool, runs.arguments) == ("runs", "save", {"kilos": 80})
    waits = _outcome(_tool(requires_approval=True, allowed_roles=["nurse"]))
    assert (waits.standing, waits.arguments, waits.policy["allowed_roles"]) == ("approval", {"kilos": 80}, ["nurse"])


def test_answers_and_closing_call_nothing() -> None:
    assert _outcome(_tool(), actions={"send": {"dismiss": True}}).standing == "dismiss"
    answer = _outcome(_tool(), {"value": "a"}, {"send": {"reply": True}})
    assert (answer.standing, answer.arguments, answer.tool) == ("reply", {"value": "a"}, "")


@pytest.mark.parametrize(
    ("tool", "context", "actions", "why"),
    [
        (_tool(), {"kilos": "many"}, None, "do not fit"),
        (_tool(), "odd", None, "do not fit"),
        (_tool(), None, {"send": {"tool": "gone"}}, "Unknown tool gone"),
        (_tool(), None, {"other": {"dismiss": True}}, "there are: other"),
        (_tool(), None, ["send"], "there are: none"),
        (_tool(), {}, {"send": {"reply": True}}, "no value"),
        ({"name": "save", "args_schema": KILOS}, None, None, "no policy"),
        ({"name": "save", "policy": {"kind": "read"}}, None, None, "no args_schema"),
        (_tool(allowed_roles=[]), None, None, "not allowed"),
        (_tool(allowed_roles="nurse"), None, None, "not allowed"),
    ],
)
def test_what_is_refused_says_why(tool: dict[str, Any], context: Any, actions: Any, why: str) -> None:
    found = _outcome(tool, context, actions)
    assert found.standing == "refused"
    assert why in found.why
