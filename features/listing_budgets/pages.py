"""The page *Listings*: what the model of each client reads of each description."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from features.listing_budgets.budgets import list_budgets
from features.listing_budgets.catalog import Listings, current_listings, list_entries, read_listings
from features.listing_budgets.listing import CUT, MISSING, NAME, WHOLE
from features.sets import set_store
from registry import snapshot
from registry.catalog.facets import find_display_names
from studio.pages.lists import FilterBar, FilterField, get_page
from studio.pages.permissions import StudioRequest, operator_required

_STATES: Final = {
    WHOLE: gettext_lazy("Whole"),
    CUT: gettext_lazy("Cut"),
    NAME: gettext_lazy("Name only"),
    MISSING: gettext_lazy("Not listed"),
}


@operator_required("GET")
def listing_budget_list(request: StudioRequest) -> HttpResponse:
    """All that is listed, or one set, as each client lists it to somebody who has used none of it."""
    held = snapshot.current_snapshot()
    sets = {row.set_id: row.document for row in set_store.query_sets()}
    choices = [("", _("All that is listed")), *((set_id, document["name"]) for set_id, document in sets.items())]
    filters = FilterBar(request.GET, FilterField("set", _("Installed"), choices))
    if chosen := filters.get("set"):
        members = {member["capability_id"] for member in sets[chosen]["members"]}
        listings = read_listings(list_entries(held, members))
    else:
        listings = current_listings(held)
    ids = sorted(listings[list_budgets()[0].id])
    page = get_page(request, ids)
    shown = list(page.object_list)
    names, budgets = find_display_names(shown), list_budgets()
    context: dict[str, Any] = {
        "page": page,
        "budgets": [(budget, _count(listings, budget.id)) for budget in budgets],
        "rows": [(each, names[each], [(budget, listings[budget.id][each]) for budget in budgets]) for each in shown],
        "filters": filters,
        "query": filters.query,
    }
    return render(request, "studio/listing_budget/list.html", context)


def _count(listings: Listings, budget_id: str) -> list[tuple[str | Promise, int]]:
    """How many are listed in each way, the best first, with its words."""
    states = Counter(one.state for one in listings[budget_id].values())
    return [(words, states[state]) for state, words in _STATES.items()]
