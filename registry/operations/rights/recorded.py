"""Who may do what by the audit log: its rows replayed in order, one entry for each row that a table should have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final

from django.utils.module_loading import import_string

from registry.feature import installed_features
from registry.publishing.release_rules import RULE_COLUMNS

Row = Mapping[str, Any]
Key = tuple[str, ...]
ReadTable = Callable[[str], Iterable[Row]]
# `(key, columns, number of the row)`: what is compared of a row.
Held = tuple[Key, dict[str, Any], str]
# The teams in these columns are names, which may change.
_WITH_TEAM: Final = ("agentkey", "capability", "skillgroup")


@dataclass(slots=True)
class RecordedEntry:
    """What the log says of one row: the columns that it knows, and the id of the audit row that said it last."""

    audit_id: int
    columns: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class RecordedRights:
    """`{table: {key: entry}}`; what keys and columns are is in registry/operations/rights/comparison.py."""

    tables: dict[str, dict[Key, RecordedEntry]] = field(default_factory=dict)

    def apply(self, row: Row) -> None:
        """Take a row of the audit log in; one that is not about rights, or has another form, changes nothing."""
        read = _readers().get(str(row["verb"]))
        if read is not None:
            detail = row["detail"] if isinstance(row["detail"], dict) else {}
            read(self, LoggedEvent(int(row["id"]), str(row["subject"]), detail))

    def of(self, table: str) -> dict[Key, RecordedEntry]:
        """The entries of a table."""
        return self.tables.setdefault(table, {})

    def set(self, table: str, key: Key, event: LoggedEvent, **columns: Any) -> None:
        """Set columns of an entry, which is made where there is none."""
        entry = self.of(table).setdefault(key, RecordedEntry(event.audit_id))
        entry.audit_id = event.audit_id
        entry.columns |= columns

    def drop(self, table: str, key: Key) -> None:
        """The row should be gone."""
        self.of(table).pop(key, None)


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """A row of the audit log, as far as rights need it."""

    audit_id: int
    subject: str
    detail: dict[str, Any]


ReadEvent = Callable[[RecordedRights, LoggedEvent], None]


@dataclass(frozen=True, slots=True)
class RightsTable:
    """A table of a feature that says who may do what: `words` name a row, with the parts of its key, `held` has what is
    compared of each row, `verbs` what the audit log says of them."""

    name: str
    words: str
    held: Callable[[ReadTable], Iterable[Held]]
    verbs: Mapping[str, ReadEvent]


@cache
def list_feature_tables() -> tuple[RightsTable, ...]:
    """The tables of rights of the installed features."""
    return tuple(import_string(path) for feature in installed_features() for path in feature.rights)


@cache
def _readers() -> dict[str, ReadEvent]:
    return _VERBS | {verb: read for table in list_feature_tables() for verb, read in table.verbs.items()}


def _set_role(log: RecordedRights, event: LoggedEvent) -> None:
    is_admin = event.detail.get("role") == "admin"
    flags = {"is_superuser": is_admin, "is_staff": is_admin}
    log.set("operator", (event.subject,), event, role=event.detail.get("role"), **flags)


def _create_operator(log: RecordedRights, event: LoggedEvent) -> None:
    _set_role(log, event)
    log.set("operator", (event.subject,), event, is_active=True)


def _set_active(*, is_active: bool) -> Callable[[RecordedRights, LoggedEvent], None]:
    return lambda log, event: log.set("operator", (event.subject,), event, is_active=is_active)


def _link_identity(log: RecordedRights, event: LoggedEvent) -> None:
    key = (event.subject, str(event.detail.get("provider")), str(event.detail.get("subject")))
    log.set("socialaccount", key, event)


def _count_factor(log: RecordedRights, event: LoggedEvent, factor: Key, more: int) -> None:
    key = (event.subject, *factor)
    entry = log.of("authenticator").get(key)
    count = (entry.columns["count"] if entry else 0) + more
    if count > 0:
        log.set("authenticator", key, event, count=count)
    else:
        log.drop("authenticator", key)


def _add_factor(more: int, kind: str) -> Callable[[RecordedRights, LoggedEvent], None]:
    def read(log: RecordedRights, event: LoggedEvent) -> None:
        name = (str(event.detail.get("name")),) if kind == "webauthn" else ()
        _count_factor(log, event, (kind, *name), more)

    return read


def _rename_passkey(log: RecordedRights, event: LoggedEvent) -> None:
    _count_factor(log, event, ("webauthn", str(event.detail.get("was"))), -1)
    _count_factor(log, event, ("webauthn", str(event.detail.get("name"))), 1)


def _reset_factors(log: RecordedRights, event: LoggedEvent) -> None:
    for key in [key for key in log.of("authenticator") if key[0] == event.subject]:
        log.drop("authenticator", key)


def _set_key(log: RecordedRights, event: LoggedEvent) -> None:
    """What is not in the detail is not set."""
    detail = event.detail
    columns = {name: detail.get(name) for name in ("scopes", "groups", "team", "capabilities")}
    columns["expires_at"] = as_moment(detail.get("expires_at"))
    flags = {name: bool(detail.get(name)) for name in ("read_only_tools", "preview")}
    log.set("agentkey", (event.subject,), event, **columns, **flags)
    if "fingerprint" in detail:
        log.set("agentkey", (event.subject,), event, fingerprint=detail["fingerprint"])


def _create_key(log: RecordedRights, event: LoggedEvent) -> None:
    _set_key(log, event)
    log.set("agentkey", (event.subject,), event, revoked=False, previous="")


def _rotate_key(log: RecordedRights, event: LoggedEvent) -> None:
    """Rows from before fingerprints were recorded say nothing of the secrets."""
    entry = log.of("agentkey").setdefault((event.subject,), RecordedEntry(event.audit_id))
    entry.audit_id = event.audit_id
    old, new = entry.columns.pop("fingerprint", None), event.detail.get("fingerprint")
    entry.columns.pop("previous", None)
    if not event.detail.get("old_key_until"):
        entry.columns["previous"] = ""
    elif old:
        entry.columns["previous"] = old
    if new:
        entry.columns["fingerprint"] = new


def _create_team(log: RecordedRights, event: LoggedEvent) -> None:
    log.set("team", (event.subject,), event)


def _change_team(log: RecordedRights, event: LoggedEvent) -> None:
    was, name = event.detail.get("was"), event.subject
    if not was:
        return
    log.drop("team", (was,))
    log.set("team", (name,), event)
    members = log.of("teammember")
    for key in [key for key in members if key[0] == was]:
        members[name, key[1]] = members.pop(key)
    for table in _WITH_TEAM:
        for entry in log.of(table).values():
            if entry.columns.get("team") == was:
                entry.columns["team"] = name


def _delete_team(log: RecordedRights, event: LoggedEvent) -> None:
    log.drop("team", (event.subject,))
    for key in [key for key in log.of("teammember") if key[0] == event.subject]:
        log.drop("teammember", key)


def _add_member(log: RecordedRights, event: LoggedEvent) -> None:
    log.set("teammember", (event.subject, str(event.detail.get("operator"))), event)


def _remove_member(log: RecordedRights, event: LoggedEvent) -> None:
    log.drop("teammember", (event.subject, str(event.detail.get("operator"))))


def _set_owner(log: RecordedRights, event: LoggedEvent) -> None:
    log.set("capability", (event.subject,), event, team=event.detail.get("team"))


def _set_group(log: RecordedRights, event: LoggedEvent) -> None:
    after = event.detail.get("after")
    said = after if isinstance(after, dict) else event.detail
    if "team" in said:
        log.set("skillgroup", (event.subject,), event, team=said["team"])


def _group_of(event: LoggedEvent) -> Key:
    """`registry` is the name of the registry's own rule, and may be that of a group."""
    group = "" if event.subject == "registry" else event.subject
    return (str(event.detail.get("group_id", group)),)


def _set_rule(log: RecordedRights, event: LoggedEvent) -> None:
    columns = {name: event.detail[name] for name in RULE_COLUMNS if name in event.detail}
    log.set("releaserule", _group_of(event), event, **columns)


_VERBS: Final[dict[str, ReadEvent]] = {
    "operator.create": _create_operator,
    "operator.set_role": _set_role,
    "operator.disable": _set_active(is_active=False),
    "operator.enable": _set_active(is_active=True),
    "operator.link_identity": _link_identity,
    "operator.enable_totp": _add_factor(1, "totp"),
    "operator.disable_totp": _add_factor(-1, "totp"),
    "operator.add_passkey": _add_factor(1, "webauthn"),
    "operator.remove_passkey": _add_factor(-1, "webauthn"),
    "operator.rename_passkey": _rename_passkey,
    "operator.reset_second_factor": _reset_factors,
    "agent_key.create": _create_key,
    "agent_key.change": _set_key,
    "agent_key.rotate": _rotate_key,
    "agent_key.revoke": lambda log, event: log.set("agentkey", (event.subject,), event, revoked=True),
    "team.create": _create_team,
    "team.change": _change_team,
    "team.delete": _delete_team,
    "team.add_member": _add_member,
    "team.remove_member": _remove_member,
    "capability.set_owner": _set_owner,
    "skill_group.set": _set_group,
    "skill_group.remove": lambda log, event: log.drop("skillgroup", (event.subject,)),
    "release_rule.set": _set_rule,
    "release_rule.drop": lambda log, event: log.drop("releaserule", _group_of(event)),
}


def as_moment(text: object) -> datetime | None:
    """A moment of a row or of a detail, to the second; None for none."""
    return datetime.fromisoformat(str(text)).replace(microsecond=0) if text else None
