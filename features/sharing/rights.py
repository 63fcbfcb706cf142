"""Who sees what by a code or a link, by the tables and by the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from registry.access.agent_keys import fingerprint_hash
from registry.operations.rights.recorded import Held, LoggedEvent, ReadTable, RecordedRights, RightsTable

_REDEMPTIONS: Final = "installcoderedemption"
_LINKS: Final = "sharelink"


def _redemptions(read: ReadTable) -> Iterator[Held]:
    capabilities = {row["id"]: str(row["capability_id"]) for row in read("capability")}
    keys = {row["id"]: str(row["name"]) for row in read("agentkey")}
    for row in read(_REDEMPTIONS):
        yield (capabilities.get(row["capability_id"], ""), keys.get(row["key_id"], "")), {}, str(row["id"])


def _share_links(read: ReadTable) -> Iterator[Held]:
    for row in read(_LINKS):
        columns = {"skill_group": row["skill_group"], "set_id": row["set_id"], "ends": row["expires_at"] is not None}
        columns |= {"revoked": row["revoked_at"] is not None, "fingerprint": fingerprint_hash(row["token_hash"])}
        yield (row["name"],), columns, str(row["id"])


def _redeem(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_REDEMPTIONS, (event.subject, str(event.detail.get("key"))), event)


def _create(log: RecordedRights, event: LoggedEvent) -> None:
    detail = event.detail
    columns = {"skill_group": detail.get("group") or "", "ends": detail.get("days") is not None, "revoked": False}
    columns["set_id"] = detail.get("set") or ""
    known = {"fingerprint": detail["fingerprint"]} if "fingerprint" in detail else {}
    log.set(_LINKS, (event.subject,), event, **columns, **known)


def _revoke(log: RecordedRights, event: LoggedEvent) -> None:
    log.set(_LINKS, (event.subject,), event, revoked=True)


REDEMPTIONS: Final = RightsTable(
    _REDEMPTIONS, "redemption of '{0}' by agent key '{1}'", _redemptions, {"install_code.redeem": _redeem}
)
LINKS: Final = RightsTable(
    _LINKS, "share link '{0}'", _share_links, {"share_link.create": _create, "share_link.revoke": _revoke}
)
