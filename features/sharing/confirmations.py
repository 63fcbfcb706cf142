"""Questions about who can see a capability."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from features.sharing import install_codes
from features.sharing.sharing_selectors import get_active_link
from registry.catalog.facets import get_display_name
from registry.common.errors import NotFound
from registry.core import queries
from registry.models import Capability
from registry.publishing.audience import get_audience
from studio.pages.confirmations.page import Confirmation, found_or_404, sent_line
from studio.pages.formatting import CANNOT_UNDO, figure, keys_words, loads_words
from studio.pages.permissions import StudioRequest

_LOSES_IT = gettext_lazy("API keys that haven't redeemed its install code can no longer find or load it.")


def _redeemed(capability: Capability) -> str:
    count = len(install_codes.list_redemptions(capability))
    return ngettext("%(n)s key has redeemed the code.", "%(n)s keys have redeemed the code.", count) % {
        "n": figure(count)
    }


def change_visibility(request: StudioRequest, capability_id: str) -> Confirmation | None:
    """Whether to hide a capability from the keys that have not redeemed its code; listing it asks nothing."""
    capability = found_or_404(queries.get_capability, capability_id)
    if sent_line(request, "visibility", most=10) != "unlisted" or capability.visibility == "unlisted":
        return None
    audience = get_audience(capability_id)
    changes = [str(_LOSES_IT), _redeemed(capability)]
    if audience.loads:
        changes.append(
            _("%(loads)s by %(keys)s in the last 30 days.")
            % {"loads": loads_words(audience.loads), "keys": keys_words(audience.keys)}
        )
    return Confirmation(
        title=_("Unlist capability “%(name)s”?") % {"name": get_display_name(capability)},
        button=_("Unlist capability"),
        effects=changes,
        undo=_("You can list it again. Loads until then fail."),
        fields={"visibility": "unlisted"},
        state=capability.visibility,
    )


def rotate_install_code(request: StudioRequest, capability_id: str) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to replace an install code."""
    capability = found_or_404(queries.get_capability, capability_id)
    return Confirmation(
        title=_("Replace install code of “%(name)s”?") % {"name": get_display_name(capability)},
        button=_("Replace code"),
        effects=[
            _("The current code can no longer be redeemed."),
            _("Keys that have redeemed it keep their access."),
            _redeemed(capability),
        ],
        undo=CANNOT_UNDO,
        state=capability.install_code,
    )


def revoke_share_link(request: StudioRequest, capability_id: str) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to end a share link."""
    link = get_active_link(sent_line(request, "name", most=80))
    if link is None:
        raise NotFound(_("There is no active share link of this name"))
    return Confirmation(
        title=_("Revoke share link “%(name)s”?") % {"name": link.name},
        button=_("Revoke link"),
        effects=[
            _("Every request with this link fails within a second."),
            _("It shows skill group %(group)s.") % {"group": link.skill_group}
            if link.skill_group
            else _("It shows all listed capabilities."),
        ],
        undo=_("This can't be undone. Anyone who uses the link needs a new one."),
        fields={"name": link.name},
    )
