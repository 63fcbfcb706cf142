"""Who can see a capability: listed or not, install code, share links, and what new sessions begin with."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from capability_rules.errors import RegistryError
from features.sharing import confirmations as questions
from features.sharing import install_codes, share_links
from features.sharing.sharing_selectors import describe_sharing
from registry.catalog import first_run
from registry.catalog.facets import get_display_name
from registry.core import queries
from registry.publishing import publication
from studio.pages.actions import Undo, run_action
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_int_at, get_text
from studio.pages.permissions import StudioRequest, actor_of, admin_required, operator_required, publisher_required


@operator_required("GET")
def capability_share(request: StudioRequest, capability_id: str) -> HttpResponse:
    """How it is shared, and for those who may, the ways to change that."""
    return _page(request, capability_id)


def _page(request: StudioRequest, capability_id: str, *, status: int = 200, **more: Any) -> HttpResponse:
    capability = queries.get_capability(capability_id)
    context = {"capability": capability, "sharing": describe_sharing(capability), "days_max": share_links.DAYS_MAX}
    return render(request, "studio/capability/share.html", context | more, status=status)


@publisher_required("GET", "POST")
@confirmed_first(questions.change_visibility, page="studio:capability_share")
def capability_visibility(request: StudioRequest, capability_id: str) -> HttpResponse:
    """List it, or hide it from the keys that have not redeemed its install code."""
    capability = queries.get_capability(capability_id)
    is_listed = get_text(request, "visibility", most=10) != "unlisted"
    words = _("%(name)s is listed.") if is_listed else _("%(name)s is unlisted.")
    return run_action(
        request,
        publication.set_visibility,
        words % {"name": get_display_name(capability)},
        to=redirect("studio:capability_share", capability_id),
        undo=None if is_listed else Undo.by("capability_visibility", capability_id, visibility="listed"),
        capability_id=capability_id,
        visibility="listed" if is_listed else "unlisted",
    )


@publisher_required("GET", "POST")
@confirmed_first(questions.rotate_install_code, page="studio:capability_share")
def install_code_rotate(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Replace its install code."""
    install_codes.rotate_code(capability_id=capability_id, by=actor_of(request))
    messages.success(request, _("The install code is replaced."))
    return redirect("studio:capability_share", capability_id)


@admin_required(form_on="studio:capability_share")
def share_link_create(request: StudioRequest, capability_id: str) -> HttpResponse:
    """A link for clients that can send no key; its address is shown on this page only."""
    queries.get_capability(capability_id)
    typed = {name: get_text(request, name, most=100) for name in ("name", "group", "days")}
    try:
        link, url = share_links.create_link(
            name=typed["name"],
            skill_group=typed["group"],
            # A text instead of a number is as wrong as a number that is too high.
            days=(get_int_at(typed, "days") or 0) if typed["days"] else None,
            by=actor_of(request),
        )
    except RegistryError as error:
        return _page(request, capability_id, status=400, error=error.message, typed=typed)
    return _page(request, capability_id, new_link=link, new_url=url)


@admin_required("GET", "POST")
@confirmed_first(questions.revoke_share_link, page="studio:capability_share")
def share_link_revoke(request: StudioRequest, capability_id: str) -> HttpResponse:
    """End a share link."""
    queries.get_capability(capability_id)
    name, to = get_text(request, "name", most=80), redirect("studio:capability_share", capability_id)
    words = _("Share link %(name)s is revoked.") % {"name": name}
    return run_action(request, share_links.revoke_link, words, to=to, name=name)


@admin_required(form_on="studio:capability_share")
def first_run_set(request: StudioRequest, capability_id: str) -> HttpResponse:
    """New sessions begin with this capability, or with none."""
    capability = queries.get_capability(capability_id)
    begins = get_text(request, "first_run", most=3) == "yes"
    before = first_run.get_first_run()
    words = _("New sessions start with %(name)s.") if begins else _("New sessions start without a capability.")
    return run_action(
        request,
        first_run.set_first_run,
        words % {"name": get_display_name(capability)},
        to=redirect("studio:capability_share", capability_id),
        undo=Undo.by("first_run_set", before or capability_id, first_run="yes" if before else "no"),
        capability_id=capability_id if begins else "",
    )
