"""Where releases are pushed to, by the table and by the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from registry.operations.rights.recorded import Held, LoggedEvent, ReadTable, RecordedRights, RightsTable

_TABLE: Final = "gitmirror"


def _held(read: ReadTable) -> Iterator[Held]:
    for row in read(_TABLE):
        columns = {"form": row["form"], "set_id": row["set_id"], "started": row["started_at"] is not None}
        yield (str(row["id"]),), {"address": f"{row['url']}@{row['branch']}"[:200], **columns}, str(row["id"])


def _number(event: LoggedEvent) -> tuple[str]:
    return (str(event.detail.get("mirror_id")),)


def _add(log: RecordedRights, event: LoggedEvent) -> None:
    columns = {name: event.detail[name] for name in ("form", "set_id") if name in event.detail}
    log.set(_TABLE, _number(event), event, address=event.subject, started=False, **columns)


def _start(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_TABLE, _number(event), event, started=True)


def _drop(log: RecordedRights, event: LoggedEvent) -> None:
    log.drop(_TABLE, _number(event))


RIGHTS: Final = RightsTable(
    _TABLE,
    "git mirror {0}",
    _held,
    {"git_mirror.add": _add, "git_mirror.start": _start, "git_mirror.remove": _drop},
)
