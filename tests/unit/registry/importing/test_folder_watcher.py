"""A folder that is watched: each save becomes the draft (SPEC B: hot reload of a skills folder)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from capability_rules.errors import SourceUnreadable
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.importing.folder_watcher import FolderWatcher, WatchedSave
from registry.models import Capability, Draft
from tests.factories import OLGA, bundle

pytestmark = pytest.mark.django_db
AUTHOR = Actor("command_line", "anna")


def _save(folder: Path, name: str = "alpha", body: str = "First.") -> None:
    (folder / name).mkdir(exist_ok=True)
    for file, text in bundle(name, body=body).items():
        place = folder / name / file
        place.write_text(text)
        # Two saves within one tick of the file system's clock still differ.
        os.utime(place, ns=(hash((body, file)) % 10**15, hash((body, file)) % 10**15))


def _settled(watch: FolderWatcher) -> list[WatchedSave]:
    """Files must have stood still for one look."""
    assert watch.look() == []
    return watch.look()


def _draft(name: str = "alpha") -> Draft:
    return Draft.objects.get(capability__capability_id=name, discarded_at__isnull=True)


@pytest.fixture
def watch(tmp_path: Path) -> FolderWatcher:
    _save(tmp_path)
    return FolderWatcher(tmp_path, AUTHOR)


def test_the_first_look_takes_everything_in(watch: FolderWatcher) -> None:
    (saved,) = watch.look()
    assert (saved.result.capability_id, saved.result.status, saved.discarded_by) == ("alpha", "draft", "")
    assert "First." in _draft().files["skill.md"]
    assert _draft().saved_by == str(AUTHOR)


def test_a_save_becomes_the_draft_and_leaves_nothing_behind(watch: FolderWatcher, tmp_path: Path) -> None:
    watch.look()
    for body in ("Second.", "Third."):
        _save(tmp_path, body=body)
        (saved,) = _settled(watch)
        assert saved.result.status == "draft"
        assert body in _draft().files["skill.md"]
    assert Draft.objects.count() == 1
    assert watch.look() == []


def test_only_what_was_saved_is_taken(watch: FolderWatcher, tmp_path: Path) -> None:
    _save(tmp_path, "beta")
    assert len(watch.look()) == 2
    _save(tmp_path, "beta", "Other.")
    assert [saved.result.capability_id for saved in _settled(watch)] == ["beta"]


def test_a_touched_file_is_no_save(watch: FolderWatcher, tmp_path: Path) -> None:
    watch.look()
    os.utime(tmp_path / "alpha" / "skill.md", ns=(5, 5))
    version = _draft().version
    assert _settled(watch) == []
    assert _draft().version == version


def test_files_that_are_still_being_written_wait(watch: FolderWatcher, tmp_path: Path) -> None:
    watch.look()
    _save(tmp_path, body="Half")
    assert watch.look() == []
    _save(tmp_path, body="Half and half.")
    assert watch.look() == []
    (saved,) = watch.look()
    assert "Half and half." in saved.result.files["skill.md"]


def test_a_draft_that_somebody_else_saved_is_put_away_and_said(watch: FolderWatcher, tmp_path: Path) -> None:
    watch.look()
    version = _draft().version
    drafts.save_draft(capability_id="alpha", files=bundle("alpha", body="Olga."), based_on=version, by=OLGA)
    _save(tmp_path, body="Anna.")
    (saved,) = _settled(watch)
    assert saved.discarded_by == str(OLGA)
    assert "Anna." in _draft().files["skill.md"]
    assert "Olga." in Draft.objects.get(discarded_at__isnull=False).files["skill.md"]


def test_faults_are_told_and_the_draft_is_kept(watch: FolderWatcher, tmp_path: Path) -> None:
    watch.look()
    (tmp_path / "alpha" / "tools.json").write_text("[")
    (saved,) = _settled(watch)
    assert saved.result.status == "draft"
    assert [finding.code for finding in saved.result.findings] == ["JSON_INVALID"]


def test_what_cannot_be_read_is_said_once(watch: FolderWatcher, tmp_path: Path) -> None:
    watch.look()
    for place in (tmp_path / "alpha").iterdir():
        place.unlink()
    assert watch.look() == []
    with pytest.raises(SourceUnreadable):
        watch.look()
    assert watch.look() == []
    _save(tmp_path, body="Back.")
    assert _settled(watch)[0].result.status == "draft"


def test_a_bundle_that_no_draft_can_hold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "capability.json").write_text("{}")
    (saved,) = FolderWatcher(tmp_path, AUTHOR).look()
    assert saved.result.status == "refused"
    assert not Capability.objects.exists()
