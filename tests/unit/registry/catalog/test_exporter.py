"""Exports: the same bytes each time, into archives and folders, and back."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from capability_rules.discovery.bundle_discovery import discover_bundles
from registry.catalog import exporter
from registry.catalog.drafts import save_draft
from registry.catalog.exporter import export_all, export_capability, unmanaged_folders, write_export
from registry.common.errors import StatusConflict
from registry.models import Capability
from registry.publishing import batch, publication
from tests.factories import OLGA, bundle, publish, tool

pytestmark = pytest.mark.django_db
RICH: dict[str, Any] = {"utterances": {"should_match": ["a b"]}, "license": "MIT"}


def _capability(capability_id: str = "alpha_two") -> Capability:
    return Capability.objects.select_related("published_revision").get(capability_id=capability_id)


@pytest.mark.parametrize("format_", exporter.FORMATS)
@pytest.mark.parametrize("ending", [".zip", ".tar.gz", ".tgz", ""])
def test_out_and_in_again(format_: exporter.Format, ending: str, tmp_path: Path) -> None:
    publish("alpha_two", [tool("alpha_list")], **RICH)
    targets = [tmp_path / f"{name}{ending}" for name in ("one", "two")]
    for target in targets:
        write_export(export_capability(_capability(), format_=format_), target)
    if ending:
        assert targets[0].read_bytes() == targets[1].read_bytes()
    (result,) = batch.import_all(discover_bundles(str(targets[0])), by=OLGA, mode="publish")
    assert result.status == "unchanged", result.findings


def test_skill_md_is_at_the_root_of_an_archive_and_has_no_time() -> None:
    publish("alpha_two")
    with zipfile.ZipFile(export_capability(_capability(), format_="agent-skill").open_zip()) as archive:
        infos = archive.infolist()
    assert [info.filename for info in infos] == ["SKILL.md", "references/capability.json"]
    assert {(info.date_time, info.external_attr >> 16, info.compress_type) for info in infos} == {
        ((1980, 1, 1, 0, 0, 0), 0o100644, zipfile.ZIP_STORED)
    }


def test_files_of_an_earlier_export_go_and_others_stay(tmp_path: Path) -> None:
    publish("alpha_two", [tool("alpha_list")])
    write_export(export_capability(_capability()), tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    publish("alpha_two", acknowledge=["POLICY_LOOSENED"])
    write_export(export_capability(_capability()), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["capability.json", "notes.txt", "skill.md"]


@pytest.mark.parametrize("format_", exporter.FORMATS)
def test_the_whole_registry_out_and_in_again(format_: exporter.Format, tmp_path: Path) -> None:
    publish("alpha_two", [tool("alpha_list")], **RICH)
    publish("beta", license="MIT")
    publish("gone")
    publication.retire(capability_id="gone", by=OLGA)
    for done in export_all(format_=format_):
        write_export(done, tmp_path / done.folder)
    folders = {path.name for path in tmp_path.iterdir()}
    assert folders == {"beta", "alpha_two" if format_ == "bundle" else "alpha-two"}
    results = batch.import_all(discover_bundles(str(tmp_path)), by=OLGA, mode="publish")
    assert [result.status for result in results] == ["unchanged", "unchanged"]
    assert unmanaged_folders(tmp_path, {"beta"}) == sorted(folders - {"beta"})


def test_a_draft_with_errors_is_no_agent_skill() -> None:
    save_draft(capability_id="alpha", files=bundle(description=None), based_on=None, by=OLGA)
    with pytest.raises(StatusConflict, match="--format bundle"):
        export_capability(_capability("alpha"), format_="agent-skill", draft=True)
    assert export_capability(_capability("alpha"), draft=True).files["skill.md"]
