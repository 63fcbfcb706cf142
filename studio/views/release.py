"""Releases that wait for their time: planned at the gate, listed, changed and called off."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from registry import drafts
from registry.errors import DraftConflict, DraftNotFound, RegistryError
from registry.models import ScheduledRelease
from registry.releases import schedules
from studio.access import StudioRequest, actor_of, operator_required, posted_from, publisher_required, why_not
from studio.confirmations import bundles as questions
from studio.confirmations.page import confirmed_first
from studio.views.capability import get_capability_or_404
from studio.views.gate import MOVED_ON, gate_page, no_draft
from studio.views.given import acknowledged_in, line_of, note_of, number_of
from studio.views.telling import tell

PAGE_SIZE = 50


@operator_required
@require_safe
def release_list(request: StudioRequest) -> HttpResponse:
    """Those that wait, and below them what became of the others."""
    ended = Paginator(schedules.list_releases(waiting=False), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"waiting": schedules.list_releases(waiting=True)[:200], "page": ended}
    return render(request, "studio/release/list.html", context)


def due_in(request: HttpRequest) -> datetime | None:
    """A time as a browser sends it, taken as UTC; None for something else."""
    try:
        found = datetime.fromisoformat(line_of(request, "due_at", most=32))
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _day_and_time(due_at: datetime) -> dict[str, str]:
    return {"day": f"{due_at:%Y-%m-%d}", "time": f"{due_at:%H:%M}"}


@operator_required
@posted_from("studio:gate_show")
def release_schedule(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Publish the draft at a time; whatever is wrong comes back as the gate's page with what was typed."""
    capability = get_capability_or_404(capability_id)
    try:
        draft = drafts.get_draft(capability_id)
    except DraftNotFound:
        return no_draft(request, capability_id)
    due_at, note = due_in(request), note_of(request)
    error, status = "", 400
    if not request.user.can_publish:
        error, status = why_not(request, _("publish"), capability_id), 403
    elif not note:
        error = _("Write a note: it stands in the history.")
    elif due_at is None:
        error = _("Name the day and the time, such as 2030-05-01T09:00 (UTC).")
    if error or due_at is None:
        return gate_page(request, capability, draft, error=error, status=status)
    try:
        done = schedules.schedule_release(
            capability_id=capability_id,
            draft_version=number_of(request, "draft_version") or 0,
            due_at=due_at,
            by=actor_of(request),
            note=note,
            acknowledge=acknowledged_in(request),
        )
    except DraftConflict:
        return gate_page(request, capability, draft, error=str(MOVED_ON), status=409)
    except RegistryError as refusal:
        return gate_page(request, capability, draft, error=refusal.message, status=409)
    if done.release is None:
        return gate_page(request, capability, draft, error=_("It was not planned; see below why."), status=422)
    words = _("%(capability_id)s will be published on %(day)s at %(time)s UTC.")
    messages.success(request, words % {"capability_id": capability_id, **_day_and_time(due_at)})
    return redirect("studio:release_list")


@publisher_required
@posted_from("studio:release_list")
def release_change(request: StudioRequest) -> HttpResponse:
    """Another time."""
    due_at = due_in(request)
    if due_at is None:
        messages.error(request, _("Name the day and the time, such as 2030-05-01T09:00 (UTC)."))
        return redirect("studio:release_list")

    def words(release: ScheduledRelease) -> str:
        found = {"capability_id": release.capability.capability_id, **_day_and_time(release.due_at)}
        return _("%(capability_id)s: %(day)s at %(time)s UTC.") % found

    number, to = number_of(request, "release") or 0, redirect("studio:release_list")
    return tell(request, schedules.change_release, words, to=to, scheduled_id=number, due_at=due_at)


@publisher_required
@confirmed_first(questions.cancel_release, page="studio:release_list")
def release_cancel(request: StudioRequest) -> HttpResponse:
    """Call it off."""

    def words(release: ScheduledRelease) -> str:
        capability_id = release.capability.capability_id
        return _("The release of %(capability_id)s is canceled.") % {"capability_id": capability_id}

    number = number_of(request, "release") or 0
    return tell(request, schedules.cancel_release, words, to=redirect("studio:release_list"), scheduled_id=number)
