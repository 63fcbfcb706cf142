"""What the buttons of webhooks ask before they do something."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from features.webhooks import webhook_store
from features.webhooks.models import Webhook
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, found_or_404
from studio.pages.formatting import CANNOT_UNDO, figure
from studio.pages.permissions import StudioRequest


def _host(webhook: Webhook) -> str:
    """Without the path, which is often a secret of its own."""
    return urlsplit(webhook.url).hostname or webhook.url


def delete_webhook(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to delete a webhook with its log."""
    webhook = found_or_404(webhook_store.get_webhook_by_id, number)
    logged, queued = webhook_store.count_deliveries(webhook)
    changes = [_("%(host)s gets no more events.") % {"host": _host(webhook)}]
    if queued:
        words = ngettext("%(n)s queued delivery is not sent.", "%(n)s queued deliveries are not sent.", queued)
        changes.append(words % {"n": figure(queued)})
    words = ngettext("The log of %(n)s delivery is deleted.", "The log of %(n)s deliveries is deleted.", logged)
    changes.append(words % {"n": figure(logged)})
    return Confirmation(
        title=_("Delete webhook “%(name)s”?") % {"name": webhook.name},
        button=_("Delete webhook"),
        effects=changes,
        undo=_("This can't be undone. A new webhook gets a new secret."),
    )


def disable_webhook(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to stop sending events to a webhook."""
    webhook = found_or_404(webhook_store.get_webhook_by_id, number)
    if not webhook.is_enabled:
        raise NothingToConfirm(_("The webhook is already disabled."))
    _logged, queued = webhook_store.count_deliveries(webhook)
    changes = [_("%(host)s gets no more events.") % {"host": _host(webhook)}]
    if queued:
        words = ngettext("%(n)s queued delivery will fail.", "%(n)s queued deliveries will fail.", queued)
        changes.append(words % {"n": figure(queued)})
    return Confirmation(
        title=_("Disable webhook “%(name)s”?") % {"name": webhook.name},
        button=_("Disable webhook"),
        effects=changes,
        undo=_("You can enable it again. Events until then are never sent."),
    )


def replace_webhook_secret(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to give a webhook a new secret."""
    webhook = found_or_404(webhook_store.get_webhook_by_id, number)
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
