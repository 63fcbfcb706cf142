"""The question before a case is deleted."""

from __future__ import annotations

from django.utils.translation import gettext as _

from features.evaluations.case_store import get_case
from registry.core.queries import get_capability
from studio.pages.confirmations.page import Confirmation, found_or_404
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
