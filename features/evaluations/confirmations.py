"""The questions before a case is deleted, and before a rule is removed."""

from __future__ import annotations

from django.utils.translation import gettext as _

from features.evaluations.case_store import get_case
from features.evaluations.rules import get_rule
from registry.core.queries import get_capability
from studio.pages.confirmations.page import Confirmation, found_or_404, sent_line
from studio.pages.formatting import CANNOT_UNDO
from studio.pages.permissions import StudioRequest


def delete_case_question(request: StudioRequest, capability_id: str, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to delete a case."""
    row = found_or_404(lambda wanted: get_case(get_capability(capability_id), wanted), number)
    return Confirmation(
        title=_("Delete case “%(name)s”?") % {"name": row.name},
        button=_("Delete case"),
        effects=[_("Later runs no longer play it."), _("Results of earlier runs stay.")],
        undo=CANNOT_UNDO,
    )


def remove_rule_question(request: StudioRequest) -> Confirmation:
    """Whether publishing goes without evaluations."""
    rule = get_rule(sent_line(request, "group_id", most=80))
    title = _("Publish without evaluations?")
    if rule.group_id:
        title = _("Publish in group “%(group_id)s” without evaluations?") % {"group_id": rule.group_id}
    return Confirmation(
        title=title,
        button=_("Remove rule"),
        effects=[
            _("Publishing no longer asks that %(share)s %% of the evaluations passed.") % {"share": rule.share},
            _("Other rules still apply."),
        ],
        undo=_("You can add the rule again."),
        fields={"group_id": rule.group_id},
    )
