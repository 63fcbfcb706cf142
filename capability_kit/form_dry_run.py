"""The result of a form's event, computed without executing it: for previews, playgrounds and tests.

The same steps as in a session: what the event means (`capability_kit.bundles.forms`), then the gate of the calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.forms import FormError, form_action
from capability_kit.tool_gate import ApprovalRequired, CallRefused, ToolCallGate

ActionStatus = Literal["runs", "approval", "refused", "reply", "dismiss"]


@dataclass(frozen=True, slots=True)
class FormDryRun:
    """`runs` or `approval`: `tool` would be called with `arguments`, at once or once a person has approved. `refused`:
    `why` says it in a sentence without its full stop. `reply`: `arguments` go back to the agent. `dismiss`: the form
    closes. `policy` is that of the tool."""

    standing: ActionStatus
    tool: str = ""
    arguments: dict[str, Any] | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""


def dry_run_action(bundle: Bundle, schema_id: str, event: Mapping[str, Any]) -> FormDryRun:
    """What a session whose user has every role would make of it. Nothing is called; raises nothing."""
    try:
        action = form_action(bundle, schema_id, event)
    except FormError as error:
        return FormDryRun("refused", why=str(error))
    if action.kind == "reply" and "value" not in action.arguments:
        return FormDryRun("refused", arguments=action.arguments, why="The answer has no value")
    if action.kind != "tool":
        return FormDryRun(action.kind, arguments=action.arguments if action.kind == "reply" else None)
    tool = next((one for one in bundle.tools if one.get("name") == action.tool), None)
    if tool is None:
        return FormDryRun("refused", why=f"Unknown tool {action.tool[:100]}")
    return _at_the_gate(bundle, tool, action.arguments)


def _at_the_gate(bundle: Bundle, tool: Mapping[str, Any], arguments: dict[str, Any]) -> FormDryRun:
    name, policy = str(tool["name"]), tool.get("policy")
    if not isinstance(policy, Mapping) or "kind" not in policy or "args_schema" not in tool:
        # A draft that has findings: no release is without them.
        return FormDryRun("refused", name, arguments, why=f"{name} has no args_schema or no policy")
    roles = policy.get("allowed_roles")
    everybody = [role for role in roles if isinstance(role, str)] if isinstance(roles, list) else ()
    try:
        call = ToolCallGate(everybody).open(bundle, tool, arguments, from_form=True, turn=0)
    except ApprovalRequired as wait:
        return FormDryRun("approval", name, wait.call.arguments, policy)
    except CallRefused as error:
        return FormDryRun("refused", name, arguments, policy, why=str(error))
    return FormDryRun("runs", name, call.arguments, policy)
