"""What a form that was filled in the playground would make an agent do. Nothing is called, nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agent_client.bundle import Bundle
from agent_client.forms import FormError, form_action
from agent_client.session.calls import ApprovalRequired, CallRefused, Gate
from registry.errors import RegistryError
from studio.conversation import SnapshotSource


@dataclass(frozen=True)
class FormCall:
    """`standing`: `runs`, `approval`, `refused`, or `none` where no tool is called. `policy` is in words."""

    standing: str
    words: str
    tool: str = ""
    policy: str = ""
    arguments: str = ""


def form_call(*, capability_id: str, schema_id: str, event: Mapping[str, Any], with_drafts: bool = False) -> FormCall:
    """As a session takes what a renderer has delivered: what the form means by it, then the gate of the calls.

    Raises `RegistryUnavailable`.
    """
    from registry.matching.trying import tried

    snapshot, _ = tried(with_drafts=with_drafts)
    try:
        bundle = SnapshotSource(snapshot).load(capability_id)
        action = form_action(bundle, schema_id, event)
    except RegistryError as error:
        return FormCall("refused", error.message)
    except FormError as error:
        return FormCall("refused", str(error))
    if action.kind == "dismiss":
        return FormCall("none", _("The form closes; no tool is called."))
    if action.kind == "reply":
        return FormCall(
            "none", _("The answer goes back to the agent; no tool is called."), arguments=_json(action.arguments)
        )
    tool = next((each for each in bundle.tools if each["name"] == action.tool), None)
    if tool is None:
        return FormCall("refused", _("There is no tool %(tool)s.") % {"tool": action.tool})
    return _held(bundle, tool, action.arguments)


def _held(bundle: Bundle, tool: Mapping[str, Any], arguments: dict[str, Any]) -> FormCall:
    name, policy = str(tool["name"]), _policy(tool["policy"])
    try:
        call = Gate(tool["policy"].get("allowed_roles") or ()).open(bundle, tool, arguments, from_form=True)
    except ApprovalRequired as wait:
        words = _("The call waits until a person approves exactly this.")
        return FormCall("approval", words, name, policy, _json(wait.call.arguments))
    except CallRefused as error:
        return FormCall("refused", str(error), name, policy, _json(arguments))
    return FormCall("runs", _("The call runs at once."), name, policy, _json(call.arguments))


def _policy(policy: Mapping[str, Any]) -> str:
    kind = "writes" if policy.get("kind") == "write" else _("only reads")
    approval = _("needs a person's approval") if policy.get("requires_approval") is True else _("needs no approval")
    roles = policy.get("allowed_roles")
    return f"{kind}, {approval}" + (_(", for %(join)s alone") % {"join": ", ".join(map(str, roles))} if roles else "")


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
