"""What an irreversible action would affect, in figures: the Studio shows it before it asks for a confirmation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db.models import QuerySet, Sum
from django.utils.module_loading import import_string

from registry.access.operators import get_operator
from registry.catalog.needed_skills import list_needing
from registry.feature import installed_features
from registry.models import (
    Capability,
    Draft,
    LoadCount,
    Review,
    ScheduledRelease,
    TeamMember,
)
from registry.publishing.audience import DAYS
from registry.publishing.reviews import ACTIVE_STATES
from registry.publishing.scheduled_releases import find_pending_release

NAMES_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class KeyUse:
    """Loads of the last `DAYS` days by one key, and how many capabilities they were of."""

    loads: int
    capabilities: int


@dataclass(frozen=True, slots=True)
class MemberWork:
    """What belongs to an operator: names of teams, ids of capabilities with a draft that they saved last, and how
    many reviews and scheduled releases of theirs are open."""

    is_active: bool
    is_invited: bool
    teams: Sequence[str]
    drafts: Sequence[str]
    reviews: int
    releases: int


@dataclass(frozen=True, slots=True)
class RetirementEffects:
    """What a retirement affects beside readers: the ids of those that say that they need it, the scheduled release that
    it ends, and the addresses of followed sources whose releases of it are drafts from then on."""

    needed_by: Sequence[str]
    ends_release: ScheduledRelease | None
    followed_from: Sequence[str]

    def as_dict(self) -> dict[str, Any]:
        """What there is of it, as command line and operator API return it."""
        due_at = self.ends_release.due_at.isoformat() if self.ends_release is not None else None
        found = {"needed_by": self.needed_by, "ends_release": due_at, "followed_from": self.followed_from}
        return {key: value for key, value in found.items() if value}


def get_retirement_effects(capability_id: str) -> RetirementEffects:
    """What retiring it would affect; nothing for an unknown one."""
    origins = [import_string(feature.origins) for feature in installed_features() if feature.origins]
    return RetirementEffects(
        list_needing(capability_id),
        find_pending_release(capability_id),
        [address for origin in origins for address in origin(capability_id)],
    )


def _recent_loads() -> QuerySet[LoadCount]:
    today = datetime.now(UTC).date()
    return LoadCount.objects.filter(day__gt=today - timedelta(days=DAYS), day__lte=today)


def count_loads(capability_ids: Collection[str]) -> int:
    """Of all of them together, in one query."""
    found = _recent_loads().filter(capability_id__in=capability_ids).aggregate(total=Sum("count"))
    return int(found["total"] or 0)


def use_of_key(name: str) -> KeyUse:
    """In one query. What was counted in the last seconds may be missing."""
    rows = _recent_loads().filter(key_name=name).values("capability_id").annotate(total=Sum("count")).order_by()
    loads = [row["total"] for row in rows]
    return KeyUse(sum(loads), len(loads))


def work_of_member(username: str) -> MemberWork:
    """What an operator leaves behind: teams, drafts, reviews, releases. Raises `NotFound`."""
    operator, actor = get_operator(username), f"operator:{username}"
    drafts = Draft.objects.filter(saved_by=actor, discarded_at__isnull=True)
    return MemberWork(
        is_active=operator.is_active,
        is_invited=not operator.has_usable_password(),
        teams=list(
            TeamMember.objects.filter(operator=operator).order_by("team__name").values_list("team__name", flat=True)
        ),
        drafts=list(drafts.order_by("capability__capability_id").values_list("capability__capability_id", flat=True)),
        reviews=Review.objects.filter(requested_by=actor, state__in=ACTIVE_STATES).count(),
        releases=ScheduledRelease.objects.filter(scheduled_by=actor, state="waiting").count(),
    )


def replaced_by(capability_id: str) -> Sequence[str]:
    """The ids of the deprecated capabilities that this one replaces."""
    found = Capability.objects.filter(replaced_by__capability_id=capability_id, status="deprecated")
    return list(found.order_by("capability_id").values_list("capability_id", flat=True))
