"""A backup that an earlier release made comes back with every row. `tests/release_backups.py` wrote each once."""

from __future__ import annotations

import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from features.acceptances import held_passages, waiver_store
from features.acceptances.models import Acceptance
from registry.common.actors import Actor
from registry.models import AuditEvent
from registry.operations.backup.restore import restore_backup
from registry.operations.backup.tables import read_stored
from tests.factories import OLGA

pytestmark = pytest.mark.django_db(transaction=True)

RELEASES = Path(__file__).parent / "releases"
SAME = ("file", "line", "fingerprint", "reason", "ended_at")


def _rows(path: Path, table: str) -> list[dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        member = f"tables/{table}.jsonl"
        return [json.loads(line) for line in archive.read(member).splitlines()] if member in archive.namelist() else []


def _of_waiver(row: dict[str, Any], names: dict[int, str]) -> dict[str, Any]:
    same = {name: row[name] for name in (*SAME, "id", "code", "severity", "message", "until", "ended_by")}
    return same | {
        "kind": "waiver",
        "capability_id": names[row["capability_id"]],
        "accepted_at": row["created_at"],
        "accepted_by": row["created_by"],
    }


def _of_passage(row: dict[str, Any]) -> dict[str, Any]:
    columns = ("capability_id", "passage", "submitted_by", "seen_at", "accepted_at", "accepted_by", "is_alone")
    return {name: row[name] for name in (*SAME, *columns)} | {"kind": "held_passage", "message": row["doubt"]}


@pytest.mark.parametrize("release", ["42eca922", "0.2.0", "69368c53", "0.3.0"])
def test_what_people_accepted_comes_back(release: str) -> None:
    path = RELEASES / f"{release}.zip"
    done = restore_backup(path=path, by=OLGA)
    assert done.unrecorded == ()
    assert done.audit_broken_at is None
    names = {row["id"]: row["capability_id"] for row in _rows(path, "capability")}
    expected = [_of_waiver(row, names) for row in _rows(path, "waiver")]
    assert [row["id"] for row in expected] == [1, 2]
    expected += [_of_passage(row) for row in _rows(path, "heldpassage")]
    assert len(expected) == (2 if release == "42eca922" else 5)
    for row, stored in zip(expected, read_stored("acceptance"), strict=True):
        assert {name: stored[name] for name in row} == row
    # Each row of the log is what it was, with its hash; the restore is one more.
    log = _rows(path, "auditevent")
    assert list(read_stored("auditevent"))[: len(log)] == log
    assert AuditEvent.objects.count() == len(log) + 1


@pytest.mark.both_databases
@pytest.mark.parametrize("release", ["42eca922", "69368c53", "0.3.0"])
def test_it_goes_on_with_numbers_of_its_own(release: str) -> None:
    """A waiver, and a decision, made after the restore."""
    restore_backup(path=RELEASES / f"{release}.zip", by=OLGA)
    taken = set(Acceptance.objects.values_list("pk", flat=True))
    by = Actor("command_line", "root")
    given: dict[str, Any] = {"code": "SCAN_RESULT", "place": "capability.json", "reason": "Known"}
    until = timezone.now().date() + timedelta(days=9)
    waiver = waiver_store.create_waiver(capability_id="climate", by=by, until=until, **given)
    assert waiver.pk not in taken
    if release != "42eca922":
        (row,) = held_passages.accept_passages(capability_id="alpha", by=by, reason="It is our policy")
        assert row.pk in taken
        assert (row.kind, row.state, row.until) == ("held_passage", "in_force", None)
