"""Questions about git mirrors."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from features.git_mirrors.mirror_store import get_mirror
from studio.pages.confirmations.page import Confirmation, found_or_404
from studio.pages.formatting import figure
from studio.pages.permissions import StudioRequest


def remove_mirror(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to push nothing more."""
    mirror = found_or_404(get_mirror, number)
    there = len(mirror.pushed["revisions"])
    effects = [_("Nothing more is pushed: a capability that is withdrawn here stays there.")]
    if there:
        words = ngettext(
            "%(n)s capability stays in the repository.", "%(n)s capabilities stay in the repository.", there
        )
        effects.append(words % {"n": figure(there)})
    return Confirmation(
        title=_("Remove the mirror to %(name)s?") % {"name": mirror},
        button=_("Remove mirror"),
        effects=effects,
        undo=_("You can add it again. It then continues from what is there."),
    )
