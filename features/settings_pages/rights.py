"""What admins have chosen of who reads and where conversations go, by the registry's state and by the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from registry.core.chosen_settings import PUBLIC_READ
from registry.operations.rights.recorded import Held, LoggedEvent, ReadTable, RecordedRights, RightsTable
from registry.usage.outcome_reports import KEEP

_TABLE: Final = "registrystate"
_COMPARED: Final = (PUBLIC_READ, KEEP, "MODEL_URL", "EMAIL_URL")


def _held(read: ReadTable) -> Iterator[Held]:
    for row in read(_TABLE):
        # States of before have no such column.
        chosen = row.get("chosen_settings") or {}
        yield from (((name,), {"value": chosen[name]}, str(row["id"])) for name in _COMPARED if name in chosen)


def _choose(log: RecordedRights, event: LoggedEvent) -> None:
    after = event.detail.get("after") or {}
    for name in _COMPARED:
        if name in after and after[name] is None:
            log.drop(_TABLE, (name,))
        elif name in after:
            log.set(_TABLE, (name,), event, value=after[name])


RIGHTS: Final = RightsTable(
    _TABLE, "setting '{0}'", _held, dict.fromkeys(("settings.model", "settings.data", "settings.mail"), _choose)
)
