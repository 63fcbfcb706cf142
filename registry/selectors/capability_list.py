"""The list of capabilities as operators filter, search and sort it, and what the quick-open dialog finds.

The number of queries is the same however many there are: one for all rows without their texts, one for what a filter
asks beside that, and a few for the page that is shown. Facets come from memory (registry/catalog/facets.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

from django.db.models import Sum

from registry.catalog.facets import LEVELS, SYSTEMS, FacetRow, Facets, get_facets
from registry.core import queries
from registry.core.queries import CapabilityRow
from registry.models import Capability, Draft, Incident, LoadCount, SkillGroup
from registry.selectors.capability_search import rank_capabilities

LOAD_DAYS: Final = 30
# In the quick-open dialog.
FOUND_MAX: Final = 8
SORTS: Final = ("id", "name", "status", "owner", "updated", "loads")
ACCESSES: Final = ("read", "write")
STATUSES: Final = tuple(Capability.Status.values)
FINDINGS: Final = ("incident", "draft", "none")
NO_GROUP: Final = "-"
# What the database sorts by; the rest is known in memory.
_COLUMNS: Final = {
    "-id": "-capability_id",
    "status": "status",
    "-status": "-status",
    "updated": "updated_at",
    "-updated": "-updated_at",
}


@dataclass(frozen=True, slots=True)
class CapabilityFilter:
    """What to list; empty is any. `group` may be `-`: in no group. `findings`: `incident` has an open incident,
    `draft` a draft that did not pass when it was saved, `none` neither. `access` is `read` where no tool writes,
    `write` where one does. `sort` is one of `SORTS`, downwards with `-`; empty is by relevance where there is a text,
    else by id."""

    text: str = ""
    status: str = ""
    group: str = ""
    owner: str = ""
    profile: str = ""
    os: str = ""
    level: str = ""
    findings: str = ""
    draft: str = ""
    access: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """A capability of the list; `loads` are those of the last `LOAD_DAYS`."""

    row: CapabilityRow
    facets: Facets
    loads: int
    owner: str = ""

    @property
    def name(self) -> str:
        """What people call it, by its draft where nothing was published yet."""
        return self.facets.name_or(self.row.capability_id)


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to filter by, over all capabilities: `(value, how many)` in order."""

    groups: Sequence[tuple[str, int]]
    owners: Sequence[tuple[str, int]]


class CapabilityList:
    """The capabilities that fit, in order; `rows` reads a part of them."""

    def __init__(self, wanted: CapabilityFilter) -> None:
        """Reads every row without its texts."""
        self.wanted = wanted
        self._all = list_all_rows(_COLUMNS.get(wanted.sort, "capability_id"))
        self._facets = get_facets(self._all)
        self._loads: dict[str, int] | None = _loads() if wanted.sort.endswith("loads") else None
        self._found = self._fitting()

    def __len__(self) -> int:
        return len(self._found)

    def rows(self, *, offset: int, limit: int) -> list[CatalogueRow]:
        """The number of rows."""
        shown = self._found[offset : offset + limit]
        loads = self._loads if self._loads is not None else _loads([one.capability_id for one in shown])
        full = {row.capability_id: row for row in queries.list_capabilities(keys=[one.key for one in shown])}
        return [
            CatalogueRow(
                full[one.capability_id],
                self._facets[one.key],
                loads.get(one.capability_id, 0),
                get_owner(one, self._facets[one.key]),
            )
            for one in shown
            if one.capability_id in full
        ]

    def choices(self) -> Choices:
        """What the filters offer."""
        groups = Counter(dict.fromkeys(SkillGroup.objects.values_list("group_id", flat=True), 0))
        for one in self._facets.values():
            groups.update(one.groups)
        owners = Counter(owner for owner in (get_owner(one, self._facets[one.key]) for one in self._all) if owner)
        return Choices(sorted(groups.items()), sorted(owners.items()))

    def _fitting(self) -> list[FacetRow]:
        fits = _filter(self.wanted)
        found = [one for one in self._all if fits(one, self._facets[one.key])]
        if self.wanted.text:
            places = rank_capabilities(self.wanted.text, {one.capability_id: self._facets[one.key] for one in found})
            found = [one for one in found if one.capability_id in places]
            if not self.wanted.sort:
                return sorted(found, key=lambda one: places[one.capability_id])
        return self._sorted(found)

    def _sorted(self, found: list[FacetRow]) -> list[FacetRow]:
        loads = self._loads or {}
        keys: dict[str, Callable[[FacetRow], Any]] = {
            "name": lambda one: self._facets[one.key].name_or(one.capability_id).casefold(),
            "owner": lambda one: get_owner(one, self._facets[one.key]).casefold(),
            "loads": lambda one: loads.get(one.capability_id, 0),
        }
        key = keys.get(self.wanted.sort.removeprefix("-"))
        return sorted(found, key=key, reverse=self.wanted.sort.startswith("-")) if key else found


def compatibility_matrix() -> dict[tuple[str, str], int]:
    """How many capabilities that readers can load are at each (os, dependency level), zeros included; one that names
    several systems counts at each."""
    rows = [one for one in list_all_rows("capability_id") if one.status in ("published", "deprecated")]
    counted = Counter(place for one in get_facets(rows).values() for place in one.places)
    return {(system, level): counted[system, level] for system in SYSTEMS for level in LEVELS}


def list_all_rows(order: str) -> list[FacetRow]:
    """All capabilities without their texts, in one query."""
    columns = ("pk", "capability_id", "status", "published_revision_id", "draft_counter", "team__name")
    return [FacetRow._make(row) for row in Capability.objects.order_by(order, "capability_id").values_list(*columns)]


def _filter(wanted: CapabilityFilter) -> Callable[[FacetRow, Facets], bool]:
    """Whether one fits, the search aside."""
    among = _among(wanted)

    def fits(one: FacetRow, facets: Facets) -> bool:
        return (
            (not wanted.status or one.status == wanted.status)
            and (not wanted.group or _is_in_group(facets, wanted.group))
            and (not wanted.owner or get_owner(one, facets) == wanted.owner)
            and (not wanted.profile or facets.profile == wanted.profile)
            and (not wanted.access or bool(facets.writes) == (wanted.access == "write"))
            and (not (wanted.os or wanted.level) or _is_at(facets, wanted.os, wanted.level))
            and among(one.key)
        )

    return fits


def get_owner(one: FacetRow, facets: Facets) -> str:
    """The team that owns it, else the owner that its author names; empty for none."""
    return one.team or facets.owner


def _is_in_group(facets: Facets, group: str) -> bool:
    return not facets.groups if group == NO_GROUP else group in facets.groups


def _is_at(facets: Facets, system: str, level: str) -> bool:
    return any((not system or system == os) and (not level or level == on) for os, on in facets.places)


def _among(wanted: CapabilityFilter) -> Callable[[int], bool]:
    """Whether a row is among those that the query selected."""
    drafts = Draft.objects.filter(discarded_at__isnull=True)
    waiting = set(drafts.values_list("capability_id", flat=True)) if wanted.draft else None
    if not wanted.findings:
        return (lambda key: key in waiting) if waiting is not None else lambda _: True
    incidents = set(Incident.objects.filter(closed_at__isnull=True).values_list("capability_id", flat=True))
    failing = set(drafts.filter(digest="").values_list("capability_id", flat=True))
    kept = {"incident": incidents, "draft": failing}.get(wanted.findings)

    def among(key: int) -> bool:
        fits = key in kept if kept is not None else key not in incidents and key not in failing
        return fits and (waiting is None or key in waiting)

    return among


def _loads(ids: Sequence[str] | None = None) -> dict[str, int]:
    since = (datetime.now(UTC) - timedelta(days=LOAD_DAYS)).date()
    counted = LoadCount.objects.filter(day__gt=since).order_by()
    if ids is not None:
        counted = counted.filter(capability_id__in=ids)
    return dict(counted.values_list("capability_id").annotate(Sum("count")))


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """A capability to jump to; `name` is its draft's where nothing was published yet, and its id where it has none."""

    capability_id: str
    name: str
    status: str


def find_capabilities(text: str) -> list[JumpTarget]:
    """What the list finds for `text`, the best `FOUND_MAX` of it, in the list's order."""
    words = text.replace("\0", "")
    if not words.split():
        return []
    rows = {row.capability_id: row for row in list_all_rows("capability_id")}
    held = get_facets(list(rows.values()))
    among = {capability_id: held[row.key] for capability_id, row in rows.items()}
    found = islice(rank_capabilities(words, among), FOUND_MAX)
    return [JumpTarget(one, among[one].name_or(one), rows[one].status) for one in found]
