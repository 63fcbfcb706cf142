"""The question before a chat is deleted."""

from __future__ import annotations

from django.utils.translation import gettext as _

from features.playground.chat_store import get_chat
from studio.pages.confirmations.page import Confirmation, found_or_404
from studio.pages.formatting import CANNOT_UNDO
from studio.pages.permissions import StudioRequest, actor_of


def delete_chat_question(request: StudioRequest, number: int) -> Confirmation:
    """Whether to delete a chat."""
    chat = found_or_404(get_chat, number, actor_of(request))
    return Confirmation(
        title=_("Delete chat %(number)s?") % {"number": chat.pk},
        button=_("Delete chat"),
        effects=[_("What was said is deleted."), _("Cases that were saved from it stay.")],
        undo=CANNOT_UNDO,
    )
