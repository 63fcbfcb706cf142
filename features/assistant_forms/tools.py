"""`form_open` and `call_check`: what a capability asks of a person, asked by the assistant's client or said as text.

Nothing is run here: a result has the tool's name and its checked arguments, for the host.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson

from agent_api.integrations.access import ReaderContext
from agent_api.v1.skill_load import find_revision
from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.form_data import FormDataInvalid, fill_form
from capability_kit.bundles.forms import FormError, parse_form
from capability_kit.form_dry_run import FormDryRun, dry_run_action
from capability_kit.tool_gate import ApprovalRequired, CallRefused, ToolCallGate
from capability_kit.ui.form_text import draw_form
from capability_rules.errors import InvalidRequest
from features.assistant_forms.elicitation import UserAnswer, ask, can_ask, read_answer
from features.assistant_forms.form_fields import FormFields, build_fields
from features.mcp.tools import FeatureTool, text_result
from registry.snapshot.response_cache import get_load_response

_CLOSED: Final = {"form": "closed", "note": "The user closed the form without sending it."}
_DECLINED: Final = "The user did not approve: do not run it."
_ARGUMENTS_SHOWN_MAX: Final = 4000
_APPROVE: Final = {"approve": {"type": "boolean", "title": "I approve this call", "default": False}}


def _open_form(visitor: ReaderContext, arguments: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    bundle = _load(visitor, arguments)
    try:
        entry = parse_form(bundle, str(arguments.get("schema_id", "")))
        data = fill_form(entry, arguments.get("data") or {}, tools=bundle.tools)
    except (FormError, FormDataInvalid) as error:
        raise InvalidRequest(str(error)) from None
    fields = build_fields(entry, data)
    if not can_ask(params) or not fields.buttons:
        return text_result(_as_text(entry, data))
    answer = _read_own_answer(visitor, bundle, params)
    if answer is not None and "tool" in answer.state:
        return _tell_approval(answer, {"form": "sent"})
    if answer is None:
        return ask(str(entry.get("title") or entry["schema_id"]), fields.describe(), _state(visitor, bundle))
    if answer.action != "accept":
        return text_result(_CLOSED)
    return _send(visitor, bundle, entry, fields, answer)


def _send(
    visitor: ReaderContext, bundle: Bundle, entry: Mapping[str, Any], fields: FormFields, answer: UserAnswer
) -> dict[str, Any]:
    """What a person has entered, through the gate of calls; what it refuses is asked for again."""
    outcome = dry_run_action(bundle, str(entry["schema_id"]), fields.read_event(answer.content))
    if outcome.standing == "refused":
        return ask(f"{outcome.why}.", fields.describe(), _state(visitor, bundle))
    if outcome.standing == "reply":
        return text_result({"form": "sent", "reply": outcome.arguments})
    if outcome.standing == "approval":
        return _ask_approval(visitor, bundle, outcome)
    return text_result({"form": "sent", "tool": outcome.tool, "arguments": outcome.arguments})


def _check_call(visitor: ReaderContext, arguments: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    bundle = _load(visitor, arguments)
    tool = next((one for one in bundle.tools if one["name"] == arguments.get("tool")), None)
    if tool is None:
        there = ", ".join(str(one["name"]) for one in bundle.tools) or "none"
        raise InvalidRequest(f"{bundle.capability_id} has no such tool; there are: {there}")
    answer = _read_own_answer(visitor, bundle, params) if can_ask(params) else None
    checked, needs_approval = _check(bundle, tool, arguments.get("arguments"))
    is_asked = answer is not None and (answer.state.get("tool"), answer.state.get("arguments")) == (
        tool["name"],
        checked,
    )
    if answer is not None and is_asked:
        return _tell_approval(answer, {"call": "ready"})
    if not needs_approval:
        return text_result({"call": "ready", "tool": tool["name"], "arguments": checked})
    if can_ask(params):
        return _ask_approval(visitor, bundle, FormDryRun("approval", str(tool["name"]), checked))
    note = "Ask the user, and run it only after a yes to exactly these arguments."
    return text_result({"call": "ask_user", "tool": tool["name"], "arguments": checked, "note": note})


def _check(bundle: Bundle, tool: Mapping[str, Any], arguments: Any) -> tuple[dict[str, Any], bool]:
    """The arguments as the contract takes them, and whether a person comes first. Raises `InvalidRequest`."""
    roles = tool["policy"].get("allowed_roles") or ()
    try:
        call = ToolCallGate(roles).open(bundle, tool, arguments or {}, from_form=False, turn=0)
    except ApprovalRequired as wait:
        return wait.call.arguments, True
    except CallRefused as error:
        raise InvalidRequest(str(error)) from None
    return call.arguments, False


def _ask_approval(visitor: ReaderContext, bundle: Bundle, outcome: FormDryRun) -> dict[str, Any]:
    shown = json.dumps(outcome.arguments, indent=2, ensure_ascii=False)
    if len(shown) > _ARGUMENTS_SHOWN_MAX:
        raise InvalidRequest(f"{outcome.tool} has too many arguments to show a person: send less at once")
    state = _state(visitor, bundle) | {"tool": outcome.tool, "arguments": outcome.arguments}
    return ask(f"{bundle.name} asks to run {outcome.tool} with:\n{shown}", _APPROVE, state)


def _tell_approval(answer: UserAnswer, head: dict[str, Any]) -> dict[str, Any]:
    is_approved = answer.action == "accept" and answer.content.get("approve") is True
    told = {"tool": answer.state["tool"], "arguments": answer.state["arguments"], "approved": is_approved}
    return text_result(head | told | ({} if is_approved else {"note": _DECLINED}))


def _read_own_answer(visitor: ReaderContext, bundle: Bundle, params: Mapping[str, Any]) -> UserAnswer | None:
    """The answer to what this caller was asked, of these texts; None for any other."""
    answer = read_answer(params)
    is_own = answer is not None and _state(visitor, bundle).items() <= answer.state.items()
    return answer if is_own else None


def _state(visitor: ReaderContext, bundle: Bundle) -> dict[str, Any]:
    return {"who": visitor.caller.limit_subject, "of": bundle.capability_id, "digest": bundle.digest}


def _load(visitor: ReaderContext, arguments: Mapping[str, Any]) -> Bundle:
    """The bundle as the caller sees it, without the write tools that are withheld."""
    entry, revision_id, _ = find_revision(visitor.snapshot, visitor.caller, arguments)
    return Bundle.from_answer(orjson.loads(get_load_response(entry, revision_id=revision_id).identity))


def _as_text(entry: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    actions = entry.get("actions")
    bound = actions.values() if isinstance(actions, Mapping) else ()
    tools = sorted({str(one["tool"]) for one in bound if isinstance(one, Mapping) and one.get("tool")})
    note = "This client shows no forms: ask the user for the values in words, then check the call with call_check."
    return {"form": "text", "text": draw_form(entry["definition"], data), "tools": tools, "note": note}


def _describe(name: str, title: str, description: str, required: list[str], **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    hints = {"readOnlyHint": True, "idempotentHint": True, "destructiveHint": False, "openWorldHint": False}
    return {"name": name, "title": title, "description": description, "inputSchema": schema, "annotations": hints}


_ID: Final = {"type": "string", "description": "Which capability, as the list names it."}
TOOLS: Final = {
    "form_open": FeatureTool(
        _describe(
            "form_open",
            "Open a form",
            "Open a form of a loaded capability for the user. The result names the tool that your host has to run, "
            "with its checked arguments; without a screen it is the form as text.",
            ["capability_id", "schema_id"],
            capability_id=_ID,
            schema_id={"type": "string", "description": "Which form, as ui_schemas of the capability names it."},
            data={"type": "object", "description": "What is known already, by the names of the form's data."},
        ),
        _open_form,
    ),
    "call_check": FeatureTool(
        _describe(
            "call_check",
            "Check a call",
            "Check a call of a capability's tool before your host runs it; where it requires approval, ask the user.",
            ["capability_id", "tool", "arguments"],
            capability_id=_ID,
            tool={"type": "string", "description": "Which of its tools."},
            arguments={"type": "object", "description": "What it is to be called with."},
        ),
        _check_call,
    ),
}
