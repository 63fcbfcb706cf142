"""The question about the end of a connection."""

from __future__ import annotations

from django.utils.translation import gettext as _

from features.oauth.connections import get_connection, has_ended
from registry.common.errors import NotFound
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, found_or_404, sent_line
from studio.pages.permissions import StudioRequest


def end_connection_question(request: StudioRequest) -> Confirmation:
    """Whether an assistant may do nothing more for the member."""
    key = sent_line(request, "key", most=20)
    if not key.isdecimal():
        raise NotFound(_("There is no such connection"))
    if has_ended(int(key), request.user):
        raise NothingToConfirm(_("The connection has ended already"))
    row = found_or_404(get_connection, int(key), request.user)
    return Confirmation(
        title=_("End the connection to %(host)s?") % {"host": row.via},
        button=_("End connection"),
        effects=[
            _("Its next call is refused."),
            _("What it has done for %(name)s stays.") % {"name": row.operator.get_username()},
        ],
        undo=_("This can't be undone. The member can connect it again."),
        fields={"key": key, "from": sent_line(request, "from", most=4)},
    )
