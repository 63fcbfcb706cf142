"""The question before a waiver is ended."""

from __future__ import annotations

from django.utils.translation import gettext as _

from features.acceptances import waiver_store
from registry.core import queries
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, found_or_404, sent
from studio.pages.form_data import get_int_at
from studio.pages.formatting import actor_name
from studio.pages.permissions import StudioRequest


def end_waiver(request: StudioRequest, capability_id: str) -> Confirmation:
    """Whether to end a waiver before its day."""
    found_or_404(queries.get_capability, capability_id)
    waiver = waiver_store.get_waiver(capability_id, get_int_at(sent(request), "waiver") or 0)
    if waiver.state != "in_force":
        raise NothingToConfirm(_("The waiver has ended."))
    return Confirmation(
        title=_("End waiver of %(code)s?") % {"code": waiver.code},
        button=_("End waiver"),
        effects=[
            _("%(who)s waived it until %(until)s: %(reason)s")
            % {"who": actor_name(waiver.accepted_by), "until": str(waiver.until), "reason": waiver.reason},
            _("The issue counts at the next publish, and for scheduled releases."),
            _("What agents get now isn't affected."),
        ],
        undo=_("The issue can be waived again."),
        fields={"waiver": str(waiver.pk)},
        state=waiver.state,
    )
