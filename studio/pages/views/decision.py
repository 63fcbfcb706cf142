"""Passages that the security checks doubt: what waits for a decision, the form that decides, and what was decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from capability_kit.errors import readable_name
from capability_rules.errors import InvalidRequest, RegistryError
from registry.catalog.facets import find_display_names
from registry.common.errors import Forbidden
from registry.models import Capability
from registry.publishing import held_passages
from registry.publishing.held_passages import REASON_MAX, Waiting
from registry.publishing.second_person import Decider
from studio.pages.confirmations.page import BACK, find_page_before
from studio.pages.form_data import PASSAGES_MAX, get_choice, get_chosen_passages, get_query_text, get_text
from studio.pages.formatting import actor_name, figure, names_words
from studio.pages.lists import FilterBar, FilterField, get_page
from studio.pages.permissions import StudioRequest, actor_of, denial_reason, operator_required
from studio.pages.reauthentication import is_recently_confirmed

_KEY_MAX: Final = 200
_SEARCH: Final = FilterField("q", gettext_lazy("Search by ID, passage or reason"))


@dataclass(frozen=True, slots=True)
class WaitingGroup:
    """What waits in one capability, for one set of people; `decider` says whether the reader may decide about it."""

    capability_id: str
    display_name: str
    passages: Sequence[Waiting]
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
    """Accept what is chosen, capability by capability: one that is refused does not stop the rest."""
    if not request.user.can_publish:
        error = denial_reason(request, _("accept passages"), capability_id)
        return _page(request, capability_id, error=error, status=403)
    chosen = get_chosen_passages(request)
    deed = request.POST.get("deed")
    if not chosen and deed != "send_back":
        return _page(request, capability_id, error=_("Choose at least one passage"), status=400)
    try:
        reason = held_passages.check_reason(get_text(request, "note", most=REASON_MAX + 1))
    except InvalidRequest as error:
        return _page(request, capability_id, error=error.message, status=400)
    if capability_id and deed == "send_back":
        return _send_back(request, capability_id, reason)
    if deed == "decline":
        count, refused = _decide_each(request, chosen, partial(held_passages.decline_passages, reason=reason))
        done = ngettext("%(count)s passage is declined.", "%(count)s passages are declined.", count)
    else:
        accept = partial(_accept, reason=reason, is_confirmed=is_recently_confirmed(request))
        count, refused = _decide_each(request, chosen, accept)
        done = ngettext("%(count)s passage is accepted.", "%(count)s passages are accepted.", count)
    if count:
        messages.success(request, done % {"count": figure(count)})
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


def _send_back(request: StudioRequest, capability_id: str, reason: str) -> HttpResponse:
    try:
        held_passages.send_back(capability_id=capability_id, by=actor_of(request), reason=reason)
    except RegistryError as error:
        return _page(request, capability_id, error=error.message, status=403 if isinstance(error, Forbidden) else 409)
    messages.success(request, _("The draft is sent back to its author."))
    return redirect(_page_after(request, capability_id))


def _accept(**given: Any) -> int:
    return len(held_passages.accept_passages(**given))


def _decide_each(
    request: StudioRequest, chosen: Mapping[str, set[str]], decide: Callable[..., int]
) -> tuple[int, list[RegistryError]]:
    """How many passages were decided, and the refusals, of one capability each."""
    count, refused = 0, []
    for capability_id, fingerprints in chosen.items():
        try:
            count += decide(capability_id=capability_id, by=actor_of(request), fingerprints=fingerprints)
        except RegistryError as error:
            refused.append(error)
    return count, refused


def _page(request: StudioRequest, capability_id: str = "", *, error: str = "", status: int = 200) -> HttpResponse:
    """The form, with what was typed and chosen."""
    found = held_passages.list_waiting(capability_id) if capability_id else held_passages.list_pending()
    if capability_id and not found and not Capability.objects.filter(capability_id=capability_id).exists():
        raise Http404
    groups = _group(request, found[:PASSAGES_MAX])
    chosen = set(request.POST.getlist("chosen"))
    asked = get_query_text(request, "passage", most=_KEY_MAX)
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
    has_draft = capability.drafts.filter(discarded_at__isnull=True).exists()
    return reverse("studio:gate_show" if has_draft else "studio:capability_show", args=[capability_id])


def _group(request: StudioRequest, found: Iterable[Waiting]) -> list[WaitingGroup]:
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
