"""Accepting a finding for a time, with the reason and an end date."""

from __future__ import annotations

from datetime import UTC, date, timedelta
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from capability_rules.errors import InvalidRequest, RegistryError
from features.acceptances import waiver_store
from features.acceptances.confirmations import end_waiver
from features.acceptances.waiver_store import WaivableFinding
from registry.catalog.facets import get_display_name
from registry.common.errors import Forbidden
from registry.core import queries
from registry.models import Capability
from studio.pages.confirmations.page import confirmed_first, sent_line
from studio.pages.form_data import get_text
from studio.pages.permissions import StudioRequest, actor_of, publisher_required

# What the form proposes.
DAYS: Final = 30
_PLACE_MAX: Final = 400


@publisher_required("GET", "POST")
def waiver_create(request: StudioRequest, capability_id: str) -> HttpResponse:
    """What was found, and the form that waives it."""
    capability = queries.get_capability(capability_id)
    found = _find(request, capability)
    if found is None:
        messages.info(request, _("That issue is gone: the text has changed, or it was fixed."))
        return redirect("studio:gate_show" if _has_draft(capability) else "studio:capability_show", capability_id)
    if request.method != "POST":
        return _page(request, capability, found)
    try:
        waiver_store.create_waiver(
            capability_id=capability_id,
            code=found.finding.code,
            place=found.finding.fingerprint,
            reason=get_text(request, "reason", most=waiver_store.REASON_MAX + 1),
            until=_day(request),
            by=actor_of(request),
        )
    except Forbidden:
        raise
    except RegistryError as error:
        status = 400 if isinstance(error, InvalidRequest) else 409
        return _page(request, capability, found, error=error.message, status=status)
    messages.success(request, _("Waived. The issue stays in sight until the waiver ends."))
    return redirect("studio:gate_show" if _has_draft(capability) else "studio:capability_show", capability_id)


def _has_draft(capability: Capability) -> bool:
    return capability.drafts.filter(discarded_at__isnull=True).exists()


def _find(request: StudioRequest, capability: Capability) -> WaivableFinding | None:
    """The finding that the address or the form names, None where it is gone. Raises `PermissionDenied`."""
    code, place = (sent_line(request, name, most=_PLACE_MAX) for name in ("code", "place"))
    try:
        found = waiver_store.find_waivable(capability, code=code, place=place, by=actor_of(request))
        waiver_store.require_right(found.finding, actor_of(request))
    except Forbidden as error:
        raise PermissionDenied(f"{error.message}.") from None
    except RegistryError:
        return None
    return found


def _day(request: StudioRequest) -> date:
    try:
        return date.fromisoformat(get_text(request, "until", most=10))
    except ValueError:
        raise InvalidRequest(_("Choose the day on which the waiver ends")) from None


def _page(
    request: StudioRequest, capability: Capability, found: WaivableFinding, *, error: str = "", status: int = 200
) -> HttpResponse:
    today = timezone.now().date()
    context: dict[str, Any] = {
        "capability": capability,
        "capability_id": capability.capability_id,
        "display_name": get_display_name(capability),
        "found": found,
        "finding": found.finding,
        "reason": get_text(request, "reason", most=waiver_store.REASON_MAX + 1),
        "reason_max": waiver_store.REASON_MAX,
        "until": get_text(request, "until", most=10) or (today + timedelta(days=DAYS)).isoformat(),
        "first_day": (today + timedelta(days=1)).isoformat(),
        "last_day": (today + timedelta(days=waiver_store.DAYS_MAX)).isoformat(),
        "has_draft": _has_draft(capability),
        # Not in the reader's time zone: a waiver ends at the same moment for everyone.
        "utc": UTC,
        "error": error,
    }
    return render(request, "studio/waiver/create.html", context, status=status)


@publisher_required("GET", "POST")
@confirmed_first(end_waiver, page="studio:capability_show")
def waiver_end(request: StudioRequest, capability_id: str) -> HttpResponse:
    """End a waiver before its day."""
    number = int(get_text(request, "waiver", most=9))
    try:
        waiver_store.end_waiver(capability_id=capability_id, waiver_id=number, by=actor_of(request))
    except Forbidden:
        raise
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _("Waiver ended. The issue counts at the next publish."))
    return redirect("studio:capability_show", capability_id)
