"""Questions about one's own second factors."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.access import second_factors
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, sent_line
from studio.pages.permissions import StudioRequest

_AGAIN: Final = gettext_lazy("You can set it up again at any time.")


def remove_app(request: StudioRequest) -> Confirmation:
    """Whether to remove the authenticator app."""
    factors = second_factors.list_second_factors(request.user)
    if not factors.has_app:
        raise NothingToConfirm(_("There is no authenticator app to remove."))
    return Confirmation(
        title=_("Remove the authenticator app?"),
        button=_("Remove app"),
        effects=[_("Its codes are no longer accepted."), *_what_is_left(len(factors.passkeys))],
        undo=_AGAIN,
        fields={"what": "app"},
    )


def remove_passkey(request: StudioRequest) -> Confirmation:
    """Whether to remove a passkey."""
    factors = second_factors.list_second_factors(request.user)
    key = sent_line(request, "key", most=18)
    row = next((one for one in factors.passkeys if str(one.key) == key), None)
    if row is None:
        raise NothingToConfirm(_("This passkey was already removed."))
    return Confirmation(
        title=_("Remove passkey “%(name)s”?") % {"name": row.name},
        button=_("Remove passkey"),
        effects=[_("You can no longer sign in with it."), *_what_is_left(len(factors.passkeys) - 1 + factors.has_app)],
        undo=_AGAIN,
        fields={"key": key},
    )


def replace_codes(request: StudioRequest) -> Confirmation:
    """Whether to make new recovery codes."""
    if not second_factors.list_second_factors(request.user).is_enabled:
        raise NothingToConfirm(_("Set up an authenticator app or a passkey first."))
    return Confirmation(
        title=_("Make new recovery codes?"),
        button=_("Make codes"),
        effects=[_("The previous codes stop working."), _("The new ones are shown once.")],
        undo=_("This can't be undone."),
        fields={"what": "codes"},
    )


def _what_is_left(others: int) -> list[str]:
    if others:
        return []
    return [_("It is your only second factor: your password alone signs you in, and your recovery codes are deleted.")]
