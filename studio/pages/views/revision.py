"""Revisions: what was published when, by whom and why; and the way back."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from capability_rules.bundles.text_diff import diff_files
from capability_rules.errors import RegistryError
from registry.catalog import exporter
from registry.common.errors import Forbidden
from registry.core import queries
from registry.models import Capability, Revision
from registry.publishing import publication, revision_diff
from studio.pages.downloads import file_response
from studio.pages.form_data import NOTE_MAX, get_acknowledged, get_int_at, get_note, get_query_text
from studio.pages.gate_panels import Changes
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, actor_of, operator_required, publisher_required
from studio.pages.views.gate import build_gate_context

NUMBERS_OFFERED: Final = 200
EVENTS_SHOWN: Final = 100


@operator_required("GET")
def revision_list(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Show the history of a capability: all revisions, the newest first."""
    capability = queries.get_capability(capability_id)
    revisions = capability.revisions.order_by("-number").defer(*Revision.COLUMNS.values(), "signature")
    page = get_page(request, revisions)
    events = queries.list_timeline(capability_id, limit=EVENTS_SHOWN)
    return render(request, "studio/revision/list.html", {"capability": capability, "page": page, "events": events})


@operator_required("GET")
def revision_compare(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Any two revisions, in words and side by side; without numbers the last two."""
    capability = queries.get_capability(capability_id)
    numbers = list(capability.revisions.order_by("-number").values_list("number", flat=True)[:NUMBERS_OFFERED])
    if not numbers:
        raise Http404(f"'{capability_id}' isn't published yet")
    new, old = (get_int_at(request.GET, name) for name in ("to", "from"))
    new = numbers[0] if new is None else new
    old = max(new - 1, 1) if old is None else old
    found = revision_diff.compare_revisions(capability, old=old, new=new)
    context = {
        "capability": capability,
        "capability_id": capability_id,
        "numbers": numbers,
        "found": found,
        "changes": Changes.of(found.changes),
    }
    return render(request, "studio/revision/compare.html", context)


@operator_required("GET")
def revision_download(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:  # noqa: ARG001 (a view)
    """The files as a zip, the same bytes each time."""
    revision = queries.find_revision(queries.get_capability(capability_id), number=number)
    content = exporter.export_revision(revision).open_zip()
    return file_response(f"{capability_id}-revision-{number}.zip", "application/zip", content)


@operator_required("GET")
def revision_show(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """One revision, against the published one where it is another."""
    capability = queries.get_capability(capability_id)
    return _page(request, capability, queries.find_revision(capability, number=number))


def _page(
    request: StudioRequest, capability: Capability, revision: Revision, *, error: str = "", status: int = 200
) -> HttpResponse:
    published = capability.published_revision
    is_current = published is not None and published.pk == revision.pk
    context: dict[str, Any] = {
        "capability": capability,
        "capability_id": capability.capability_id,
        "revision": revision,
        "is_current": is_current,
        "can_roll_back": not is_current and capability.status in queries.HELD_STATUSES,
        "diffs": diff_files(published.files if published else {}, revision.files),
        "error": error,
    }
    if context["can_roll_back"] and request.user.can_publish:
        # Rolling back runs today's gate: say before it is tried what that will say.
        context |= build_gate_context(request, publication.preview_rollback(revision, by=actor_of(request)))
        # A page that offers the rollback says why.
        context["note"] = get_note(request) or get_query_text(request, "note", most=NOTE_MAX)
    return render(request, "studio/revision/show.html", context, status=status)


@publisher_required(form_on="studio:revision_show")
def rollback(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """Point agents at an older revision, with a note."""
    capability = queries.get_capability(capability_id)
    revision = queries.find_revision(capability, number=number)
    note = get_note(request)
    if not note:
        return _page(request, capability, revision, error=_("Enter a reason."), status=400)
    try:
        outcome = publication.rollback(
            capability_id=capability_id,
            to=number,
            by=actor_of(request),
            note=note,
            acknowledge=get_acknowledged(request),
        )
    except Forbidden:
        raise
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect("studio:revision_list", capability_id)
    if outcome.status == "refused":
        return _page(request, capability, revision, error=_("Not rolled back. The reasons are below."), status=422)
    words = {"unchanged": _("Revision %(number)s is already live.") % {"number": number}}
    messages.success(request, words.get(outcome.status, _("Revision %(number)s is live again.") % {"number": number}))
    return redirect("studio:capability_show", capability_id)
