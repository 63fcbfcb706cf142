"""Revisions: what was published when, by whom and why; and the way back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from registry import publishing, queries
from registry.errors import RegistryError, RevisionNotFound
from registry.gate import text_diffs
from registry.models import Capability, Revision
from studio.access import StudioRequest, actor_of, operator_required, posted_from, publisher_required
from studio.views.capability import get_capability_or_404
from studio.views.gate import gate_context
from studio.views.given import NOTE_MAX, acknowledged_in, note_of, text_in


@operator_required
@require_safe
def revision_list(request: StudioRequest, capability_id: str) -> HttpResponse:
    """All revisions, the newest first."""
    capability = get_capability_or_404(capability_id)
    revisions = capability.revisions.order_by("-number").defer(*Revision.COLUMNS.values())
    page = Paginator(revisions, 50).get_page(request.GET.get("page"))
    return render(request, "studio/revision/list.html", {"capability": capability, "page": page})


def _revision_or_404(capability: Capability, number: int) -> Revision:
    try:
        return queries.find_revision(capability, number=number)
    except RevisionNotFound as error:
        raise Http404(error.message) from None


@operator_required
@require_safe
def revision_show(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """One revision, against the published one where it is another."""
    capability = get_capability_or_404(capability_id)
    return _page(request, capability, _revision_or_404(capability, number))


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
        "can_roll_back": not is_current and capability.status in queries.LISTED,
        "diffs": text_diffs(published.files if published else {}, revision.files),
        "error": error,
    }
    if context["can_roll_back"] and request.user.can_publish:
        # Rolling back runs today's gate: say before it is tried what that will say.
        context |= gate_context(request, publishing.preview(files=revision.files))
        # A page that offers the rollback says why.
        context["note"] = note_of(request) or text_in(request, "note", most=NOTE_MAX)
    return render(request, "studio/revision/show.html", context, status=status)


@publisher_required
@posted_from("studio:revision_show")
def rollback(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """Point agents at an older revision, with a note."""
    capability = get_capability_or_404(capability_id)
    revision = _revision_or_404(capability, number)
    note = note_of(request)
    if not note:
        return _page(request, capability, revision, error="Write a note: it stands in the history.", status=400)
    try:
        outcome = publishing.rollback(
            capability_id=capability_id,
            to=number,
            by=actor_of(request),
            note=note,
            acknowledge=acknowledged_in(request),
        )
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect("studio:revision_list", capability_id)
    if outcome.status == "refused":
        return _page(request, capability, revision, error="It was not rolled back; see below why.", status=422)
    words = {"unchanged": f"Agents get revision {number} already."}
    messages.success(request, words.get(outcome.status, f"Agents get revision {number} again."))
    return redirect("studio:capability_show", capability_id)
