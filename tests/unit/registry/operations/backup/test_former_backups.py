"""A backup that an earlier release made comes back with every row. `tests/release_backups.py` wrote each once."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from features.acceptances.models import Waiver
from registry.models import AuditEvent, HeldPassage
from registry.operations.backup.restore import restore_backup
from registry.operations.backup.tables import read_stored
from tests.factories import OLGA

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

RELEASES = Path(__file__).parent / "releases"


def _rows(path: Path, table: str) -> list[dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        member = f"tables/{table}.jsonl"
        return [json.loads(line) for line in archive.read(member).splitlines()] if member in archive.namelist() else []


@pytest.mark.parametrize("release", ["42eca922", "0.2.0", "69368c53"])
def test_what_people_accepted_comes_back(release: str) -> None:
    path = RELEASES / f"{release}.zip"
    done = restore_backup(path=path, by=OLGA)
    assert done.unrecorded == ()
    assert done.audit_broken_at is None
    waivers, held = _rows(path, "waiver"), _rows(path, "heldpassage")
    assert [row["id"] for row in waivers] == list(Waiver.objects.order_by("id").values_list("id", flat=True)) == [1, 2]
    assert len(held) == HeldPassage.objects.count() == (0 if release == "42eca922" else 3)
    for table, rows in (("waiver", waivers), ("heldpassage", held)):
        for row, now in zip(rows, read_stored(table), strict=True):
            assert {name: now[name] for name in row} == row
    # Each row of the log is what it was, with its hash; the restore is one more.
    log = _rows(path, "auditevent")
    stored = list(read_stored("auditevent"))
    assert stored[: len(log)] == log
    assert AuditEvent.objects.count() == len(log) + 1
