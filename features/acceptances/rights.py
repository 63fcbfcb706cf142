"""Which waivers and decisions there are, by the tables and by the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from registry.operations.rights.recorded import Held, LoggedEvent, ReadTable, RecordedRights, RightsTable

_TABLE: Final = "waiver"
# Both are rows of one table, by their kind.
_ROWS: Final = "acceptance"
_COLUMNS: Final = ("capability_id", "code", "severity", "file", "fingerprint", "until")


def _held(read: ReadTable) -> Iterator[Held]:
    for row in read(_ROWS):
        if row["kind"] == "waiver":
            columns = {name: row[name] for name in _COLUMNS} | {"ended": row["ended_at"] is not None}
            yield (str(row["id"]),), columns, str(row["id"])


def _key(event: LoggedEvent) -> tuple[str]:
    return (str(event.detail.get("waiver_id")),)


def _create(log: RecordedRights, event: LoggedEvent) -> None:
    columns = {name: event.detail[name] for name in _COLUMNS if name in event.detail}
    log.set(_TABLE, _key(event), event, capability_id=event.subject, ended=False, **columns)


def _end(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_TABLE, _key(event), event, ended=True)


def _decided(read: ReadTable) -> Iterator[Held]:
    """Those that hold: what waits, or was ended, lets nothing pass."""
    for row in read(_ROWS):
        if row["kind"] == "held_passage" and row["accepted_at"] is not None and row["ended_at"] is None:
            yield (row["capability_id"], row["fingerprint"]), {}, str(row["id"])


def _accept(log: RecordedRights, event: LoggedEvent) -> None:
    passages = event.detail.get("passages")
    for passage in passages if isinstance(passages, list) else ():
        log.set("heldpassage", (event.subject, str(passage.get("fingerprint"))), event)


def _end_decisions(log: RecordedRights, event: LoggedEvent) -> None:
    for key in [key for key in log.of("heldpassage") if key[0] == event.subject]:
        log.drop("heldpassage", key)


WAIVERS: Final = RightsTable(_TABLE, "waiver {0}", _held, {"waiver.create": _create, "waiver.end": _end})
DECISIONS: Final = RightsTable(
    "heldpassage",
    "decision about passage '{1}' of '{0}'",
    _decided,
    {"passage.accept": _accept, "capability.quarantine": _end_decisions},
)
