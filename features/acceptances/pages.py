"""What an operator accepts: a finding for a time, or passages that the security checks doubt, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from capability_kit.errors import readable_name
from capability_rules.errors import InvalidRequest, RegistryError
from features.acceptances import held_passages, waiver_store
from features.acceptances.acceptance_write import REASON_MAX, check_reason
from features.acceptances.confirmations import end_waiver
from features.acceptances.dangerous_actions import KEY_MAX, PASSAGES_MAX, get_chosen_passages
from features.acceptances.models import Acceptance
from features.acceptances.waiver_store import WaivableFinding
from registry.catalog.facets import find_display_names, get_display_name
from registry.common.errors import Forbidden
from registry.core import queries
from registry.models import Capability
from registry.publishing.second_person import Decider
from studio.pages.confirmations.page import BACK, confirmed_first, find_page_before, sent_line
from studio.pages.form_data import get_choice, get_query_text, get_text
from studio.pages.formatting import actor_name, figure, names_words
from studio.pages.lists import FilterBar, FilterField, get_page
from studio.pages.permissions import StudioRequest, actor_of, denial_reason, operator_required, publisher_required
from studio.pages.reauthentication import is_recently_confirmed

# What the form proposes.
DAYS: Final = 30
_PLACE_MAX: Final = 400
_SEARCH: Final = FilterField("q", gettext_lazy("Search by ID, passage or reason"))


def _find_way_back(capability: Capability) -> str:
    """The page from which something of a capability is accepted."""
    return reverse(
        "studio:gate_show" if _has_draft(capability) else "studio:capability_show", args=[capability.capability_id]
    )


@publisher_required("GET", "POST")
def waiver_create(request: StudioRequest, capability_id: str) -> HttpResponse:
    """What was found, and the form that waives it."""
    capability = queries.get_capability(capability_id)
    found = _find_waivable(request, capability)
    if found is None:
        messages.info(request, _("That issue is gone: the text has changed, or it was fixed."))
        return redirect(_find_way_back(capability))
    if request.method != "POST":
        return _waiver_page(request, capability, found)
    try:
        waiver_store.create_waiver(
            capability_id=capability_id,
            code=found.finding.code,
            place=found.finding.fingerprint,
            reason=get_text(request, "reason", most=REASON_MAX + 1),
            until=_day(request),
            by=actor_of(request),
        )
    except Forbidden:
        raise
    except RegistryError as error:
        status = 400 if isinstance(error, InvalidRequest) else 409
        return _waiver_page(request, capability, found, error=error.message, status=status)
    messages.success(request, _("Waived. The issue stays in sight until the waiver ends."))
    return redirect(_find_way_back(capability))


def _has_draft(capability: Capability) -> bool:
    return capability.drafts.filter(discarded_at__isnull=True).exists()


def _find_waivable(request: StudioRequest, capability: Capability) -> WaivableFinding | None:
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


def _waiver_page(
    request: StudioRequest, capability: Capability, found: WaivableFinding, *, error: str = "", status: int = 200
) -> HttpResponse:
    today = timezone.now().date()
    context: dict[str, Any] = {
        "capability": capability,
        "capability_id": capability.capability_id,
        "display_name": get_display_name(capability),
        "found": found,
        "finding": found.finding,
        "reason": get_text(request, "reason", most=REASON_MAX + 1),
        "reason_max": REASON_MAX,
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


@dataclass(frozen=True, slots=True)
class WaitingGroup:
    """What waits in one capability, for one set of people; `decider` says whether the reader may decide about it."""

    capability_id: str
    display_name: str
    passages: Sequence[Acceptance]
    decider: Decider

    @property
    def senders(self) -> str:
        """Who edited or sent it, in words."""
        return names_words([actor_name(one) for one in self.passages[0].submitted_by])


@operator_required("GET", "POST")
def decision_list(request: StudioRequest) -> HttpResponse:
    """What waits of all capabilities, or every decision there was."""
    if request.method == "POST":
        return _decide(request)
    if get_choice(request, "show", ("accepted",)) != "accepted":
        return _page(request)
    filters = FilterBar(request.GET, _SEARCH)
    page = get_page(request, held_passages.list_accepted(search=filters.get("q")))
    names = find_display_names({row.capability_id for row in page.object_list})
    rows = [(row, names.get(row.capability_id, ""), _in_words(row.capability_id)) for row in page.object_list]
    context = {"show": "accepted", "page": page, "rows": rows, "filters": filters, "query": filters.query}
    return render(request, "studio/decision/list.html", context)


@operator_required("GET", "POST")
def decision_show(request: StudioRequest, capability_id: str) -> HttpResponse:
    """What waits of one capability, its draft included."""
    return _decide(request, capability_id) if request.method == "POST" else _page(request, capability_id)


def _decide(request: StudioRequest, capability_id: str = "") -> HttpResponse:
    """Do with each capability's chosen passages what was chosen: one that is refused does not stop the rest."""
    if not request.user.can_publish:
        error = denial_reason(request, _("accept passages"), capability_id)
        return _page(request, capability_id, error=error, status=403)
    deed = request.POST.get("deed", "")
    chosen = get_chosen_passages(request)
    if deed == "send_back":
        # It is the draft that goes back, whatever is chosen of it.
        chosen = {capability_id: set()} if capability_id else {}
    if not chosen:
        return _page(request, capability_id, error=_("Choose at least one passage"), status=400)
    try:
        reason = check_reason(get_text(request, "note", most=REASON_MAX + 1))
    except InvalidRequest as error:
        return _page(request, capability_id, error=error.message, status=400)
    count, refused = 0, []
    for name, fingerprints in chosen.items():
        try:
            count += _decide_one(request, deed, fingerprints, capability_id=name, by=actor_of(request), reason=reason)
        except RegistryError as error:
            refused.append(error)
    if count:
        messages.success(request, _say_done(deed, count))
    if refused:
        status = 403 if all(isinstance(one, Forbidden) for one in refused) else 409
        return _page(request, capability_id, error="; ".join(one.message for one in refused), status=status)
    return redirect(_page_after(request, capability_id))


def _in_words(capability_id: str) -> str:
    """For texts without a capability, whose name nothing keeps."""
    return readable_name(capability_id).capitalize()


def _page_after(request: StudioRequest, capability_id: str) -> str:
    """The page that one came from, else this one: of an id without a capability it may have nothing left to show."""
    if (before := find_page_before(request)) or not capability_id:
        return before or request.path
    has_page = Capability.objects.filter(capability_id=capability_id).exists()
    return request.path if has_page or held_passages.list_waiting(capability_id) else reverse("studio:decision_list")


def _decide_one(request: StudioRequest, deed: str, fingerprints: set[str], **given: Any) -> int:
    """How many passages of one capability were decided; a draft counts as one."""
    if deed == "send_back":
        held_passages.send_back(**given)
        return 1
    if deed == "decline":
        return held_passages.decline_passages(fingerprints=fingerprints, **given)
    is_confirmed = is_recently_confirmed(request)
    return len(held_passages.accept_passages(fingerprints=fingerprints, is_confirmed=is_confirmed, **given))


def _say_done(deed: str, count: int) -> str:
    if deed == "send_back":
        return _("The draft is sent back to its author.")
    if deed == "decline":
        words = ngettext("%(count)s passage is declined.", "%(count)s passages are declined.", count)
    else:
        words = ngettext("%(count)s passage is accepted.", "%(count)s passages are accepted.", count)
    return words % {"count": figure(count)}


def _page(request: StudioRequest, capability_id: str = "", *, error: str = "", status: int = 200) -> HttpResponse:
    """The form, with what was typed and chosen."""
    found = held_passages.list_waiting(capability_id) if capability_id else held_passages.list_pending()
    if capability_id and not found and not Capability.objects.filter(capability_id=capability_id).exists():
        raise Http404
    groups = _group(request, found[:PASSAGES_MAX])
    chosen = set(request.POST.getlist("chosen"))
    asked = get_query_text(request, "passage", most=KEY_MAX)
    able = [one for group in groups if not group.decider.refusal for one in group.passages]
    # What somebody has come for is chosen already, and so is the only one that there is.
    chosen |= {one.key for one in able if one.fingerprint == asked or len(able) == 1}
    context: dict[str, Any] = {
        "show": "waiting",
        "capability_id": capability_id,
        "display_name": find_display_names([capability_id]).get(capability_id, _in_words(capability_id)),
        "groups": groups,
        "left_out": max(0, len(found) - PASSAGES_MAX),
        "can_decide": bool(able),
        # Texts that were refused without a draft have nobody to go back to: they are declined.
        "can_send_back": bool(capability_id) and any(one.seen_at is None for one in able),
        "can_decline": bool(capability_id) and any(one.seen_at is not None for one in able),
        "count": len(able),
        "chosen": chosen,
        "note": get_text(request, "note", most=REASON_MAX + 1),
        "reason_max": REASON_MAX,
        "back": find_page_before(request) or _default_back(capability_id),
        "back_name": BACK,
        "error": error,
    }
    template = "studio/decision/show.html" if capability_id else "studio/decision/list.html"
    return render(request, template, context, status=status)


def _default_back(capability_id: str) -> str:
    if not capability_id:
        return ""
    capability = Capability.objects.filter(capability_id=capability_id).first()
    if capability is None:
        # It was refused before there was one.
        return reverse("studio:decision_list")
    return _find_way_back(capability)


def _group(request: StudioRequest, found: Iterable[Acceptance]) -> list[WaitingGroup]:
    """By capability and by who sent it, so that each group has one answer to who may decide."""
    key = attrgetter("capability_id", "submitted_by")
    listed = sorted(found, key=key)
    names = find_display_names({one.capability_id for one in listed})
    groups = []
    for (capability_id, submitted_by), passages in groupby(listed, key=key):
        decider = held_passages.evaluate_right(capability_id, submitted_by, actor_of(request))
        name = names.get(capability_id, _in_words(capability_id))
        groups.append(WaitingGroup(capability_id, name, list(passages), decider))
    return groups
