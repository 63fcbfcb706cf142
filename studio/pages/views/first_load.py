"""What follows the first release of a capability: snippets, a key, and the first load as it arrives."""

from __future__ import annotations

import time
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from capability_rules.errors import RegistryError
from registry.access import agent_keys
from registry.catalog.facets import get_display_name, list_facets
from registry.core import queries
from registry.models import Capability, Revision
from registry.usage.usage_report import find_first_load
from studio.pages.actions import no_store
from studio.pages.form_data import get_query_text, get_text
from studio.pages.permissions import StudioRequest, actor_of, denial_reason, operator_required
from studio.pages.snippets import build_load_snippets, needs_key

LISTENS_SECONDS: Final = 600


@operator_required("GET", "POST")
def capability_live(request: StudioRequest, capability_id: str) -> HttpResponse:
    """How to load what is live, and whether somebody has. The POST creates a key, which is in its answer alone."""
    capability = queries.get_capability(capability_id)
    if capability.published_revision is None:
        return redirect("studio:capability_show", capability_id)
    created = error = ""
    name = get_text(request, "name", most=80) if request.method == "POST" else ""
    if request.method == "POST":
        if not request.user.can_administer:
            error = denial_reason(request, _("create API keys"), capability_id)
        else:
            try:
                _row, created = agent_keys.create_key(name=name, by=actor_of(request))
            except RegistryError as refused:
                error = refused.message
    status = 200 if not error else 400 if request.user.can_administer else 403
    context = {
        "is_public": not needs_key(capability),
        "display_name": get_display_name(capability),
        "emoji": list_facets(capability.published_revision.capability_json).emoji,
        "created": created,
        "key_name": name,
        "error": error,
        "snippets": build_load_snippets(request, capability, created),
        **_listening(capability, capability.published_revision, time.time()),
    }
    return no_store(render(request, "studio/capability/live.html", context, status=status))


@operator_required("GET")
def first_load_show(request: StudioRequest, capability_id: str) -> HttpResponse:
    """The listener alone; it asks again each second for ten minutes."""
    capability = queries.get_capability(capability_id)
    if not request.htmx or capability.published_revision is None:
        return redirect("studio:capability_live", capability_id)
    since = get_query_text(request, "since", most=12)
    begun = int(since) if since.isdecimal() and since.isascii() else 0
    return render(
        request, "studio/capability/live.html#first-load", _listening(capability, capability.published_revision, begun)
    )


def _listening(capability: Capability, revision: Revision, begun: float) -> dict[str, Any]:
    found = find_first_load(capability.capability_id, revision.number)
    return {
        "capability": capability,
        "revision": revision,
        "first_load": found,
        "since": int(begun),
        "is_listening": found is None and 0 <= time.time() - begun < LISTENS_SECONDS,
    }
