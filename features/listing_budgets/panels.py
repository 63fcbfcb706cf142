"""What stands on pages of the core: which clients do not list a description whole, and what a release pushes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from capability_rules.bundles import json_reader
from features.listing_budgets.budgets import list_budgets
from features.listing_budgets.catalog import compare_release, current_listings
from registry import snapshot
from registry.snapshot import Snapshot
from registry.snapshot.store import STORE

# Nobody installs more at once: sets are what is installed then. A list of a thousand is read in 40 ms.
_ENTRIES_MAX: Final = 2_000


def draw_listed(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """One line, where a client of those that read a list does not list it whole."""
    name = context["capability"].capability_id
    held = _held_snapshot()
    rows = []
    if len(held.entries) <= _ENTRIES_MAX:
        listings = current_listings(held)
        found = [(budget, listings[budget.id].get(name)) for budget in list_budgets() if not budget.is_ranked]
        rows = [(budget, one) for budget, one in found if one is not None and (one.twin or not one.is_whole)]
    return render_to_string("studio/listing_budget/of_capability.html", {"rows": rows}, request)


def draw_change(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """What the release of this draft does to the lists."""
    capability, draft = context["capability"], context.get("draft")
    changes = []
    held = _held_snapshot()
    if capability.visibility == "listed" and draft is not None and len(held.entries) <= _ENTRIES_MAX:
        value = json_reader.read_json(draft.capability_json or "").value
        if isinstance(value, dict):
            changes = compare_release(held, capability.capability_id, value)
    return render_to_string("studio/listing_budget/of_release.html", {"changes": changes}, request)


def _held_snapshot() -> Snapshot:
    """Without another look for changes: the page has looked already."""
    return STORE.snapshot if STORE.has_read else snapshot.current_snapshot()
