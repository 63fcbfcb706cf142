"""Which connections are in force, by the table and by the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from registry.access.agent_keys import fingerprint_hash
from registry.operations.rights.recorded import Held, LoggedEvent, ReadTable, RecordedRights, RightsTable

_TABLE: Final = "connection"


def _held(read: ReadTable) -> Iterator[Held]:
    names = {row["id"]: str(row["username"]) for row in read("operator")}
    for row in read(_TABLE):
        columns = {"scopes": row["scopes"], "ended": row["ended_at"] is not None}
        yield (names.get(row["operator_id"], ""), fingerprint_hash(row["code_hash"])), columns, str(row["id"])


def _create(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_TABLE, _key(event), event, scopes=event.detail.get("scopes"), ended=False)


def _end(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_TABLE, _key(event), event, ended=True)


def _key(event: LoggedEvent) -> tuple[str, str]:
    return event.subject, str(event.detail.get("fingerprint"))


RIGHTS: Final = RightsTable(
    _TABLE, "connection of '{0}', {1}", _held, {"connection.create": _create, "connection.end": _end}
)
