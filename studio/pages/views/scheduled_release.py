"""Releases that wait for their time: planned at the gate, listed, changed and called off."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import InvalidRequest, RegistryError
from registry.catalog.facets import find_display_names, get_display_name
from registry.common.errors import DraftConflict
from registry.models import Capability, Draft, ScheduledRelease
from registry.publishing import scheduled_releases
from studio.middleware.time_zones import moment_words, time_sent
from studio.pages.actions import run_action
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_acknowledged, get_int, get_note
from studio.pages.lists import FilterBar, FilterField, get_page
from studio.pages.permissions import StudioRequest, actor_of, denial_reason, operator_required, publisher_required
from studio.pages.views.gate import DRAFT_CHANGED, draft_required, find_unconfirmed, render_gate

_FILTERS = (
    FilterField("q", gettext_lazy("Search by name, ID or note")),
    FilterField(
        "state", gettext_lazy("Show"), (("", gettext_lazy("Scheduled")), ("past", gettext_lazy("Past releases")))
    ),
)


@operator_required("GET")
def release_list(request: StudioRequest) -> HttpResponse:
    """Those that wait, or what became of the others."""
    filters = FilterBar(request.GET, *_FILTERS)
    is_past = filters.get("state") == "past"
    found = scheduled_releases.list_releases(waiting=not is_past, search=filters.get("q"))
    page = get_page(request, found)
    names = find_display_names({release.capability.capability_id for release in page.object_list})
    rows = [(release, names[release.capability.capability_id]) for release in page.object_list]
    stopped = set() if is_past else set(scheduled_releases.find_stops(list(page.object_list)))
    context = {
        "page": page,
        "rows": rows,
        "is_past": is_past,
        "stopped": stopped,
        "filters": filters,
        "query": filters.query,
    }
    return render(request, "studio/release/list.html", context)


def _due_at(request: StudioRequest) -> tuple[datetime | None, str]:
    """The moment that was typed, or why there is none."""
    try:
        return time_sent(request.POST, "due_at"), ""
    except InvalidRequest as refusal:
        return None, refusal.message


@operator_required(form_on="studio:gate_show")
@draft_required
def release_schedule(request: StudioRequest, capability: Capability, draft: Draft) -> HttpResponse:
    """Publish the draft at a time; whatever is wrong comes back as the gate's page with what was typed."""
    capability_id = capability.capability_id
    note, status = get_note(request), 400
    due_at, error = _due_at(request)
    if not request.user.can_publish:
        error, status = denial_reason(request, _("publish"), capability_id), 403
    elif not note:
        error = _("Enter a release note.")
    elif due_at is not None and (unconfirmed := find_unconfirmed(request, draft)):
        error, status = unconfirmed, 422
    if error or due_at is None:
        return render_gate(request, capability, draft, error=error, status=status)
    try:
        done = scheduled_releases.schedule_release(
            capability_id=capability_id,
            draft_version=get_int(request, "draft_version") or 0,
            due_at=due_at,
            by=actor_of(request),
            note=note,
            acknowledge=get_acknowledged(request),
        )
    except DraftConflict:
        return render_gate(request, capability, draft, error=str(DRAFT_CHANGED), status=409)
    except RegistryError as refusal:
        return render_gate(request, capability, draft, error=refusal.message, status=409)
    if done.release is None:
        return render_gate(request, capability, draft, error=_("Not scheduled. The reasons are below."), status=422)
    messages.success(request, _scheduled_words(done.release))
    return redirect("studio:release_list")


def _scheduled_words(release: ScheduledRelease) -> str:
    found = {"name": get_display_name(release.capability), "when": moment_words(release.due_at)}
    return _("%(name)s goes live on %(when)s.") % found


@publisher_required(form_on="studio:release_list")
def release_change(request: StudioRequest) -> HttpResponse:
    """Move a scheduled release to another time."""
    due_at, error = _due_at(request)
    if due_at is None:
        messages.error(request, error)
        return redirect("studio:release_list")
    return run_action(
        request,
        scheduled_releases.reschedule_release,
        _scheduled_words,
        to=redirect("studio:release_list"),
        scheduled_id=get_int(request, "release") or 0,
        due_at=due_at,
    )


@publisher_required("GET", "POST")
@confirmed_first(questions.cancel_release, page="studio:release_list")
def release_cancel(request: StudioRequest) -> HttpResponse:
    """Cancel a scheduled release; the draft stays."""

    def words(release: ScheduledRelease) -> str:
        return _("Release of %(name)s canceled.") % {"name": get_display_name(release.capability)}

    number = get_int(request, "release") or 0
    return run_action(
        request, scheduled_releases.cancel_release, words, to=redirect("studio:release_list"), scheduled_id=number
    )
