"""What a form that was filled in here would make an agent do, in words. Nothing is called, nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agent_client.bundle import Bundle
from agent_client.form_outcomes import FormOutcome, form_outcome
from agent_client.forms import FormError, form
from registry.errors import RegistryError
from studio.conversation import SnapshotSource
from studio.plain_forms import event_of


@dataclass(frozen=True)
class FormCall:
    """`standing`: `runs`, `approval`, `refused`, or `none` where no tool is called. `policy` is in words, `arguments`
    are JSON; both and `tool` are empty where no tool is meant."""

    standing: str
    words: str
    tool: str = ""
    policy: str = ""
    arguments: str = ""


def playground_bundle(capability_id: str, *, with_drafts: bool) -> Bundle:
    """What an agent has loaded in the playground. Raises `RegistryError`."""
    from registry.matching.trying import tried

    return SnapshotSource(tried(with_drafts=with_drafts)[0]).load(capability_id)


def form_call(*, capability_id: str, schema_id: str, event: Mapping[str, Any], with_drafts: bool = False) -> FormCall:
    """As a session takes what a renderer has delivered: what the form means by it, then the gate of the calls."""
    try:
        bundle = playground_bundle(capability_id, with_drafts=with_drafts)
    except RegistryError as error:
        return FormCall("refused", f"{error.message}.")
    return in_words(form_outcome(bundle, schema_id, event))


def plain_call(
    *, capability_id: str, schema_id: str, given: Mapping[str, Sequence[str]], pressed: int | None, with_drafts: bool
) -> FormCall:
    """As `form_call`, of a form that was drawn without scripts: `given` is by the names of its plain fields."""
    try:
        bundle = playground_bundle(capability_id, with_drafts=with_drafts)
        definition = form(bundle, schema_id)["definition"]
    except RegistryError as error:
        return FormCall("refused", f"{error.message}.")
    except FormError as error:
        return FormCall("refused", f"{error}.")
    event = event_of(definition, given, -1 if pressed is None else pressed)
    return in_words(form_outcome(bundle, schema_id, event))


def in_words(outcome: FormOutcome) -> FormCall:
    """An outcome as a page tells it."""
    words = {
        "runs": _("The call runs at once."),
        "approval": _("The call waits until a person approves exactly this."),
        "refused": f"{outcome.why}.",
        "reply": _("The answer goes back to the agent; no tool is called."),
        "dismiss": _("The form closes; no tool is called."),
    }[outcome.standing]
    standing = "none" if outcome.standing in ("reply", "dismiss") else outcome.standing
    policy = policy_words(outcome.policy) if outcome.policy else ""
    arguments = "" if outcome.arguments is None else json.dumps(outcome.arguments, indent=2, ensure_ascii=False)
    return FormCall(standing, words, outcome.tool, policy, arguments)


def policy_words(policy: Mapping[str, Any]) -> str:
    """What a tool may do, and who is asked before."""
    kind = _("writes") if policy.get("kind") == "write" else _("only reads")
    needs = policy.get("requires_approval") is True
    approval = _("needs a person's approval") if needs else _("needs no approval")
    roles = policy.get("allowed_roles")
    if not isinstance(roles, list):
        return f"{kind}, {approval}"
    names = ", ".join(str(role) for role in roles)
    return _("%(kind)s, %(approval)s, for %(roles)s alone") % {"kind": kind, "approval": approval, "roles": names}
