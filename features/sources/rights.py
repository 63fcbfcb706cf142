"""Which sources may publish, by the table and by the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from features.sources.models import GitSource
from registry.operations.rights.recorded import Held, LoggedEvent, ReadTable, RecordedRights, RightsTable

_TABLE: Final = "gitsource"
_SPEC_LENGTH_MAX: Final = 200


def _held(read: ReadTable) -> Iterator[Held]:
    for row in read(_TABLE):
        spec = GitSource(url=row["url"], ref=row["ref"], folder=row["folder"]).spec[:_SPEC_LENGTH_MAX]
        yield (str(row["id"]),), {"spec": spec, "mode": row["mode"], "may_adopt": row["may_adopt"]}, str(row["id"])


def _set(log: RecordedRights, event: LoggedEvent) -> None:
    columns = {name: event.detail[name] for name in ("mode", "may_adopt") if name in event.detail}
    log.set(_TABLE, (str(event.detail.get("source_id")),), event, spec=event.subject, **columns)


def _drop(log: RecordedRights, event: LoggedEvent) -> None:
    log.drop(_TABLE, (str(event.detail.get("source_id")),))


RIGHTS: Final = RightsTable(
    _TABLE, "source {0}", _held, {"git_source.add": _set, "git_source.change": _set, "git_source.remove": _drop}
)
