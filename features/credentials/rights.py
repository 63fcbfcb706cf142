"""Which credentials there are, by the table and by the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from registry.operations.rights.recorded import Held, LoggedEvent, ReadTable, RecordedRights, RightsTable

_TABLE: Final = "credential"


def _held(read: ReadTable) -> Iterator[Held]:
    for row in read(_TABLE):
        columns = {"hosts": row["hosts"], "username": row["username"], "ended": row["ended_at"] is not None}
        # Tables of before have no such column.
        columns["open"] = row.get("is_open", False)
        yield (row["name"],), columns, str(row["id"])


def _create(log: RecordedRights, event: LoggedEvent) -> None:
    columns = {name: event.detail[name] for name in ("hosts", "username") if name in event.detail}
    log.set(_TABLE, (event.subject,), event, ended=False, open=False, **columns)


def _end(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_TABLE, (event.subject,), event, ended=True)


def _open(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_TABLE, (event.subject,), event, open=True)


def _close(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_TABLE, (event.subject,), event, open=False)


RIGHTS: Final = RightsTable(
    _TABLE,
    "credential '{0}'",
    _held,
    {"credential.create": _create, "credential.end": _end, "credential.open": _open, "credential.close": _close},
)
