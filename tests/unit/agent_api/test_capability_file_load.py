"""`capability_file_load`: the texts beside a bundle, one by one, from their import to every door that serves them."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from capability_rules.discovery.bundle_discovery import discover_bundles, discover_in_files
from capability_rules.validation import validate_bundle
from registry.authoring.three_way_merge import merge_draft
from registry.catalog import drafts, exporter
from registry.models import Capability, Draft, Revision
from registry.publishing import publication
from registry.publishing.batch import import_all
from registry.publishing.revision_diff import compare_revisions
from tests.factories import OLGA, agent_key, bearer, bundle, damage

pytestmark = pytest.mark.django_db

LOAD, FILE, LIST = "capability_skill_load", "capability_file_load", "capability_registry_list"
UNITS = "# Units\n\nOne stone is 6.35 kg.\n"
KEPT = {"references/units.md": UNITS, "scripts/sum.py": "print(1 + 1)\n"}


def _publish(files: dict[str, str]) -> Any:
    return publication.publish(files=files, by=OLGA)


def _load(api: Any, **query: Any) -> Any:
    return api.ok(api.get(LOAD, {"capability_id": "alpha", **query}), "skill_load")


def _file(api: Any, path: str = "references/units.md", **query: Any) -> Any:
    return api.get(FILE, {"capability_id": "alpha", "path": path, **query})


def test_a_load_names_them_and_each_is_given(api: Any) -> None:
    _publish(bundle() | KEPT)
    named = _load(api)["files"]
    assert [row["path"] for row in named] == [*KEPT]
    for row in named:
        document = api.ok(_file(api, row["path"]), "supporting_file")
        assert {key: document[key] for key in row} == row
        content = document["text"].encode()
        assert (document["text"], row["size"]) == (KEPT[row["path"]], len(content))
        assert row["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert (document["capability_id"], document["revision"]) == ("alpha", 1)


def test_a_bundle_without_any_answers_as_ever(api: Any) -> None:
    _publish(bundle())
    assert "files" not in _load(api)


def test_a_poll_costs_a_304_and_an_old_release_is_pinned(api: Any) -> None:
    _publish(bundle() | KEPT)
    first = _file(api)
    assert api.get(FILE, {"capability_id": "alpha", "path": "references/units.md"},
                   headers={"If-None-Match": first.headers["ETag"]}).status_code == 304  # fmt: skip
    outcome = _publish(bundle() | {"references/units.md": "# Units\n\nNew.\n"})
    assert (outcome.status, outcome.revision) == ("published", 2)
    assert _file(api).json()["text"] == "# Units\n\nNew.\n"
    assert _file(api, revision=1).json()["text"] == UNITS
    assert _file(api, "scripts/sum.py", revision=1).status_code == 200
    assert _file(api, "scripts/sum.py").status_code == 404


def test_one_that_is_not_there_says_what_is(api: Any) -> None:
    _publish(bundle() | KEPT)
    for path in ("references/other.md", "skill.md", "../x", "references/"):
        error = _file(api, path).json()["error"]
        assert (error["code"], error["available_files"]) == ("FILE_NOT_FOUND", [*KEPT])
    unknown = api.get(FILE, {"capability_id": "beta", "path": "references/units.md"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "CAPABILITY_NOT_FOUND")
    for odd in ({"path": ""}, {"path": "x" * 201}, {}):
        response = api.get(FILE, {"capability_id": "alpha", **odd})
        assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_REQUEST")


def test_a_retired_one_gives_nothing_and_a_stranger_neither(api: Any, settings: Any) -> None:
    _publish(bundle() | KEPT)
    settings.AGENT_API_PUBLIC_READ = False
    address = f"/api/v1/{FILE}?capability_id=alpha&path=references/units.md"
    assert Client().get(address).status_code == 401
    assert Client().get(address, headers=bearer("read")).status_code == 200
    publication.retire(capability_id="alpha", by=OLGA)
    assert Client().get(address, headers=bearer("read")).status_code == 404


def test_a_damaged_one_is_malformed(api: Any) -> None:
    _publish(bundle() | KEPT)
    damage(Revision.objects.get(), supporting_files={"references/units.md": "Something else"})
    assert _file(api).json()["error"]["code"] == "SKILL_MALFORMED"
    assert api.get(LOAD, {"capability_id": "alpha"}).status_code == 422


def test_a_key_that_previews_reads_those_of_the_draft(api: Any) -> None:
    _publish(bundle() | KEPT)
    drafts.save_draft(capability_id="alpha", files=bundle() | {"references/new.md": "x"}, based_on=None, by=OLGA)
    headers = bearer("read", preview=True)
    address = f"/api/v1/{FILE}?capability_id=alpha&path="
    assert Client().get(f"{address}references/new.md", headers=headers).json()["text"] == "x"
    assert Client().get(f"{address}references/new.md", headers=bearer("read")).status_code == 404


def test_whoever_edits_the_four_keeps_them() -> None:
    _publish(bundle() | KEPT)
    alpha = Capability.objects.get()
    saved = drafts.save_draft(
        capability_id="alpha", files=bundle(body="New."), based_on=None, by=OLGA, preserve_supporting_files_of=alpha
    )
    assert {name: saved.files[name] for name in KEPT} == KEPT
    merged = merge_draft(
        capability_id="alpha", mine=bundle(body="Mine."), base=bundle(), choices={}, based_on=saved.version, by=OLGA
    )
    assert Draft.objects.get(version=merged.version).supporting_files == KEPT
    plain = drafts.save_draft(capability_id="alpha", files=bundle(), based_on=merged.version, by=OLGA)
    assert Draft.objects.get(version=plain.version).supporting_files == {}


def test_a_release_shows_what_became_of_them() -> None:
    _publish(bundle() | KEPT)
    preview = publication.publish(files=bundle() | {"references/units.md": "x"}, by=OLGA)
    assert preview.gate is not None
    words = [change.words for change in preview.gate.changes]
    assert words == ["The file `scripts/sum.py` is gone", "The file `references/units.md` changed"]
    assert [diff.file for diff in preview.gate.diffs] == ["references/units.md", "scripts/sum.py"]
    comparison = compare_revisions(Capability.objects.get(), old=1, new=2)
    assert [diff.file for diff in comparison.diffs] == ["references/units.md", "scripts/sum.py"]
    assert publication.publish(files=bundle() | {"references/units.md": "x"}, by=OLGA).status == "unchanged"


SKILL = "---\nname: alpha\ndescription: Weighs things.\n---\n\n# Alpha\n\nSee references/units.md.\n"


def test_an_agent_skill_brings_its_texts_along(api: Any, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "SKILL.md": SKILL, "references/units.md": UNITS, "scripts/sum.py": "print(1)\n", "assets/logo.png": b"\x89PNG",
        "LICENSE.txt": "MIT", "references/tools.json": "{}",
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / "alpha" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "alpha" / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (result,) = import_all(discover_bundles(str(tmp_path / "alpha")), by=OLGA, mode="publish")
    assert result.status == "published"
    (finding,) = [one for one in result.findings if one.code == "IMPORT_FILE_LEFT_OUT"]
    named = "references/tools.json (an export puts a file of its own there)"
    assert finding.message.endswith(f": {named}")
    paths = ["LICENSE.txt", "assets/logo.png", "references/units.md", "scripts/sum.py"]
    assert [row["path"] for row in _load(api)["files"]] == paths
    assert _file(api).json()["text"] == UNITS


@pytest.mark.parametrize("format_", ["bundle", "agent-skill"])
def test_out_and_in_again_is_the_same(tmp_path: Path, format_: Any) -> None:
    _publish(bundle() | KEPT)
    before = Revision.objects.get()
    export = exporter.export_capability(Capability.objects.get(), format_=format_)
    with export.open_zip() as file, zipfile.ZipFile(file) as archive:
        prefix = "alpha/" if format_ == "bundle" else ""
        assert archive.read(f"{prefix}references/units.md").decode() == UNITS
        content = {name: archive.read(name) for name in archive.namelist()}
    (source,) = discover_in_files(content, "alpha.zip")
    (result,) = import_all([source], by=OLGA, mode="draft")
    assert result.status in ("draft", "unchanged"), result
    draft = Draft.objects.get(discarded_at__isnull=True)
    assert draft.supporting_files == KEPT
    again = validate_bundle(draft.files).bundle
    assert again is not None
    assert (again.digest, again.content_digest) == (before.digest, before.content_digest)
    # A folder: what an earlier export left and is no more goes, a picture of somebody else's stays.
    target = tmp_path / "out"
    (target / "references").mkdir(parents=True)
    (target / "references/old.md").write_text("old")
    (target / "references/picture.png").write_bytes(b"\x89PNG\xff")
    exporter.write_export(export, target)
    assert (target / "references/units.md").read_text() == UNITS
    assert not (target / "references/old.md").exists()
    assert (target / "references/picture.png").exists()


def test_a_folder_and_a_zip_of_bundles_bring_them_too(tmp_path: Path) -> None:
    from capability_rules.bundles.bundle_reader import read_bundle

    content = {f"{name}/{file}": text for name in ("alpha", "beta") for file, text in (bundle(name) | KEPT).items()}
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
            (tmp_path / "two" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "two" / name).write_text(text)
    for place in ("two.zip", "two"):
        for read in (read_bundle, discover_bundles):
            found = read(str(tmp_path / place))
            assert len(found) == 2
            assert {name: found[0].files[name] for name in KEPT} == {name: text.encode() for name, text in KEPT.items()}


def test_other_doors_serve_the_same_bytes(api: Any, settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True
    _publish(bundle() | KEPT)
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "resources/read",
        "params": {"uri": "skill://alpha/references/units.md"},
    }
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    response = Client().post("/mcp", json.dumps(body), content_type="application/json", headers=headers)
    assert response.json()["result"]["contents"][0]["text"] == UNITS, response.content
    index = Client().get("/.well-known/agent-skills/index.json").json()
    (row,) = index["skills"]
    with zipfile.ZipFile(io.BytesIO(Client().get(f"/.well-known/agent-skills/{row['url']}").content)) as archive:
        assert archive.read("references/units.md").decode() == UNITS


def test_proposals_and_the_operators_door_take_them(api: Any) -> None:
    headers = {"Authorization": f"Bearer {agent_key('propose', name='proposer')}"}
    body = json.dumps({"files": bundle() | KEPT})
    response = Client().post("/api/v1/capability_propose", body, content_type="application/json", headers=headers)
    assert response.status_code == 201, response.content
    assert Draft.objects.get().supporting_files == KEPT
    headers = {"Authorization": f"Bearer {agent_key('publish', name='pipeline')}"}
    draft = Client().get("/api/v1/operator/draft_get?capability_id=alpha", headers=headers).json()
    assert {name: draft["files"][name] for name in KEPT} == KEPT
    saved = {"capability_id": "alpha", "files": {**bundle(), "notes.txt": "x"}, "based_on": draft["draft_version"]}
    response = Client().post(
        "/api/v1/operator/draft_save", json.dumps(saved), content_type="application/json", headers=headers
    )
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_REQUEST")
