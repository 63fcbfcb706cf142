"""The questions before a set is deleted, and before a link that shows one is revoked."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from features.sets import set_store
from features.sharing.models import ShareLink
from features.sharing.sharing_selectors import get_active_link
from registry.core import chosen_settings
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, found_or_404, sent
from studio.pages.form_data import get_text_at
from studio.pages.formatting import figure
from studio.pages.permissions import StudioRequest


def delete_set(request: StudioRequest, set_id: str) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to end a set."""
    row = found_or_404(set_store.get_set, set_id)
    document = set_store.read_document(row)
    links = ShareLink.objects.filter(set_id=set_id, revoked_at__isnull=True).count()
    effects = [
        _("Assistants no longer find it; what is installed already stays installed."),
        ngettext(
            "%(n)s capability stays as it is.", "%(n)s capabilities stay as they are.", len(document.members)
        )
        % {"n": figure(len(document.members))},
    ]  # fmt: skip
    if links:
        words = ngettext("%(n)s share link shows nothing.", "%(n)s share links show nothing.", links)
        effects.append(words % {"n": figure(links)})
    return Confirmation(
        title=_("Delete the set %(name)s?") % {"name": document.name},
        button=_("Delete set"),
        effects=effects,
        undo=_("A set of the same ID can be made again."),
        state=str(row.revision),
    )


def revoke_link(request: StudioRequest) -> Confirmation:
    """Whether to end a share link."""
    name = get_text_at(sent(request), "name", most=80)
    if get_active_link(name) is None:
        raise NothingToConfirm(_("The share link is revoked."))
    effects = [_("Clients that use it get nothing by it from the next second on. What they installed stays.")]
    if chosen_settings.is_public_read():
        effects.append(_("This registry is open to reads without a key: what is listed can still be read."))
    return Confirmation(
        title=_("Revoke share link %(name)s?") % {"name": name},
        button=_("Revoke link"),
        effects=effects,
        undo=_("It can't be restored. You can create another one."),
        fields={"name": name},
    )
