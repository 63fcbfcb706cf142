"""What a form that was filled in here would make an agent do, in words. Nothing is called, nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from capability_kit.form_dry_run import FormDryRun


@dataclass(frozen=True)
class FormCall:
    """`standing`: `runs`, `approval`, `refused`, or `none` where no tool is called. `policy` is in words, `arguments`
    are JSON; both and `tool` are empty where no tool is meant."""

    standing: str
    words: str
    tool: str = ""
    policy: str = ""
    arguments: str = ""


def describe_outcome(outcome: FormDryRun) -> FormCall:
    """Describe an outcome for a page."""
    words = {
        "runs": _("Runs immediately."),
        "approval": _("Needs approval before it runs."),
        "refused": f"{outcome.why}.",
        "reply": _("The result goes to the agent. No tool is called."),
        "dismiss": _("The form closes. No tool is called."),
    }[outcome.standing]
    standing = "none" if outcome.standing in ("reply", "dismiss") else outcome.standing
    policy = describe_policy(outcome.policy) if outcome.policy else ""
    arguments = "" if outcome.arguments is None else json.dumps(outcome.arguments, indent=2, ensure_ascii=False)
    return FormCall(standing, words, outcome.tool, policy, arguments)


def describe_policy(policy: Mapping[str, Any]) -> str:
    """What a tool may do, and who is asked before."""
    kind = _("write") if policy.get("kind") == "write" else _("read-only")
    needs = policy.get("requires_approval") is True
    approval = _("requires approval") if needs else _("no approval")
    roles = policy.get("allowed_roles")
    if not isinstance(roles, list):
        return f"{kind}, {approval}"
    names = ", ".join(str(role) for role in roles)
    return _("%(kind)s, %(approval)s, only for %(roles)s") % {"kind": kind, "approval": approval, "roles": names}
