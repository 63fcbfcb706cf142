"""Questions about webhooks and sources."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from registry.models import GitSource, Webhook
from registry.notifications import webhooks
from registry.selectors import effects
from registry.sources.source_sync import get_source
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, found_or_404
from studio.pages.formatting import CANNOT_UNDO, figure, local_time, names_words, relative_time
from studio.pages.permissions import StudioRequest


def _host(webhook: Webhook) -> str:
    """Without the path, which is often a secret of its own."""
    return urlsplit(webhook.url).hostname or webhook.url


def delete_webhook(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to delete a webhook with its log."""
    webhook = found_or_404(webhooks.get_webhook_by_id, number)
    logged, queued = effects.deliveries_of_webhook(webhook)
    told = [_("%(host)s gets no more events.") % {"host": _host(webhook)}]
    if queued:
        words = ngettext("%(n)s queued delivery is not sent.", "%(n)s queued deliveries are not sent.", queued)
        told.append(words % {"n": figure(queued)})
    words = ngettext("The log of %(n)s delivery is deleted.", "The log of %(n)s deliveries is deleted.", logged)
    told.append(words % {"n": figure(logged)})
    return Confirmation(
        title=_("Delete webhook “%(name)s”?") % {"name": webhook.name},
        button=_("Delete webhook"),
        effects=told,
        undo=_("This can't be undone. A new webhook gets a new secret."),
    )


def disable_webhook(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to stop sending events to a webhook."""
    webhook = found_or_404(webhooks.get_webhook_by_id, number)
    if not webhook.is_enabled:
        raise NothingToConfirm(_("The webhook is already disabled."))
    _logged, queued = effects.deliveries_of_webhook(webhook)
    told = [_("%(host)s gets no more events.") % {"host": _host(webhook)}]
    if queued:
        words = ngettext("%(n)s queued delivery will fail.", "%(n)s queued deliveries will fail.", queued)
        told.append(words % {"n": figure(queued)})
    return Confirmation(
        title=_("Disable webhook “%(name)s”?") % {"name": webhook.name},
        button=_("Disable webhook"),
        effects=told,
        undo=_("You can enable it again. Events until then are never sent."),
    )


def replace_webhook_secret(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to give a webhook a new secret."""
    webhook = found_or_404(webhooks.get_webhook_by_id, number)
    return Confirmation(
        title=_("Replace secret of webhook “%(name)s”?") % {"name": webhook.name},
        button=_("Replace secret"),
        effects=[
            _("A new secret is created and shown once."),
            _("For 24 hours deliveries are signed with both secrets. A secret that was replaced before ends at once."),
            _("After that, %(host)s refuses deliveries unless it knows the new secret.") % {"host": _host(webhook)},
        ],
        undo=CANNOT_UNDO,
    )


def remove_source(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to stop following a source."""
    source = found_or_404(get_source, number)
    names = effects.capabilities_of_source(number)
    told = [_("Changes there no longer sync.")]
    if names:
        words = ngettext(
            "%(n)s imported capability stays: %(names)s.",
            "%(n)s imported capabilities stay: %(names)s.",
            len(names),
        )
        told.append(words % {"n": figure(len(names)), "names": names_words(names)})
    else:
        told.append(_("It imported no capabilities."))
    if source.hook_secret:
        told.append(_("Its secret is deleted: pushes are refused."))
    return Confirmation(
        title=_("Disconnect source “%(spec)s”?") % {"spec": source.spec},
        button=_("Disconnect source"),
        effects=told,
        undo=_("You can connect it again, with a new secret. It then adopts its capabilities again."),
    )


def replace_source_secret(request: StudioRequest, number: int) -> Confirmation | None:  # noqa: ARG001 (a question)
    """Whether to give a source a new secret; nothing is asked for the first one."""
    source = found_or_404(get_source, number)
    if not source.hook_secret or source.kind != GitSource.Kind.GIT:
        return None
    told = [
        _("A new secret is created and shown once."),
        _("Pushes signed with the current secret are accepted for 24 more hours."),
    ]
    if source.has_two_secrets:
        told.append(_("The secret before the current one ends at once."))
    return Confirmation(
        title=_("Replace secret of “%(spec)s”?") % {"spec": source.spec},
        button=_("Replace secret"),
        effects=told,
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
