"""Whose word feedback is: of one key alone, or of several."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db.models import Max, Min, OuterRef, Subquery
from django.db.models.lookups import Exact

from registry.models import FeedbackEvent


def is_single_key(capability: OuterRef) -> Exact:
    """An expression: whether one key has reported all outcomes of the capability of the outer query. Two look-ups in an
    index, however many outcomes there are."""
    names = FeedbackEvent.objects.filter(capability=capability).values("key_name")
    first, last = (Subquery(names.order_by(order)[:1]) for order in ("key_name", "-key_name"))
    return Exact(first, last)


def find_only_keys(keys: Collection[int], revisions: Mapping[int, int] | None = None) -> dict[int, str]:
    """`{capability's row id: name}` where one key has reported all outcomes; with `revisions`, those of that revision.
    One query."""
    rows = FeedbackEvent.objects.filter(capability__in=keys).order_by().values_list("capability_id", "revision")
    named: dict[int, set[str]] = {}
    for pk, number, first, last in rows.annotate(first=Min("key_name"), last=Max("key_name")):
        if revisions is None or revisions.get(pk) == number:
            named.setdefault(pk, set()).update((first, last))
    return {pk: next(iter(names)) for pk, names in named.items() if len(names) == 1}
