"""What a form that was filled in here would make an agent do, in words. Nothing is called, nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.forms import FormError, parse_form
from capability_kit.form_dry_run import FormDryRun
from capability_rules.errors import RegistryError
from capability_rules.validation.isolation.form_dry_run import dry_run_event
from studio.pages.html_forms import parse_event
from studio.pages.playground_session import SnapshotSource


@dataclass(frozen=True)
class FormCall:
    """`standing`: `runs`, `approval`, `refused`, or `none` where no tool is called. `policy` is in words, `arguments`
    are JSON; both and `tool` are empty where no tool is meant."""

    standing: str
    words: str
    tool: str = ""
    policy: str = ""
    arguments: str = ""


def dry_run_form(
    *, capability_id: str, schema_id: str, read_event: Callable[[Bundle], Mapping[str, Any]], with_drafts: bool
) -> FormCall:
    """As a session of the playground takes what a renderer has delivered: what the form means by it, then the gate of
    the calls. `read_event` makes the event for the bundle that an agent has loaded."""
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from registry.matching.playground_index import get_playground_index

    try:
        bundle = SnapshotSource(get_playground_index(with_drafts=with_drafts)[0]).load(capability_id)
        event = read_event(bundle)
    except (RegistryError, FormError) as error:
        return FormCall("refused", f"{error}.")
    return describe_outcome(dry_run_event(bundle, schema_id, event))


def parse_plain_event(
    bundle: Bundle, schema_id: str, given: Mapping[str, Sequence[str]], pressed: int | None
) -> Mapping[str, Any]:
    """The event of a form that was drawn without scripts: `given` is by the names of its plain fields.

    Raises `FormError`.
    """
    definition = parse_form(bundle, schema_id)["definition"]
    return parse_event(definition, given, -1 if pressed is None else pressed)


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
