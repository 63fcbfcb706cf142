"""How much waits for a person: the counts beside the Studio's navigation, one query each."""

from __future__ import annotations

from django.db.models import Q, Value

from registry.common.actors import Actor
from registry.core.queries import list_open_incidents
from registry.models import Operator, Review
from registry.usage import demand


def count_reviews(operator: Operator) -> int:
    """Reviews that this person can decide, and their own that were sent back; a viewer has none."""
    if not operator.can_edit:
        return 0
    actor = str(Actor("operator", operator.get_username()))
    wanted = Q(state=Review.State.CHANGES_REQUESTED, requested_by=actor)
    if operator.can_publish:
        wanted |= Q(state=Review.State.OPEN) & ~Q(requested_by=actor)
    return Review.objects.filter(wanted).count()


def count_unmet_requests(operator: Operator) -> int:
    """Ids and messages that led nowhere and that nobody has dismissed; for those who can act on them."""
    if not operator.can_edit:
        return 0
    # Their keys are of two types, which PostgreSQL does not put into one column.
    ids, messages = (
        rows.order_by().annotate(row=Value(1)).values("row")
        for rows in (demand.list_unknown_ids(), demand.list_messages())
    )
    return ids.union(messages, all=True).count()


def count_incidents(operator: Operator) -> int:  # noqa: ARG001 (every count takes the person)
    """Open incidents."""
    return list_open_incidents().count()
