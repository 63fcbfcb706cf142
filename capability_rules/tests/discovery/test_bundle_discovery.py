"""Bundles and Agent Skills are found at any depth, and what belongs to a skill is not a bundle of its own."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.archives import write_tar_gz, write_zip
from capability_rules.bundles.supporting_files import COUNT_MAX
from capability_rules.discovery import bundle_discovery, source_files
from capability_rules.discovery.bundle_discovery import (
    discover_bundles,
    discover_in_archive,
    discover_in_files,
    with_id,
)
from capability_rules.discovery.source_files import SourceFiles
from capability_rules.errors import InvalidRequest, SourceUnreadable
from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle, tool

SKILL = "---\nname: x\ndescription: y\n---\nText.\n"


def _write(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return str(root)


def _found(source: str) -> dict[str, list[str]]:
    return {found.path.removeprefix(source): sorted(found.files) for found in discover_bundles(source)}


TREE = {
    "skills/deep/down/x/SKILL.md": SKILL,
    "skills/deep/down/x/references/api.md": "x",
    "skills/deep/down/x/inner/skill.md": SKILL,
    "skills/b/capability.json": "{}",
    "skills/b/skill.md": "# B",
    "skills/b/notes.txt": "x",
    "README.md": "x",
    ".git/SKILL.md": SKILL,
    "node_modules/y/SKILL.md": SKILL,
}
FOUND = {
    "/skills/b": ["capability.json", "notes.txt", "skill.md"],
    "/skills/deep/down/x": ["SKILL.md", "references/api.md"],
    "/skills/deep/down/x/inner": ["skill.md"],
}


def test_a_tree(tmp_path: Path) -> None:
    assert _found(_write(tmp_path, TREE)) == FOUND
    folders = [found.folder for found in discover_bundles(str(tmp_path))]
    assert folders == ["b", "x", "inner"]


@pytest.mark.parametrize("write", [write_zip, write_tar_gz])
def test_a_tree_in_an_archive(write: object, tmp_path: Path) -> None:
    archive = tmp_path / "a.bin"
    assert callable(write)
    archive.write_bytes(write({name: text.encode() for name, text in TREE.items()}))
    assert _found(str(archive)) == FOUND


def test_one_skill_in_an_archive_has_the_path_of_the_archive(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(write_zip({"top/x/SKILL.md": SKILL.encode()}))
    (found,) = discover_bundles(str(archive))
    assert (found.path, found.folder) == (str(archive), "x")


def test_a_folder_and_a_bare_file(tmp_path: Path) -> None:
    path = _write(tmp_path / "x", {"SKILL.md": SKILL})
    (found,) = discover_bundles(path)
    assert (found.path, found.folder, found.files) == (path, "x", {"SKILL.md": SKILL.encode()})
    (named,) = discover_bundles(f"{path}/SKILL.md")
    assert (named.folder, named.files) == ("x", {"SKILL.md": SKILL.encode()})


def test_bundles_as_before(tmp_path: Path) -> None:
    path = _write(tmp_path, {f"alpha/{name}": text for name, text in bundle().items()} | {"half/tools.json": "[]"})
    assert list(_found(path)) == ["/alpha", "/half"]


def test_what_a_skill_holds_is_no_bundle(tmp_path: Path) -> None:
    path = _write(tmp_path, {"SKILL.md": SKILL, "references/capability.json": "{}", "references/tools.json": "[]"})
    assert _found(path) == {"": ["SKILL.md", "references/capability.json", "references/tools.json"]}


def _taken(source: str) -> dict[str, tuple[bool, list[tuple[str, str]]]]:
    """Whether each could be imported, and what was found, by its path."""
    done = {found.path.removeprefix(source): import_skill(found) for found in discover_bundles(source)}
    return {
        path: (one.files is not None, [(each.code, each.message) for each in one.findings])
        for path, one in done.items()
    }


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"


def test_what_cannot_be_taken_of_one_is_said_of_that_one_and_the_rest_is_imported(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SKILL)
    root = tmp_path / "all"
    _write(root, {"good/SKILL.md": SKILL, "lfs/SKILL.md": SKILL, "lfs/assets/a.bin": LFS, "b/skill.md": "# B"})
    for name in ("out", "broken", "beside"):
        (root / name).mkdir()
    (root / "out" / "SKILL.md").symlink_to(tmp_path / "secret")
    (root / "broken" / "SKILL.md").symlink_to(root / "nowhere")
    (root / "good" / "out.md").symlink_to(tmp_path / "secret")
    (root / "good" / "self.md").symlink_to(root / "good" / "self.md")
    os.mkfifo(root / "good" / "pipe.md")
    (root / "b" / "capability.json").symlink_to(root / "nowhere.json")
    _write(root, {"pointer/SKILL.md": LFS, "unread/SKILL.md": SKILL, "unread/a.md": "x"})
    found = _taken(str(root))
    assert {path: is_taken for path, (is_taken, _) in found.items()} == {
        "/b": False, "/broken": False, "/good": True, "/lfs": True, "/out": False, "/pointer": False, "/unread": True,
    }  # fmt: skip
    codes = {path: [code for code, _ in rows] for path, (_, rows) in found.items()}
    assert all(codes[path] == ["IMPORT_FILE_UNREADABLE"] for path in ("/b", "/broken", "/out", "/pointer"))
    assert "leads out" in found["/out"][1][0][1]
    assert "leads nowhere" in found["/broken"][1][0][1]
    assert "LFS pointer" in found["/pointer"][1][0][1]
    for words in (
        "out.md (it is a link that leads out",
        "self.md (it is a link that leads nowhere",
        "pipe.md (it is not",
    ):
        assert words in dict(found["/good"][1])["IMPORT_FILE_LEFT_OUT"]
    assert "assets/a.bin (it is a Git LFS pointer" in dict(found["/lfs"][1])["IMPORT_FILE_LEFT_OUT"]


def test_a_file_that_may_not_be_read_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, {"a/SKILL.md": SKILL, "a/secret.md": "x", "b/SKILL.md": SKILL})

    def read(place: Path) -> Callable[[int], bytes]:
        def refuse(most: int) -> bytes:
            if place.name == "secret.md" or place.parent.name == "b":
                raise PermissionError(13, "Permission denied")
            return place.read_bytes()[:most]

        return refuse

    monkeypatch.setattr(source_files, "file_reader", read)
    found = _taken(str(tmp_path))
    assert {path: is_taken for path, (is_taken, _) in found.items()} == {"/a": True, "/b": False}
    assert "secret.md (it cannot be read (Permission denied))" in dict(found["/a"][1])["IMPORT_FILE_LEFT_OUT"]


def test_a_link_to_a_folder_of_the_source_is_followed_in_a_skill_or_named(tmp_path: Path) -> None:
    _write(tmp_path, {"x/SKILL.md": SKILL, "shared/api.md": "api", "y/SKILL.md": SKILL, "agents/readme.txt": "x"})
    (tmp_path / "x" / "references").symlink_to(tmp_path / "shared")
    (tmp_path / "x" / "loop").symlink_to(tmp_path / "x")
    (tmp_path / "x" / "other").symlink_to(tmp_path / "y")
    (tmp_path / "agents" / "y").symlink_to(tmp_path / "y")
    (tmp_path / "agents" / "copy").mkdir()
    (tmp_path / "agents" / "copy" / "SKILL.md").symlink_to(tmp_path / "y" / "SKILL.md")
    found = {each.path.removeprefix(str(tmp_path)): each for each in discover_bundles(str(tmp_path))}
    assert list(found) == ["/x", "/y"]
    assert found["/x"].files["references/api.md"] == "api"
    assert sorted(found["/x"].odd) == ["loop", "other"]
    assert (found["/y"].odd, import_skill(found["/y"]).findings[0].code) == ({}, "IMPORT_NAME_DIFFERS")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "y").symlink_to(tmp_path / "y")
    with pytest.raises(SourceUnreadable, match="y: it is a link that leads out of the source"):
        discover_bundles(str(tmp_path / "links"))


def test_a_submodule_that_was_not_fetched_is_named(tmp_path: Path) -> None:
    modules = '[submodule "a"]\n\tpath = skills/a\n\turl = https://h/a\n[submodule "x"]\n\tpath = x/vendor\n'
    _write(tmp_path, {".gitmodules": modules, "x/SKILL.md": SKILL, "x/vendor/there.md": "x"})
    (tmp_path / "skills" / "a").mkdir(parents=True)
    (found,) = discover_bundles(str(tmp_path))
    assert {name: "submodule" in reason for name, reason in found.odd.items()} == {"../skills/a": True}
    with pytest.raises(SourceUnreadable, match="top/skills/a: it is a submodule"):
        discover_in_files({"top/.gitmodules": modules.encode(), "top/x/vendor/y": b""}, "main.zip")


def test_a_skill_md_that_is_named_means_its_folder(tmp_path: Path) -> None:
    path = _write(tmp_path / "x", {"SKILL.md": SKILL, "references/api.md": "api", "inner/SKILL.md": SKILL})
    (found,) = discover_bundles(f"{path}/SKILL.md")
    assert (found.path, found.folder, found.files["references/api.md"]) == (f"{path}/SKILL.md", "x", "api")
    whole = _write(tmp_path / "b", bundle())
    assert discover_bundles(f"{whole}/skill.md")[0].files["capability.json"]
    (alone,) = discover_bundles(_write(tmp_path / "n", {"notes.md": SKILL}) + "/notes.md")
    assert (alone.folder, list(alone.files)) == ("", ["SKILL.md"])


def test_a_skill_inside_a_skill_is_said(tmp_path: Path) -> None:
    found = _taken(_write(tmp_path, {"x/SKILL.md": SKILL, "x/examples/y/SKILL.md": SKILL, "x/examples/y/a.md": "a"}))
    assert ": examples/y" in dict(found["/x"][1])["IMPORT_SKILL_INSIDE"]
    assert "IMPORT_SKILL_INSIDE" not in dict(found["/x/examples/y"][1])


def test_two_files_that_are_one_elsewhere_are_both_named() -> None:
    files = {"SKILL.md": SKILL, "skill.md": SKILL, "references/A.md": "a", "references/a.md": "b"}
    (found,) = discover_in_files({name: text.encode() for name, text in files.items()}, "x.zip")
    message = {each.code: each.message for each in import_skill(found).findings}["IMPORT_FILE_LEFT_OUT"]
    for words in ("skill.md (the folder has two", "A.md (on some systems it is the same file as references/a.md)"):
        assert words in message
    assert "a.md (on some systems it is the same file as references/A.md)" in message


@pytest.mark.parametrize("folder", ["node_modules/.bin", ".venv/bin"])
def test_a_link_that_a_package_manager_made_is_passed_over_in_an_archive(folder: str) -> None:
    info = zipfile.ZipInfo(f"x/{folder}/tool")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x/SKILL.md", SKILL)
        archive.writestr(info, "../elsewhere")
    assert [each.folder for each in discover_in_archive(buffer.getvalue(), "a.zip")] == ["x"]


def test_nothing_there_is_told(tmp_path: Path) -> None:
    for source in (str(tmp_path), f"{tmp_path}/nowhere"):
        with pytest.raises(SourceUnreadable):
            discover_bundles(source)


def test_images_take_nothing_from_the_texts_behind_them() -> None:
    image = b"\x89PNG\r\n" + b"\xff" * 1024 * 1024
    files = {f"assets/{number:03}.png": image[: 2**20 if number < 3 else 100] for number in range(20)}
    (found,) = discover_in_files({"SKILL.md": SKILL.encode(), "references/api.md": b"text", **files}, "x.zip")
    assert all(found.files.values())
    assert found.files["references/api.md"] == "text"


def test_one_file_more_than_a_bundle_may_have_is_taken_and_refuses_it() -> None:
    files = {f"assets/{number:04}.png": b"\x89PNG\r\n\xff" for number in range(COUNT_MAX + 5)}
    (found,) = discover_in_files({"SKILL.md": SKILL.encode(), **files}, "x.zip")
    assert "FILES_TOO_MANY" in {each.code for each in validate_bundle(import_skill(found).files or {}).errors}


def test_a_bundle_with_as_many_files_as_it_may_have_comes_back_whole() -> None:
    beside = {f"assets/{number:03}.md": "text" for number in range(COUNT_MAX)}
    given = validate_bundle(bundle("alpha", [tool("alpha_get")]) | beside).bundle
    assert given is not None
    (found,) = discover_in_files({name: text.encode() for name, text in export_skill_files(given).items()}, "x.zip")
    again = validate_bundle(import_skill(found).files or {}).bundle
    assert again is not None
    assert again.content_digest == given.content_digest


def test_the_files_of_a_skill_inside_are_its_own_and_a_bundle_keeps_what_stands_below_it() -> None:
    skills = {
        "a/SKILL.md": SKILL,
        "a/references/b/SKILL.md": SKILL,
        "a/references/b/scripts/x.py": "x",
        "a/scripts/y.py": "y",
    }
    bundles = {"c/capability.json": "{}", "c/references/d/SKILL.md": SKILL, "ab/references/no.md": "x"}
    found = {
        one.path: sorted(one.files)
        for one in discover_in_files({k: v.encode() for k, v in (skills | bundles).items()}, "x")
    }
    assert found == {
        "x/a": ["SKILL.md", "scripts/y.py"],
        "x/a/references/b": ["SKILL.md", "scripts/x.py"],
        "x/c": ["capability.json", "references/d/SKILL.md"],
        "x/c/references/d": ["SKILL.md"],
    }


RECORD = {
    "skill_id": "7f1c",
    "title": "Password Reset for Standard Users",
    "version": 3,
    "problem": "Customer cannot log in and wants to reset their password",
    "resolution_md": "# Password Reset for Standard Users\n\n**Confidence:** 0.75 (12 uses, 9 confirmed)\n"
    "**Product Area:** authentication\n\n## Goal\n\nThe customer can sign in.\n\n## Prerequisites\n\n- An address.\n\n"
    '## Steps\n\n### 1. Send the link\n\n**Do:** Send it.\n**Check:** It arrived.\n**Say:** "Look in your inbox."\n\n'
    "## Edge Cases\n\n- None.\n\n## Escalation\n\nTo the accounts team.\n",
    "conditions": ["user is NOT on SSO"],
    "keywords": ["password", "reset"],
    "embedding": [0.1, 0.2],
    "product_area": "authentication",
    "confidence": 0.75,
}


def test_a_playbook_record_becomes_a_bundle_without_its_own_trust(tmp_path: Path) -> None:
    path = tmp_path / "sk.json"
    path.write_text(json.dumps(RECORD), "utf-8")
    (found,) = discover_bundles(str(path))
    assert found.path == str(path)
    report = validate_bundle(found.files)
    assert [(each.code, each.message) for each in report.findings if each.severity == "error"] == []
    capability = json.loads(found.files["capability.json"])
    assert capability["capability_id"] == "password_reset_for_standard_users"
    assert capability["playbook"] == {
        "problem": RECORD["problem"],
        "conditions": ["user is NOT on SSO"],
        "keywords": ["password", "reset"],
        "product_area": "authentication",
    }
    assert b"Confidence" not in found.files["skill.md"]
    path.write_text(json.dumps([RECORD, {**RECORD, "title": "Refund"}]), "utf-8")
    assert [(each.folder, each.path) for each in discover_bundles(str(path))] == [
        ("password_reset_for_standard_users", f"{path}#0"),
        ("refund", f"{path}#1"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("{}", "title is missing"),
        ("[]", "0 records"),
        (json.dumps({**RECORD, "problem": 7}), "problem is missing"),
        (json.dumps({**RECORD, "title": "睡眠"}), "no letter a to z"),
        (json.dumps([RECORD, RECORD]), "two records"),
    ],
)
def test_an_odd_record_is_refused_with_the_cause(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "sk.json"
    path.write_text(text, "utf-8")
    with pytest.raises(SourceUnreadable, match=words):
        discover_bundles(str(path))


def test_all_bundles_of_a_source_together_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def reader(name: str) -> Callable[[int], bytes]:
        def take(most: int) -> bytes:
            read.append(name)
            return (SKILL + "x" * 1_000).encode()[:most]

        return take

    monkeypatch.setattr(bundle_discovery, "SOURCE_BYTES_MAX", 5_000)
    files = {f"skills/s{number}/SKILL.md": reader(f"s{number}") for number in range(50)}
    with pytest.raises(SourceUnreadable, match="its bundles have more than 0 MiB of texts"):
        bundle_discovery.discover_in_tree(SourceFiles(files), "many", "")
    assert len(read) == 5, "nothing is read after it"
    assert len(bundle_discovery.discover_in_tree(SourceFiles(dict(list(files.items())[:4])), "few", "")) == 4


def test_an_id_is_for_one_skill_and_not_for_a_bundle() -> None:
    skill = discover_in_files({"SKILL.md": SKILL.encode()}, "x.zip")
    assert [each.as_id for each in with_id(skill, "tea")] == ["tea"]
    assert with_id(skill, "") == skill
    refused = {
        "Tea Time": skill,
        "a__b": skill,
        "two": skill * 2,
        "none": [],
        "own": discover_in_files({name: text.encode() for name, text in bundle().items()}, "x.zip"),
    }
    for as_id, sources in refused.items():
        with pytest.raises(InvalidRequest, match=as_id):
            with_id(sources, as_id)


def test_a_skill_without_a_name_keeps_its_texts_for_the_id_that_it_is_given() -> None:
    files = {"SKILL.md": b"---\ndescription: y\n---\nText.\n", "references/api.md": b"text"}
    (found,) = with_id(discover_in_files(files, "x.zip"), "tea")
    taken = import_skill(found).files or {}
    assert taken["references/api.md"] == "text"
    assert json.loads(taken["capability.json"])["capability_id"] == "tea"


@pytest.mark.parametrize("name", ["preview", "archive", "Beta"])
def test_what_is_current_comes_before_a_preview_of_the_same_name(name: str) -> None:
    files = {f"{folder}/alpha/SKILL.md": SKILL.encode() for folder in (name, "skills")}
    found = discover_in_files(files, "x.zip")
    assert [one.path for one in found] == ["x.zip/skills/alpha", f"x.zip/{name}/alpha"]
