"""Where a followed source and the registry differ: read from the source now, or known from its last sync."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from features.sources.models import GitSource, GitSourceItem
from features.sources.source_state import SourceBundleState
from features.sources.source_sync import get_source, read_source
from registry.core.queries import LOADABLE_STATUSES
from registry.models import Capability

FileDifference = Literal[
    "source_changed", "registry_changed", "both_changed", "not_published", "not_taken_over", "gone_from_source",
    "deprecated_in_source", "unread",
]  # fmt: skip
DIFFERENCE_LABELS: Final[dict[FileDifference, str]] = {
    "source_changed": "has changed in the source, and is not published here as it is there",
    "registry_changed": "was published here with other content since the source was imported",
    "both_changed": "has changed in the source, and was published here with other content",
    "not_published": "is in the source, and not published here",
    "not_taken_over": "is here with other content and did not come from this source: it is left alone",
    "gone_from_source": "is no longer in the source, and published here: retire it, if that is intended",
    "deprecated_in_source": "is deprecated in the source, and not here",
    "unread": "cannot be published as it is in the source",
}
# What was imported as it is there still, and is not what agents get: in what way, by what became of it.
_SINCE_TAKEN: Final[dict[str, FileDifference]] = {
    "foreign": "not_taken_over",
    "held": "both_changed",
    "draft": "source_changed",
}
_GONE: Final = "is retired in the other registry, or no longer visible to this key, and published here"


@dataclass(frozen=True)
class Drift:
    """One bundle in which the source and the registry differ, and in what way."""

    capability_id: str
    path: str
    difference: FileDifference
    words: str


@dataclass(frozen=True, slots=True)
class _Here:
    """What agents can load of a capability; `digest` is None where they can load nothing."""

    digest: str | None = None
    is_deprecated: bool = False


def compare_with_source(source_id: int) -> list[Drift]:
    """Where the source, as it is now, and the registry differ, ordered by path; empty where they agree.

    Raises `NotFound`, `SourceUnreadable`.
    """
    source = get_source(source_id)
    known = {item.path: item for item in source.items.all()}
    present = list(read_source(source, known).bundles)
    here = _here({one.capability_id for one in present} | {item.capability_id for item in known.values()})
    found = [_entry(one, _between(one, known.get(one.path), here)) for one in present]
    names = {one.capability_id for one in present}
    gone = [item for item in known.values() if item.capability_id and item.capability_id not in names]
    found += [_gone(source, item, here) for item in gone]
    return _sorted(found)


def get_stored_drift(source: GitSource) -> list[Drift]:
    """As `drift`, as the last look has left it: in two queries, and without asking the source."""
    items = list(source.items.all())
    here = _here({item.capability_id for item in items})
    names = {item.capability_id for item in items if item.upstream_state != GitSourceItem.UpstreamState.GONE}
    found: list[Drift | None] = []
    for item in items:
        if item.upstream_state == GitSourceItem.UpstreamState.GONE:
            found.append(_gone(source, item, here) if item.capability_id not in names else None)
        else:
            found.append(_entry(item, _of_item(item, here.get(item.capability_id, _Here()))))
    return _sorted(found)


def _sorted(found: list[Drift | None]) -> list[Drift]:
    return sorted((one for one in found if one is not None), key=lambda entry: (entry.path, entry.capability_id))


def _here(capability_ids: set[str]) -> dict[str, _Here]:
    listed = Capability.objects.filter(status__in=LOADABLE_STATUSES)
    # All of them rather than a list of thousands, which SQLite does not take.
    named = listed if len(capability_ids) > 500 else listed.filter(capability_id__in=capability_ids)
    rows = named.values_list("capability_id", "published_revision__content_digest", "status")
    return {name: _Here(digest, status == "deprecated") for name, digest, status in rows}


def _entry(one: SourceBundleState | GitSourceItem, difference: FileDifference | None) -> Drift | None:
    return None if difference is None else Drift(one.capability_id, one.path, difference, DIFFERENCE_LABELS[difference])


def _gone(source: GitSource, item: GitSourceItem, here: dict[str, _Here]) -> Drift | None:
    if here.get(item.capability_id, _Here()).digest is None or not item.is_managed:
        return None
    words = _GONE if source.kind == GitSource.Kind.REGISTRY else DIFFERENCE_LABELS["gone_from_source"]
    return Drift(item.capability_id, item.path, "gone_from_source", words)


def _between(one: SourceBundleState, known: GitSourceItem | None, here: dict[str, _Here]) -> FileDifference | None:
    found = here.get(one.capability_id, _Here())
    if one.content_digest and found.digest == one.content_digest:
        return _status(one.upstream_state, found)
    if not one.content_digest:
        return "unread"
    if found.digest is None:
        return "not_published"
    if known is not None and known.status == GitSourceItem.Status.FOREIGN:
        return "not_taken_over"
    if known is not None and known.content_digest == one.content_digest:
        return _SINCE_TAKEN.get(known.status, "registry_changed")
    if known is not None and known.content_digest != found.digest:
        return "both_changed"
    return "source_changed"


def _of_item(item: GitSourceItem, found: _Here) -> FileDifference | None:
    """As `_between`, where what was read is what was imported."""
    status = item.status
    if status == GitSourceItem.Status.REFUSED:
        return "unread"
    if found.digest is None:
        return "not_published"
    if found.digest == item.content_digest:
        return _status(item.upstream_state, found)
    return _SINCE_TAKEN.get(status, "registry_changed")


def _status(upstream_state: str, found: _Here) -> FileDifference | None:
    return "deprecated_in_source" if upstream_state == "deprecated" and not found.is_deprecated else None
