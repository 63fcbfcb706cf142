"""What agents submit for review: the list, one of them, and the decision."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.catalog.facets import list_facets
from registry.models import Proposal
from registry.publishing import proposals
from studio.pages.actions import run_action
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_choice, get_note
from studio.pages.gate_panels import SHOWN_MAX
from studio.pages.labels import WORDS
from studio.pages.lists import FilterBar, FilterField, get_page
from studio.pages.permissions import StudioRequest, author_required, operator_required, restrict_to_read_only

_FILTERS: Final = (
    FilterField("q", gettext_lazy("Search by ID, note or API key")),
    FilterField(
        "status",
        gettext_lazy("Status"),
        (
            ("", gettext_lazy("Open")),
            *((status, WORDS[status]) for status in Proposal.Status.values if status != "draft"),
            ("all", gettext_lazy("All")),
        ),
    ),
)


@operator_required("GET")
def proposal_list(request: StudioRequest) -> HttpResponse:
    """Open ones, the newest first; or those of another status."""
    filters = FilterBar(request.GET, *_FILTERS)
    status = filters.get("status") or "draft"
    found = proposals.list_proposals(status="" if status == "all" else status, search=filters.get("q"), limit=None)
    page = get_page(request, found)
    context = {"page": page, "status": status, "filters": filters, "query": filters.query}
    return render(request, "studio/proposal/list.html", context)


@operator_required("GET")
def proposal_show(request: StudioRequest, proposal_id: UUID) -> HttpResponse:
    """One proposal: findings, what it changes, what it is like, and the decision."""
    proposal = proposals.get_proposal(proposal_id)
    found = proposals.get_proposal_review(proposal, against=get_choice(request, "against", ("draft", "published")))
    # An author of another team reads it, and decides nothing.
    restrict_to_read_only(request, proposal.capability.capability_id)
    context: dict[str, Any] = {
        "proposal": proposal,
        "capability": proposal.capability,
        "display_name": list_facets(proposal.files.get("capability.json")).name_or(proposal.capability.capability_id),
        "found": found,
        "shown": found.report.findings[:SHOWN_MAX],
        "more": found.report.findings[SHOWN_MAX:],
    }
    return render(request, "studio/proposal/show.html", context)


@author_required(form_on="studio:proposal_show")
def proposal_accept(request: StudioRequest, proposal_id: UUID) -> HttpResponse:
    """Make it the draft; what was the draft is kept aside."""
    to = redirect("studio:capability_show", proposals.get_proposal(proposal_id).capability.capability_id)
    words = _("Copied to the draft. Publish to accept.")
    return _decide(request, proposal_id, proposals.accept_proposal, words, to)


@author_required("GET", "POST")
@confirmed_first(questions.reject_proposal, page="studio:proposal_show")
def proposal_reject(request: StudioRequest, proposal_id: UUID) -> HttpResponse:
    """Decline it, with a note for the proposer."""
    words = _("Proposal declined. The agent's owner sees your note.")
    return _decide(request, proposal_id, proposals.reject_proposal, words, redirect("studio:proposal_list"))


def _decide(request: StudioRequest, proposal_id: UUID, verb: Any, words: str, to: HttpResponse) -> HttpResponse:
    back, note = redirect("studio:proposal_show", proposal_id), get_note(request)
    return run_action(request, verb, words, to=to, back=back, proposal_id=proposal_id, note=note)
