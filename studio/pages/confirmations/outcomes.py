"""The question before what was said of a use is erased."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext as _

from registry.common.errors import NotFound
from registry.core.queries import get_capability
from registry.models import OutcomeReport
from registry.usage.outcome_reports import get_report
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, sent
from studio.pages.form_data import get_text_at
from studio.pages.formatting import CANNOT_UNDO
from studio.pages.permissions import StudioRequest


def find_named_report(request: StudioRequest, capability_id: str) -> OutcomeReport:
    """The report that a form names. Raises `NothingToConfirm`."""
    try:
        event_id = UUID(get_text_at(sent(request), "event_id", most=36))
        return get_report(event_id, capability=get_capability(capability_id))
    except (ValueError, NotFound):
        raise NothingToConfirm(_("What was said of this use is no longer kept.")) from None


def erase_report_question(request: StudioRequest, capability_id: str) -> Confirmation:
    """Whether to forget the words of one use."""
    report = find_named_report(request, capability_id)
    return Confirmation(
        title=_("Erase what was said of this use?"),
        button=_("Erase"),
        effects=[_("The sentence and the conversation are deleted."), _("That it ended so stays counted.")],
        undo=CANNOT_UNDO,
        fields={"event_id": str(report.event.event_id)},
    )
