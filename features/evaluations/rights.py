"""What publishing asks of evaluations, by the table and by the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from features.evaluations.rules import COLUMNS
from registry.operations.rights.recorded import Held, LoggedEvent, ReadTable, RecordedRights, RightsTable

_TABLE: Final = "evaluationrule"


def _held(read: ReadTable) -> Iterator[Held]:
    for row in read(_TABLE):
        yield (str(row["group_id"]),), {column: row[column] for column in COLUMNS}, str(row["id"])


def _set(log: RecordedRights, event: LoggedEvent) -> None:
    columns = {name: event.detail[name] for name in COLUMNS if name in event.detail}
    log.set(_TABLE, (str(event.detail.get("group_id")),), event, **columns)


def _drop(log: RecordedRights, event: LoggedEvent) -> None:
    log.drop(_TABLE, (str(event.detail.get("group_id")),))


RIGHTS: Final = RightsTable(
    _TABLE, "evaluation rule '{0}'", _held, {"evaluation_rule.set": _set, "evaluation_rule.drop": _drop}
)
