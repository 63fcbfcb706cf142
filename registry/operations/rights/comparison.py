"""The tables that say who may do what, against what the audit log says of each row.

Somebody who can write to the database gives themselves a role, a scope or a waiver without a row in the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from registry.access.agent_keys import fingerprint_hash
from registry.operations.rights.recorded import (
    Held,
    Key,
    ReadTable,
    RecordedEntry,
    RecordedRights,
    Row,
    as_moment,
    list_feature_tables,
)
from registry.publishing.release_rules import RULE_COLUMNS

# A row of these is made by something else; without an entry it belongs to no team.
_OWNED: Final = ("capability", "skillgroup")


@dataclass(frozen=True, slots=True)
class RightsDifference:
    """`what` names it in a few words, such as `role 'admin' of operator 'eve'`; `message` says it in a sentence."""

    code: str
    table: str
    row: str
    what: str
    message: str


@dataclass(frozen=True, slots=True)
class _Names:
    """Names by the keys of rows."""

    operators: dict[int, str]
    teams: dict[int, str]

    def team(self, row: Row) -> str | None:
        """The name of the team that a row is of."""
        number = row.get("team_id")
        return None if number is None else self.teams.get(number, f"team {number}")


def compare_rights(read: ReadTable, recorded: RecordedRights) -> Iterator[RightsDifference]:
    """Each row that no audit row accounts for, that is another than the log says, or that should be there."""
    names = _Names(
        operators={row["id"]: str(row["username"]) for row in read("operator")},
        teams={row["id"]: str(row["name"]) for row in read("team")},
    )
    for table, hold in _TABLES.items():
        yield from _compare(table, hold(read, names), recorded.of(table))
    for of_feature in list_feature_tables():
        yield from _compare(of_feature.name, of_feature.held(read), recorded.of(of_feature.name))


def find_unrecorded(read: ReadTable) -> tuple[str, ...]:
    """What differs, in a few words each, by the audit log of the same tables."""
    recorded = RecordedRights()
    for row in read("auditevent"):
        recorded.apply(row)
    return tuple(one.what for one in compare_rights(read, recorded))


def _compare(table: str, held: Iterable[Held], recorded: dict[Key, RecordedEntry]) -> Iterator[RightsDifference]:
    seen = set()
    for key, columns, number in held:
        seen.add(key)
        entry = recorded.get(key)
        if entry is not None:
            yield from _differences(table, key, columns, number, entry)
        elif table not in _OWNED:
            what = _name(table, key) + (f" ({columns['role']})" if "role" in columns else "")
            words = f"{what} (row {number}) is in no row of the audit log"
            yield RightsDifference("RIGHTS_NOT_RECORDED", table, number, what, words)
        elif columns["team"] is not None:
            what = f"team {_shown(columns['team'])} of {_name(table, key)}"
            words = f"{what} (row {number}) is in no row of the audit log"
            yield RightsDifference("RIGHTS_NOT_RECORDED", table, number, what, words)
    for key, entry in recorded.items():
        if key not in seen and table not in _OWNED:
            what = f"{_name(table, key)}, which is missing"
            words = f"{_name(table, key)} is missing: audit row {entry.audit_id} says that it is there"
            yield RightsDifference("RIGHTS_MISSING", table, ", ".join(key), what, words)


def _differences(
    table: str, key: Key, columns: dict[str, Any], number: str, entry: RecordedEntry
) -> Iterator[RightsDifference]:
    # What has been revoked gives nothing any more, whatever it was.
    names = ["revoked"] if entry.columns.get("revoked") else sorted(entry.columns)
    for name in names:
        if name in columns and columns[name] != entry.columns[name]:
            what = f"{name} {_shown(columns[name])} of {_name(table, key)}"
            said = f"audit row {entry.audit_id} says {_shown(entry.columns[name])}"
            words = f"{_name(table, key)} (row {number}) has the {name} {_shown(columns[name])}, and {said}"
            yield RightsDifference("RIGHTS_NOT_AS_RECORDED", table, number, what, words)


def _shown(value: Any) -> str:
    return f"'{', '.join(map(str, value)) if isinstance(value, list) else value}'"[:200]


def _name(table: str, key: Key) -> str:
    words = _WORDS | {of_feature.name: of_feature.words for of_feature in list_feature_tables()}
    return words[table].format(*key)[:300]


_WORDS: Final = {
    "operator": "operator '{0}'",
    "socialaccount": "identity '{2}' of operator '{0}'",
    "authenticator": "second factor '{1}' of operator '{0}'",
    "agentkey": "agent key '{0}'",
    "team": "team '{0}'",
    "teammember": "member '{1}' of team '{0}'",
    "capability": "capability '{0}'",
    "skillgroup": "skill group '{0}'",
    "releaserule": "release rule '{0}'",
}


def _operators(read: ReadTable, _names: _Names) -> Iterator[Held]:
    for row in read("operator"):
        columns = {name: row[name] for name in ("role", "is_active", "is_superuser", "is_staff")}
        yield (row["username"],), columns, str(row["id"])


def _identities(read: ReadTable, names: _Names) -> Iterator[Held]:
    for row in read("socialaccount"):
        key = (names.operators.get(row["user_id"], ""), str(row["provider"]), str(row["uid"])[:200])
        yield key, {}, str(row["id"])


def _second_factors(read: ReadTable, names: _Names) -> Iterator[Held]:
    """Several passkeys of one name are counted: nothing else tells them apart in the log."""
    numbers: dict[Key, str] = {}
    counts: Counter[Key] = Counter()
    for row in read("authenticator"):
        data = row["data"] if isinstance(row["data"], dict) else {}
        name = (str(data.get("name")),) if row["type"] == "webauthn" else ()
        if row["type"] in ("totp", "webauthn"):
            key = (names.operators.get(row["user_id"], ""), str(row["type"]), *name)
            counts[key] += 1
            numbers[key] = str(row["id"])
    return ((key, {"count": count}, numbers[key]) for key, count in counts.items())


def _agent_keys(read: ReadTable, names: _Names) -> Iterator[Held]:
    for row in read("agentkey"):
        columns = {name: row[name] for name in ("scopes", "groups", "read_only_tools", "preview")}
        columns |= {"team": names.team(row), "capabilities": row.get("capability_ids")}
        columns |= {"expires_at": as_moment(row["expires_at"]), "revoked": row["revoked_at"] is not None}
        columns["fingerprint"] = fingerprint_hash(row["key_hash"])
        if row["previous_key_hash"]:
            columns["previous"] = fingerprint_hash(row["previous_key_hash"])
        yield (row["name"],), columns, str(row["id"])


def _teams(read: ReadTable, _names: _Names) -> Iterator[Held]:
    for row in read("team"):
        yield (row["name"],), {}, str(row["id"])


def _members(read: ReadTable, names: _Names) -> Iterator[Held]:
    for row in read("teammember"):
        key = (names.teams.get(row["team_id"], ""), names.operators.get(row["operator_id"], ""))
        yield key, {}, str(row["id"])


def _owned(table: str, column: str) -> Callable[[ReadTable, _Names], Iterator[Held]]:
    def hold(read: ReadTable, names: _Names) -> Iterator[Held]:
        for row in read(table):
            yield (row[column],), {"team": names.team(row)}, str(row["id"])

    return hold


def _rules(read: ReadTable, _names: _Names) -> Iterator[Held]:
    for row in read("releaserule"):
        yield (row["group_id"],), {name: row[name] for name in RULE_COLUMNS}, str(row["id"])


_TABLES: Final[dict[str, Callable[[ReadTable, _Names], Iterable[Held]]]] = {
    "operator": _operators,
    "socialaccount": _identities,
    "authenticator": _second_factors,
    "agentkey": _agent_keys,
    "team": _teams,
    "teammember": _members,
    "capability": _owned("capability", "capability_id"),
    "skillgroup": _owned("skillgroup", "group_id"),
    "releaserule": _rules,
}
