"""A backup for a download is the command's file, audited before it leaves, and not left on this machine."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from registry.common.errors import BackupRefused
from registry.common.rate_limits import RateLimited
from registry.models import AuditEvent
from registry.operations.backup import download
from registry.operations.backup.archive import check_archive
from tests.factories import OLGA, publish

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_file_is_whole_and_gone_from_the_disk(temporary: Path) -> None:
    publish()
    name, file = download.open_backup(by=OLGA)
    assert list(temporary.iterdir()) == []
    with file:
        assert os.fstat(file.fileno()).st_mode & 0o777 == 0o600
        copy = temporary / name
        copy.write_bytes(file.read())
    rows = {table.name: table.rows for table in check_archive(copy).tables}
    assert rows["revision"] == 1
    event = AuditEvent.objects.get(verb="registry.backup")
    assert (event.actor_name, event.subject) == (OLGA.name, "registry")
    assert rows["auditevent"] == AuditEvent.objects.count()


def test_downloads_per_hour_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "DOWNLOADS_MAX", 2)
    for _ in range(2):
        download.open_backup(by=OLGA)[1].close()
    with pytest.raises(RateLimited) as refused:
        download.open_backup(by=OLGA)
    assert 3500 < refused.value.retry_after_seconds <= 3600
    assert AuditEvent.objects.filter(verb="registry.backup").count() == 2


@pytest.mark.both_databases
def test_a_full_disk_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(BackupRefused, match="cannot be written"):
        download.open_backup(by=OLGA)
