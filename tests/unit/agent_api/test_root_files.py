"""Texts beside SKILL.md in none of the three folders, from every door that takes them to every door that gives them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from capability_rules.bundles.archives import write_tar_gz, write_zip
from capability_rules.bundles.bundle_reader import SourceBundle, read_bundle, read_bundle_zip
from capability_rules.discovery.bundle_discovery import discover_bundles, discover_in_files
from capability_rules.errors import InvalidRequest
from capability_rules.validation import validate_bundle
from features.sharing import share_links
from registry.authoring.capability_creation import duplicate_capability
from registry.catalog import drafts, exporter
from registry.common.actors import Actor
from registry.importing.bundle_import import import_all_or_none, import_files
from registry.models import Capability, Draft, Revision
from registry.publishing import publication, reviews
from registry.publishing.batch import import_all, publish_all
from tests.factories import OLGA, agent_key, bearer, bundle, damage, zip_of

pytestmark = pytest.mark.django_db

PAUL = Actor("operator", "paul")
LOAD, FILE = "capability_skill_load", "capability_file_load"
SKILL = "---\nname: alpha\ndescription: Weighs things.\n---\n\n# Alpha\n\nSee forms.md.\n"
KEPT = {"LICENSE.txt": "MIT\n", "forms.md": "# Größe\n", "references/units.md": "# Units\n", "templates/deep/a b.md": "A\n"}  # fmt: skip # noqa: E501
OUTSIDE = ["LICENSE.txt", "forms.md", "templates/deep/a b.md"]
SOURCE = {"SKILL.md": SKILL, **KEPT}
BUNDLE = bundle(metadata={"supporting_files": "\n".join(OUTSIDE)}) | KEPT
RAW = {name: text.encode() for name, text in SOURCE.items()}


def _write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8", newline="\n")
    return root


def _load(api: Any, **query: Any) -> Any:
    return api.ok(api.get(LOAD, {"capability_id": "alpha", **query}), "skill_load")


def _file(api: Any, path: str, **query: Any) -> Any:
    return api.get(FILE, {"capability_id": "alpha", "path": path, **query})


def _publish(files: dict[str, str] = BUNDLE) -> publication.PublishResult:
    return publication.publish(files=files, by=OLGA)


# In


def _folder(tmp_path: Path) -> list[SourceBundle]:
    return discover_bundles(str(_write(tmp_path / "alpha", SOURCE)))


def _tree(tmp_path: Path) -> list[SourceBundle]:
    return discover_bundles(str(_write(tmp_path / "tree/deep/alpha", SOURCE).parent.parent))


def _zip(tmp_path: Path) -> list[SourceBundle]:
    (tmp_path / "a.zip").write_bytes(write_zip(RAW))
    return discover_bundles(str(tmp_path / "a.zip"))


def _tar(tmp_path: Path) -> list[SourceBundle]:
    (tmp_path / "a.tar.gz").write_bytes(write_tar_gz({f"alpha/{name}": raw for name, raw in RAW.items()}))
    return discover_bundles(str(tmp_path / "a.tar.gz"))


def _browser(_: Path) -> list[SourceBundle]:
    return import_files([(f"alpha/{name}", raw) for name, raw in RAW.items()], "alpha")


@pytest.mark.parametrize("door", [_folder, _tree, _zip, _tar, _browser])
def test_an_import_keeps_them(door: Callable[[Path], list[SourceBundle]], api: Any, tmp_path: Path) -> None:
    (result,) = import_all(door(tmp_path), by=OLGA, mode="publish")
    assert (result.status, _codes(result)) == ("published", [])
    answer = _load(api)
    assert [row["path"] for row in answer["files"]] == [*KEPT]
    assert answer["capability"]["metadata"] == {"supporting_files": "\n".join(OUTSIDE)}
    for path, text in KEPT.items():
        assert api.ok(_file(api, path), "supporting_file")["text"] == text


def test_the_operators_door_and_the_agents_take_them(api: Any) -> None:
    headers = {"Authorization": f"Bearer {agent_key('publish', name='pipeline')}"}
    body = {"bundles": [{"path": "a", "files": SOURCE}], "publish": True}
    (row,) = api.ok(api.post("operator/bundle_import", body, headers=headers), "bundle_results")["results"]
    assert row["status"] == "published"
    assert [one["path"] for one in _load(api)["files"]] == [*KEPT]
    body = {"bundles": [{"path": "a", "files": BUNDLE}]}
    assert api.ok(api.post("operator/bundle_publish", body, headers=headers), "bundle_results")["results"][0]["revision"] == 2  # fmt: skip # noqa: E501
    got = b"".join(api.get("operator/bundle_export", {"capability_id": "alpha"}, headers=headers).streaming_content)
    again = api.post("operator/bundle_publish", got, content_type="application/zip", headers=headers)
    (row,) = api.ok(again, "bundle_results")["results"]
    assert row["status"] == "unchanged"
    headers = {"Authorization": f"Bearer {agent_key('propose', name='proposer')}"}
    proposed = api.post("capability_propose", {"files": {**BUNDLE, "forms.md": "New.\n"}}, headers=headers)
    assert proposed.status_code == 201, proposed.content
    assert Draft.objects.get().supporting_files == {**KEPT, "forms.md": "New.\n"}
    refused = api.post("capability_propose", {"files": {**BUNDLE, "other.md": "x"}}, headers=headers)
    assert refused.status_code == 400
    assert "metadata.supporting_files" in refused.json()["error"]["message"]


def test_a_mark_leads_nowhere_outside_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("hush")
    names = ["../secret.md", str(tmp_path / "secret.md"), "link.md"]
    files = bundle(metadata={"supporting_files": "\n".join(names[:2])})
    folder = _write(tmp_path / "alpha", files)
    for read in (read_bundle, discover_bundles):
        (found,) = read(str(folder))
        assert "hush" not in str([*found.files.values()])
        assert [one.code for one in validate_bundle(found.files).errors] == ["FILE_PATH_INVALID"] * 2
    _write(folder, bundle(metadata={"supporting_files": "link.md"}))
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    for read in (read_bundle, discover_bundles):
        (found,) = read(str(folder))
        assert "hush" not in str([*found.files.values()])
        assert "link that leads out" in found.odd["link.md"]


def test_folders_and_zips_of_bundles_bring_them(tmp_path: Path) -> None:
    for name in ("alpha", "beta"):
        mark = {"supporting_files": "\n".join(OUTSIDE)}
        _write(tmp_path / "two" / name, bundle(name, metadata=mark) | KEPT | {"notes.txt": "x", "docs/more.md": "x"})
    content = {
        place.relative_to(tmp_path / "two").as_posix(): place.read_bytes()
        for place in (tmp_path / "two").rglob("*")
        if place.is_file()
    }
    (tmp_path / "two.zip").write_bytes(zip_of(content))
    for read in (read_bundle, discover_bundles):
        for place in ("two", "two.zip"):
            found = read(str(tmp_path / place))
            assert len(found) == 2
            for one in found:
                assert {name: one.files[name] for name in KEPT} == {name: RAW[name] for name in KEPT}
                assert [row.file for row in validate_bundle(one.files).findings] == ["notes.txt"]


def test_a_zip_without_a_folder_brings_them_and_a_references_folder_is_no_bundle() -> None:
    (found,) = read_bundle_zip(zip_of(BUNDLE), "a.zip")
    assert validate_bundle(found.files).bundle == validate_bundle(BUNDLE).bundle
    (result,) = publish_all([found], by=OLGA)
    assert (result.status, _codes(result)) == ("published", [])
    with pytest.raises(Exception, match="no bundle in this zip"):
        read_bundle_zip(zip_of({"references/capability.json": "{}", "SKILL.md": SKILL}), "a.zip")


def test_the_readme_of_a_folder_of_four_files_is_not_theirs(tmp_path: Path) -> None:
    folder = _write(tmp_path / "alpha", bundle() | {"README.md": "x", "tool.json": "[]", "docs/a.md": "x"})
    for read in (read_bundle, discover_bundles):
        (found,) = read(str(folder))
        assert (found.files["README.md"], "docs/a.md" in found.files) == ("", False)
        assert [(one.code, one.file) for one in validate_bundle(found.files).findings] == [
            ("FILE_UNKNOWN", "README.md"), ("FILE_UNKNOWN", "tool.json"),
        ]  # fmt: skip


# Out


@pytest.mark.parametrize("format_", exporter.FORMATS)
@pytest.mark.parametrize("ending", [".zip", ".tar.gz", ""])
def test_out_and_in_again_is_the_same(format_: Any, ending: str, tmp_path: Path) -> None:
    _publish()
    targets = [tmp_path / f"{name}/alpha{ending}" for name in ("one", "two")]
    for target in targets:
        target.parent.mkdir()
        exporter.write_export(exporter.export_capability(Capability.objects.get(), format_=format_), target)
    if ending:
        assert targets[0].read_bytes() == targets[1].read_bytes()
    (result,) = import_all(discover_bundles(str(targets[0])), by=OLGA, mode="publish")
    assert (result.status, _codes(result)) == ("unchanged", [])


@pytest.mark.parametrize("format_", exporter.FORMATS)
def test_the_whole_registry_as_a_folder_and_back(format_: Any, tmp_path: Path) -> None:
    import_all([SourceBundle("a", SOURCE), SourceBundle("b", BUNDLE | bundle("beta", metadata={"supporting_files": "\n".join(OUTSIDE)}))], by=OLGA, mode="publish")  # fmt: skip # noqa: E501
    for done in exporter.export_all(format_=format_):
        exporter.write_export(done, tmp_path / done.folder)
    results = import_all(discover_bundles(str(tmp_path)), by=OLGA, mode="publish")
    assert [(one.status, _codes(one)) for one in results] == [("unchanged", [])] * 2


@pytest.mark.parametrize("format_", exporter.FORMATS)
def test_what_an_earlier_release_named_goes_from_a_folder_and_others_stay(format_: Any, tmp_path: Path) -> None:
    import_all([SourceBundle("a", SOURCE)], by=OLGA, mode="publish")
    exporter.write_export(exporter.export_capability(Capability.objects.get(), format_=format_), tmp_path)
    assert (tmp_path / "forms.md").exists()
    _write(tmp_path, {"notes.md": "mine", "templates/mine.md": "mine"})
    fewer = {name: text for name, text in SOURCE.items() if name not in ("forms.md", "templates/deep/a b.md")}
    import_all([SourceBundle("a", fewer)], by=OLGA, mode="publish")
    exporter.write_export(exporter.export_capability(Capability.objects.get(), format_=format_), tmp_path)
    found = {place.relative_to(tmp_path).as_posix() for place in tmp_path.rglob("*") if place.is_file()}
    assert {"LICENSE.txt", "references/units.md", "notes.md", "templates/mine.md"} <= found
    assert not {"forms.md", "templates/deep/a b.md"} & found


def test_other_doors_serve_the_same_bytes(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True
    import_all([SourceBundle("a", {**SOURCE, "zip": "No archive.\n"})], by=OLGA, mode="publish")
    base = share_links.create_link(name="partner", by=OLGA)[1].removeprefix("http://127.0.0.1:8000")
    for root in ("", base):
        (row,) = Client().get(f"{root}/.well-known/agent-skills/index.json").json()["skills"]
        got = Client().get(f"{root}/.well-known/agent-skills/{row['url']}").content
        with zipfile.ZipFile(io.BytesIO(got)) as archive:
            assert archive.namelist() == ["SKILL.md", "LICENSE.txt", "forms.md", "references/units.md",
                                          "templates/deep/a b.md", "zip"]  # fmt: skip
            assert archive.read("forms.md").decode() == KEPT["forms.md"]
        for path, text in {**KEPT, "zip": "No archive.\n"}.items():
            got = Client().get(f"{root}/clawhub/api/v1/skills/alpha/file", {"path": path}).content
            assert got.decode() == text
        hidden = Client().get(f"{root}/clawhub/api/v1/skills/alpha/file", {"path": "capability.json"})
        assert hidden.status_code == 404


def _mcp(method: str, **params: Any) -> Any:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Client().post("/mcp", json.dumps(body), content_type="application/json", headers=headers).json()["result"]


def test_mcp_lists_and_reads_them(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True
    _publish()
    uris = {row["uri"] for row in _mcp("resources/list")["resources"]}
    assert {f"skill://alpha/{path}" for path in KEPT} < uris
    for path, text in KEPT.items():
        assert _mcp("resources/read", uri=f"skill://alpha/{path}")["contents"][0]["text"] == text
    below = _mcp("resources/directory/read", uri="skill://alpha/templates")["resources"]
    assert [row["uri"] for row in below] == ["skill://alpha/templates/deep"]


# A release and its draft


def test_a_release_is_told_from_another_by_them_and_says_what_became_of_them(api: Any) -> None:
    _publish()
    fewer = {name: text for name, text in BUNDLE.items() if name != "forms.md"}
    changed = _publish(fewer | {"LICENSE.txt": "BSD\n"})
    assert changed.gate is not None
    assert [change.words for change in changed.gate.changes if "file" in change.words] == [
        "The file `forms.md` is gone", "The file `LICENSE.txt` changed",
    ]  # fmt: skip
    assert [one.code for one in changed.findings if one.code == "FILE_NAMED_MISSING"] == ["FILE_NAMED_MISSING"]
    assert _file(api, "forms.md").status_code == 404
    assert _file(api, "forms.md", revision=1).json()["text"] == KEPT["forms.md"]
    assert _load(api)["digest"] == _load(api, revision=1)["digest"]


def test_a_damaged_one_is_malformed(api: Any) -> None:
    _publish()
    damage(Revision.objects.get(), supporting_files={**KEPT, "forms.md": "Something else"})
    assert _file(api, "forms.md").json()["error"]["code"] == "SKILL_MALFORMED"


def test_a_key_that_previews_reads_those_of_the_draft() -> None:
    drafts.save_draft(capability_id="alpha", files=BUNDLE, based_on=None, by=OLGA)
    address = f"/api/v1/{FILE}?capability_id=alpha&path=forms.md"
    assert Client().get(address, headers=bearer("read", preview=True)).json()["text"] == KEPT["forms.md"]


def _edited(*names: str) -> dict[str, str]:
    return bundle(metadata={"supporting_files": "\n".join(names)}, description="Edited.")


def test_a_line_that_goes_from_the_mark_costs_no_text() -> None:
    """Somebody mistypes a name, saves, and corrects it: the draft has the text all the time."""
    _publish()
    alpha = Capability.objects.get()
    saved: dict[str, str] = {}
    for number, four in enumerate([_edited("LICENSE.txt", "fomrs.md"), {"capability.json": "{", "skill.md": "x"}]):
        done = drafts.save_draft(
            capability_id="alpha", files=four, based_on=number or None, by=OLGA, preserve_supporting_files_of=alpha
        )
        saved = Draft.objects.get().files
        assert {name: saved[name] for name in KEPT} == KEPT
        told = [one.file for one in done.report.findings if one.code == "FILE_UNKNOWN"]
        assert told == (["forms.md", "templates/deep/a b.md"] if number == 0 else [])
    # What was read through the operator API can be saved again, and nothing that the draft has not.
    again = drafts.save_draft(capability_id="alpha", files=saved, based_on=2, by=OLGA)
    with pytest.raises(InvalidRequest, match=r"no file 'new\.md'"):
        drafts.save_draft(capability_id="alpha", files={**saved, "new.md": "x"}, based_on=3, by=OLGA)
    corrected = drafts.save_draft(
        capability_id="alpha",
        files=_edited(*OUTSIDE),
        based_on=again.version,
        by=OLGA,
        preserve_supporting_files_of=alpha,
    )
    assert corrected.report.findings == ()
    assert corrected.report.bundle is not None
    assert corrected.report.bundle.supporting_files == KEPT


def test_a_copy_has_what_is_named() -> None:
    _publish()
    drafts.save_draft(
        capability_id="alpha", files=_edited("forms.md"), based_on=None, by=OLGA,
        preserve_supporting_files_of=Capability.objects.get(),
    )  # fmt: skip
    copied = duplicate_capability(capability_id="alpha", new_id="beta", name="Beta", by=OLGA)
    assert sorted(copied.files) == ["capability.json", "forms.md", "references/units.md", "skill.md"]
    assert not [one for one in copied.report.findings if one.file != "capability.json"]


def test_what_nobody_names_is_neither_approved_nor_published(api: Any) -> None:
    _publish()
    four = _edited("forms.md")
    drafts.save_draft(
        capability_id="alpha", files=four, based_on=None, by=OLGA, preserve_supporting_files_of=Capability.objects.get()
    )
    review = reviews.request_review(capability_id="alpha", draft_version=1, by=OLGA, note="Please look")
    assert reviews.is_current(review)
    assert sorted(review.supporting_files) == ["forms.md", "references/units.md"]
    reviews.approve(review_id=review.pk, round_seen=1, by=PAUL)
    outcome = publication.publish_draft(capability_id="alpha", draft_version=1, by=OLGA)
    assert outcome.status == "published", outcome.findings
    assert [row["path"] for row in _load(api)["files"]] == ["forms.md", "references/units.md"]


def test_drafts_of_an_import_have_them() -> None:
    assert import_all_or_none(import_files([*RAW.items()], "x"), by=OLGA).is_stored
    assert drafts.get_draft("alpha").supporting_files == KEPT
    (source,) = discover_in_files(
        {n: t.encode() for n, t in exporter.export_capability(Capability.objects.get(), draft=True).files.items()}, "x"
    )
    assert validate_bundle(source.files).bundle == validate_bundle(drafts.get_draft("alpha").files).bundle


def _codes(result: Any) -> list[str]:
    """Of its findings; the skill has no trigger, which is not the point here."""
    return [one.code for one in result.findings if one.code != "TRIGGERS_MISSING"]
