"""Files that are kept by their digests: from an import to every door that gives them out, and who may name one."""

from __future__ import annotations

import hashlib
import random
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from capability_rules.bundles.archives import write_zip
from capability_rules.bundles.bundle_reader import read_bundle_zip
from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX
from capability_rules.discovery.bundle_discovery import discover_bundles
from capability_rules.errors import InvalidRequest
from registry.authoring.capability_creation import duplicate_capability
from registry.catalog import drafts, exporter
from registry.common.actors import Actor
from registry.common.errors import TooManyUploads
from registry.core import file_contents
from registry.models import Capability, Draft, FileChunk, FileContent, FileHold, Revision
from registry.operations.verification.verify import verify_database
from registry.publishing import proposals, publication
from registry.publishing.batch import import_all, publish_all
from tests.factories import OLGA, bundle
from tests.office_files import docx

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

LOAD, FILE, CONTENT = "capability_skill_load", "capability_file_load", "capability_file_content"
IVO = Actor("operator", "ivo")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
LARGE = random.Random(1).randbytes(753_000)
LETTER = docx("Dear Ms Alvarez, the order has shipped.")
PARTS = {"assets/logo.png": PNG, "assets/letter.docx": LETTER, "assets/large.bin": LARGE}


def _zip(files: dict[str, bytes] | None = None) -> bytes:
    texts = {name: text.encode() for name, text in bundle().items()}
    return write_zip({**texts, **(PARTS if files is None else files)})


def _publish(files: dict[str, bytes] | None = None, by: Any = OLGA) -> Any:
    (result,) = publish_all(read_bundle_zip(_zip(files), "alpha.zip"), by=by, acknowledge=["FILE_NOT_TEXT"])
    return result


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_every_byte_comes_back_from_each_door(api: Any, tmp_path: Path) -> None:
    assert _publish().status == "published"
    named = {row["path"]: row for row in api.ok(api.get(LOAD, {"capability_id": "alpha"}), "skill_load")["files"]}
    assert {path: (row["digest"], row["size"]) for path, row in named.items()} == {
        path: (_digest(content), len(content)) for path, content in PARTS.items()
    }
    assert named["assets/logo.png"]["type"] == "image/png"
    for path, content in PARTS.items():
        told = api.ok(api.get(FILE, {"capability_id": "alpha", "path": path}), "supporting_file")
        assert "text" not in told
        answer = Client().get(told["url"])
        assert b"".join(answer.streaming_content) == content  # type: ignore[attr-defined]
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Disposition"].startswith("attachment")
    capability = Capability.objects.get()
    for format_ in exporter.FORMATS:
        export = exporter.export_capability(capability, format_=format_)
        with export.open_zip() as file, zipfile.ZipFile(file) as archive:
            inside = {name.removeprefix("alpha/"): archive.read(name) for name in archive.namelist()}
        assert {path: inside[path] for path in PARTS} == PARTS
        exporter.write_export(export, tmp_path / format_)
        assert {path: (tmp_path / format_ / path).read_bytes() for path in PARTS} == PARTS


def test_what_was_exported_is_imported_as_the_same(tmp_path: Path) -> None:
    _publish()
    export = exporter.export_capability(Capability.objects.get(), format_="agent-skill")
    exporter.write_export(export, tmp_path / "alpha")
    (result,) = import_all(discover_bundles(str(tmp_path / "alpha")), by=OLGA, mode="publish")
    assert result.status == "unchanged"
    # A release without one takes it out of an export into the same folder, and no other picture.
    (tmp_path / "alpha/assets/own.png").write_bytes(PNG + b"own")
    _publish({"assets/logo.png": PNG})
    exporter.write_export(exporter.export_capability(Capability.objects.get()), tmp_path / "alpha")
    assert sorted(place.name for place in (tmp_path / "alpha/assets").iterdir()) == ["logo.png", "own.png"]


def test_equal_files_are_stored_once() -> None:
    _publish({"assets/a.png": PNG, "assets/b.png": PNG})
    _publish({"assets/c.png": PNG})
    assert FileContent.objects.count() == 1


@pytest.mark.parametrize(
    ("asked", "status", "expected"),
    [
        ("bytes=0-3", 206, PNG[:4]),
        ("bytes=5-", 206, PNG[5:]),
        ("bytes=-7", 206, PNG[-7:]),
        ("bytes=0-999999", 206, PNG),
        ("bytes=99999-", 200, PNG),
        ("bytes=5-2", 200, PNG),
        ("bytes=0-1,3-4", 200, PNG),
        ("bytes=-", 200, PNG),
        ("octets=0-1", 200, PNG),
        (f"bytes=0-1{',2-3' * 100_000}", 200, PNG),
    ],
)
def test_a_range_gives_a_part(asked: str, status: int, expected: bytes) -> None:
    _publish({"assets/logo.png": PNG})
    address = f"/api/v1/{CONTENT}?capability_id=alpha&path=assets/logo.png"
    answer = Client().get(address, headers={"Range": asked})
    got = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    assert (answer.status_code, got) == (status, expected)
    if status == 206:
        assert answer["Content-Length"] == str(len(expected))
    known = Client().get(address, headers={"If-None-Match": answer["ETag"]})
    assert known.status_code == 304
    changed = Client().get(address, headers={"Range": "bytes=0-3", "If-Range": '"other"'})
    assert changed.status_code == 200


def test_a_range_over_the_borders_of_parts() -> None:
    _publish({"assets/large.bin": LARGE})
    for start, end in ((0, 1), (262_143, 262_145), (262_144, 524_288), (100, len(LARGE)), (len(LARGE) - 1, len(LARGE))):
        assert b"".join(file_contents.read_range(_digest(LARGE), start, end)) == LARGE[start:end]


def test_a_digest_seen_elsewhere_leads_to_nothing() -> None:
    _publish({"assets/logo.png": PNG})
    pointer = Revision.objects.get().files["assets/logo.png"]
    texts = {name: text.replace("alpha", "beta") for name, text in bundle().items()}
    stolen = texts | {"assets/mine.png": pointer}
    with pytest.raises(InvalidRequest, match="does not have"):
        drafts.save_draft(capability_id="beta", files=stolen, based_on=None, by=IVO)
    with pytest.raises(InvalidRequest, match="does not have"):
        publication.publish(files=stolen, by=IVO)
    with pytest.raises(InvalidRequest, match="does not have"):
        proposals.propose(files=stolen, by=IVO)
    assert not Capability.objects.filter(capability_id="beta").exists()
    # Who brings the bytes may name them, and nobody else may by that.
    file_contents.store_content(PNG, IVO)
    drafts.save_draft(capability_id="beta", files=stolen, based_on=None, by=IVO)
    with pytest.raises(InvalidRequest, match="does not have"):
        drafts.save_draft(capability_id="gamma", files=stolen, based_on=None, by=Actor("operator", "mara"))


def test_a_pointer_that_was_changed_is_refused() -> None:
    _publish({"assets/letter.docx": LETTER})
    files = Revision.objects.get().files
    for old, new in (("shipped", "vanished"), (f"size: {len(LETTER)}", "size: 1"), ("text: all", "text: some")):
        changed = files | {"assets/letter.docx": files["assets/letter.docx"].replace(old, new)}
        assert changed != files
        with pytest.raises(InvalidRequest):
            drafts.save_draft(capability_id="alpha", files=changed, based_on=None, by=OLGA)
    begun = files | {"assets/x.md": files["assets/letter.docx"].split("\n")[0] + "\nand more"}
    with pytest.raises(InvalidRequest, match="first line"):
        drafts.save_draft(capability_id="alpha", files=begun, based_on=None, by=OLGA)


def test_a_draft_sends_only_what_changed() -> None:
    _publish()
    files = Revision.objects.get().files
    changed = files | {"skill.md": files["skill.md"] + "\nMore.\n"}
    saved = drafts.save_draft(capability_id="alpha", files=changed, based_on=None, by=IVO)
    assert saved.report.ok
    assert FileContent.objects.count() == 3


def test_a_capability_like_it_has_its_files() -> None:
    _publish()
    copy = duplicate_capability(capability_id="alpha", new_id="beta", name="Beta", by=IVO)
    assert copy.files["assets/logo.png"] == Revision.objects.get().files["assets/logo.png"]


def test_what_nothing_names_is_forgotten() -> None:
    import_all(read_bundle_zip(_zip(), "alpha.zip"), by=OLGA, mode="draft")
    file_contents.store_content(b"\0nobody names this", OLGA)
    FileHold.objects.update(at=timezone.now() - timedelta(days=40))
    file_contents.prune_contents(None)()  # type: ignore[arg-type]
    assert sorted(FileContent.objects.values_list("digest", flat=True)) == sorted(map(_digest, PARTS.values()))
    assert FileHold.objects.filter(capability__isnull=True).count() == 0
    Draft.objects.update(supporting_files={})
    FileHold.objects.update(at=timezone.now() - timedelta(days=40))
    file_contents.prune_contents(None)()  # type: ignore[arg-type]
    assert (FileContent.objects.count(), FileChunk.objects.count()) == (0, 0)


def test_who_brings_too_much_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "WAITING_BYTES_MAX", 2 * len(PNG))
    file_contents.store_content(PNG, OLGA)
    file_contents.store_content(PNG[::-1], OLGA)
    with pytest.raises(TooManyUploads):
        file_contents.store_content(PNG + b"1", OLGA)
    file_contents.store_content(PNG + b"1", IVO)


def test_missing_bytes_are_said_to_be_missing(api: Any) -> None:
    _publish({"assets/logo.png": PNG})
    FileContent.objects.all().delete()
    answer = api.get(CONTENT, {"capability_id": "alpha", "path": "assets/logo.png"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "SKILL_MALFORMED")


def test_one_that_is_too_large_is_named_and_the_rest_comes(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: alpha\ndescription: Weighs what there is to weigh\n---\n# Alpha\n")
    (tmp_path / "big.bin").write_bytes(b"\xff" * (CONTENT_BYTES_MAX + 1))
    (tmp_path / "logo.png").write_bytes(PNG)
    (result,) = import_all(discover_bundles(str(tmp_path)), by=OLGA, mode="draft")
    (left_out,) = [finding for finding in result.findings if finding.code == "IMPORT_FILE_LEFT_OUT"]
    assert "over 10 MiB" in left_out.message
    assert set(drafts.read_draft_files("alpha")) == {"capability.json", "skill.md", "logo.png"}


def test_a_disk_that_is_full_in_the_middle_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    create = FileChunk.objects.create

    def fill(**columns: Any) -> FileChunk:
        if columns["number"] == 1:
            raise OSError(28, "No space left on device")
        return create(**columns)

    monkeypatch.setattr(FileChunk.objects, "create", fill)
    with pytest.raises(OSError, match="No space"):
        file_contents.store_content(LARGE, OLGA)
    assert not FileContent.objects.exists()
    monkeypatch.undo()
    assert file_contents.store_content(LARGE, OLGA)


def test_changed_bytes_are_told_by_a_verification() -> None:
    _publish({"assets/large.bin": LARGE, "assets/logo.png": PNG})
    problems = {problem.code for problem in verify_database(()).problems}
    FileChunk.objects.filter(content__digest=_digest(LARGE), number=1).update(data=b"other")
    assert {problem.code for problem in verify_database(()).problems} - problems == {
        "CONTENT_CHANGED",
        "CONTENT_MISSING",
    }
