"""A backup of a registry with 52 capabilities, made by the last development version before 0.1.0, and its database.

tests/data/backup_before_0.1.0.zip has a row in every table; backup_before_0.1.0.json says what must be found again.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from registry.access.agent_keys import hash_key
from registry.common.errors import BackupUnreadable
from registry.core import audit
from registry.core.signing_keys import get_signing_keys
from registry.models import (
    AgentKey,
    Capability,
    Confidence,
    GitSource,
    Job,
    Operator,
    Review,
    Revision,
    WebhookDelivery,
)
from registry.operations.backup.restore import restore_backup
from registry.operations.backup.tables import backed_up_models
from registry.operations.verification.verify import sign_unsigned_revisions, verify_database
from registry.snapshot import current_snapshot
from tests.factories import OLGA

DATA = Path(__file__).parents[4] / "data"
OLD_FILE = DATA / "backup_before_0.1.0.zip"
EXPECTED = json.loads((DATA / "backup_before_0.1.0.json").read_text("utf-8"))

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_registry_of_before_0_1_0_is_restored_whole() -> None:
    done = restore_backup(path=OLD_FILE, by=OLGA)
    assert done.is_sound
    assert audit.find_chain_break() is None
    # Matches were not counted then, nothing was signed, scanned, held or waived, and there was the password alone.
    empty = {model.__name__ for model in backed_up_models() if not model._base_manager.exists()}
    later = {"Checkpoint", "MatchCount", "ScanResults", "HeldPassage", "Waiver", "Authenticator", "SocialAccount"}
    assert empty == later
    assert sign_unsigned_revisions(by=OLGA) == Revision.objects.count()
    assert verify_database(get_signing_keys().public).problems == ()
    published = Capability.objects.exclude(published_revision=None).select_related("published_revision")
    assert {row.capability_id: row.published_revision.digest for row in published} == EXPECTED["digests"]  # type: ignore[union-attr]
    key = AgentKey.objects.get()
    assert key.key_hash == hash_key(EXPECTED["agent_key"])
    assert EXPECTED["agent_key"].startswith(key.key_prefix)
    assert Operator.objects.get(username="vera").has_usable_password()
    assert Confidence.objects.get(capability__capability_id="capability_01", revision=0).percent > 50
    assert Review.objects.get().requested_by == "operator:olga"
    assert GitSource.objects.get().spec == "https://git.example/a"
    assert Job.objects.filter(concurrency_key__startswith="webhook").exists()
    assert WebhookDelivery.objects.filter(attempts=0).exists()
    # 52 capabilities, one retired, one unlisted, two drafts alone.
    assert len(current_snapshot().entries) >= 48


def _with_migrations(folder: Path, names: list[str]) -> Path:
    copy = folder / "copy.zip"
    with zipfile.ZipFile(OLD_FILE) as old, zipfile.ZipFile(copy, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member == "manifest.json":
                document: dict[str, Any] = json.loads(content)
                content = json.dumps(document | {"migrations": names}).encode()
            new.writestr(member, content)
    return copy


def test_an_older_development_version_is_to_be_brought_up_to_date_first(tmp_path: Path) -> None:
    path = _with_migrations(tmp_path, ["0001_initial", "0002_jobs"])
    with pytest.raises(BackupUnreadable, match=r"ends at migration 0002_jobs: expected 0027_draft_versions\. Bring"):
        restore_backup(path=path, by=OLGA)
    assert not Capability.objects.exists()


def test_a_newer_version_than_this_one_is_told_apart(tmp_path: Path) -> None:
    path = _with_migrations(tmp_path, ["0001_initial", "0002_of_tomorrow"])
    with pytest.raises(BackupUnreadable, match=r"newer version \(migration 0002_of_tomorrow\)"):
        restore_backup(path=path, by=OLGA)


def test_a_database_of_before_0_1_0_is_left_alone() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("registry", "0027_draft_versions")
    try:
        with pytest.raises(
            CommandError, match=r"before 0\.1\.0 created this database.*backup create FILE.*operate\.md"
        ):
            call_command("prepare")
    finally:
        recorder.record_unapplied("registry", "0027_draft_versions")
    assert not Operator.objects.exists()


def test_the_file_itself_is_not_changed(tmp_path: Path) -> None:
    copy = tmp_path / "copy.zip"
    shutil.copy(OLD_FILE, copy)
    before = copy.read_bytes()
    restore_backup(path=copy, by=OLGA)
    assert copy.read_bytes() == before
