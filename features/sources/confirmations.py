"""Questions about followed sources."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from features.sources.models import GitSource
from features.sources.source_selectors import capabilities_of_source
from features.sources.source_sync import get_source
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, found_or_404
from studio.pages.formatting import CANNOT_UNDO, figure, local_time, names_words, relative_time
from studio.pages.permissions import StudioRequest


def remove_source(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to stop following a source."""
    source = found_or_404(get_source, number)
    names = capabilities_of_source(number)
    effects = [_("Changes there no longer sync.")]
    if names:
        words = ngettext(
            "%(n)s imported capability stays: %(names)s.",
            "%(n)s imported capabilities stay: %(names)s.",
            len(names),
        )
        effects.append(words % {"n": figure(len(names)), "names": names_words(names)})
    else:
        effects.append(_("It imported no capabilities."))
    if source.hook_secret:
        effects.append(_("Its secret is deleted: pushes are refused."))
    return Confirmation(
        title=_("Disconnect source “%(spec)s”?") % {"spec": source.spec},
        button=_("Disconnect source"),
        effects=effects,
        undo=_("You can connect it again, with a new secret. It then adopts its capabilities again."),
    )


def replace_source_secret(request: StudioRequest, number: int) -> Confirmation | None:  # noqa: ARG001 (a question)
    """Whether to give a source a new secret; nothing is asked for the first one."""
    source = found_or_404(get_source, number)
    if not source.hook_secret or source.kind != GitSource.Kind.GIT:
        return None
    effects = [
        _("A new secret is created and shown once."),
        _("Pushes signed with the current secret are accepted for 24 more hours."),
    ]
    if source.has_two_secrets:
        effects.append(_("The secret before the current one ends at once."))
    return Confirmation(
        title=_("Replace secret of “%(spec)s”?") % {"spec": source.spec},
        button=_("Replace secret"),
        effects=effects,
        undo=CANNOT_UNDO,
    )


def end_old_source_secret(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether the secret before the newest one ends before its time."""
    source = found_or_404(get_source, number)
    if not source.has_two_secrets or source.previous_hook_secret_until is None:
        raise NothingToConfirm(_("The old secret has already ended."))
    return Confirmation(
        title=_("End old secret of “%(spec)s”?") % {"spec": source.spec},
        button=_("End old secret"),
        effects=[
            _("Pushes signed with the old secret are refused at once."),
            format_html(_("Otherwise it ends on {when}."), when=local_time(source.previous_hook_secret_until)),
            *_last_push(source),
        ],
        undo=CANNOT_UNDO,
    )


def _last_push(source: GitSource) -> list[str]:
    if not source.pushed_at:
        return []
    return [
        format_html(_("Last push: {since}, {words}."), since=relative_time(source.pushed_at), words=source.push_result)
    ]


def delete_source_secret(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether a source takes no more pushes."""
    source = found_or_404(get_source, number)
    if not source.hook_secret:
        raise NothingToConfirm(_("The secret is already deleted."))
    return Confirmation(
        title=_("Delete secret of “%(spec)s”?") % {"spec": source.spec},
        button=_("Delete secret"),
        effects=[
            _("Pushes are refused at once. The source still syncs on schedule."),
            *_last_push(source),
        ],
        undo=_("This can't be undone. You would have to set up a new secret on both sides."),
    )
