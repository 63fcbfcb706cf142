"""The gate: everything to know before publishing, on one page."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from registry import drafts, publishing
from registry.errors import DraftConflict, DraftNotFound
from registry.models import Draft
from studio.access import StudioRequest, actor_of, operator_required
from studio.views.capability import get_capability_or_404


@operator_required
@require_http_methods(["GET", "HEAD", "POST"])
def gate_show(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Findings, differences and the button; the same report that command line and API give."""
    get_capability_or_404(capability_id)
    try:
        draft = drafts.get_draft(capability_id)
    except DraftNotFound:
        messages.info(request, "There is no draft to publish.")
        return redirect("studio:capability_show", capability_id)
    if request.method == "POST":
        return _publish(request, draft)
    return _page(request, draft)


def _page(request: StudioRequest, draft: Draft, *, error: str = "", status: int = 200) -> HttpResponse:
    capability_id = draft.capability.capability_id
    outcome = publishing.publish_draft(capability_id=capability_id, by=actor_of(request), dry_run=True)
    context: dict[str, Any] = {
        "capability_id": capability_id,
        "draft": draft,
        "outcome": outcome,
        "gate": outcome.gate,
        "blocking": _blocking(outcome),
        "error": error,
        "note": request.POST.get("note", ""),
    }
    return render(request, "studio/gate/show.html", context, status=status)


def _blocking(outcome: publishing.Outcome) -> int:
    """Errors that no tick can lift."""
    acknowledgeable = outcome.gate.to_acknowledge if outcome.gate else ()
    return sum(finding.is_error and finding.code not in acknowledgeable for finding in outcome.findings)


def _publish(request: StudioRequest, draft: Draft) -> HttpResponse:
    if not request.user.can_publish:
        return _page(request, draft, error=f"Your role, {request.user.role}, may not publish.", status=403)
    note = request.POST.get("note", "").strip()[:2000]
    if not note:
        return _page(request, draft, error="Write a note: it stands in the history.", status=400)
    version = request.POST.get("draft_version", "")
    capability_id = draft.capability.capability_id
    try:
        outcome = publishing.publish_draft(
            capability_id=capability_id,
            draft_version=int(version) if version.isdecimal() and len(version) < 10 else 0,
            by=actor_of(request),
            note=note,
            acknowledge=request.POST.getlist("acknowledge"),
        )
    except DraftConflict:
        return _page(request, draft, error="The draft has changed since you opened this page; look again.", status=409)
    except DraftNotFound:
        messages.info(request, "Somebody else has just published this draft.")
        return redirect("studio:capability_show", capability_id)
    if outcome.status == "refused":
        return _page(request, draft, error="It was not published; see below why.", status=422)
    words = {"unchanged": "Already up to date: nothing differs from the published revision."}
    messages.success(request, words.get(outcome.status, f"Published as revision {outcome.revision}."))
    return redirect("studio:capability_show", capability_id)
