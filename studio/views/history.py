"""Revisions: what was published when, by whom and why; and the way back."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from registry import publishing, queries
from registry.errors import RegistryError, RevisionNotFound
from registry.gate import text_diffs
from studio.access import StudioRequest, actor_of, operator_required, publisher_required
from studio.views.capability import get_capability_or_404


@operator_required
@require_safe
def revision_list(request: StudioRequest, capability_id: str) -> HttpResponse:
    """All revisions, the newest first."""
    capability = get_capability_or_404(capability_id)
    revisions = capability.revisions.order_by("-number").defer("skill_md", "tools_json", "ui_schemas_json")
    page = Paginator(revisions, 50).get_page(request.GET.get("page"))
    return render(request, "studio/revision/list.html", {"capability": capability, "page": page})


@operator_required
@require_safe
def revision_show(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """One revision, against the published one where it is another."""
    capability = get_capability_or_404(capability_id)
    try:
        revision = queries.find_revision(capability, number=number)
    except RevisionNotFound as error:
        raise Http404(error.message) from None
    published = capability.published_revision
    is_current = published is not None and published.pk == revision.pk
    context = {
        "capability": capability,
        "revision": revision,
        "is_current": is_current,
        "can_roll_back": not is_current and capability.status in ("published", "deprecated"),
        "diffs": text_diffs(published.files if published else {}, revision.files),
    }
    return render(request, "studio/revision/show.html", context)


@publisher_required
@require_POST
def rollback(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """Point agents at an older revision, with a note."""
    get_capability_or_404(capability_id)
    note = request.POST.get("note", "").strip()[:2000]
    if not note:
        messages.error(request, "Write a note: it stands in the history.")
        return redirect("studio:revision_show", capability_id, number)
    try:
        outcome = publishing.rollback(
            capability_id=capability_id,
            to=number,
            by=actor_of(request),
            note=note,
            acknowledge=request.POST.getlist("acknowledge"),
        )
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect("studio:revision_list", capability_id)
    if outcome.status == "refused":
        reasons = "; ".join(finding.message for finding in outcome.findings if finding.is_error)
        messages.error(request, f"Refused by today's rules: {reasons}")
        return redirect("studio:revision_show", capability_id, number)
    messages.success(request, f"Agents get revision {number} again.")
    return redirect("studio:capability_show", capability_id)
