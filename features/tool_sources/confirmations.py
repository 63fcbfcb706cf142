"""Questions about sources of tools."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from features.tool_sources.source_store import get_source, require_owner
from studio.pages.confirmations.page import Confirmation, found_or_404
from studio.pages.formatting import figure
from studio.pages.permissions import StudioRequest, actor_of


def remove_source(request: StudioRequest, number: int) -> Confirmation:
    """Whether to forget a source."""
    source = found_or_404(get_source, number)
    require_owner(source, actor_of(request))
    count = source.bindings.count()
    words = ngettext(
        "%(n)s tool that came from it stays, and is no longer compared with it.",
        "%(n)s tools that came from it stay, and are no longer compared with it.",
        count,
    )
    effects = [words % {"n": figure(count)}] if count else [_("No tool was taken from it.")]
    if source.header_name:
        effects.append(_("Its header is deleted."))
    return Confirmation(
        title=_("Remove source “%(title)s”?") % {"title": source.title},
        button=_("Remove source"),
        effects=effects,
        undo=_("You can add it again, and choose its tools again."),
    )
