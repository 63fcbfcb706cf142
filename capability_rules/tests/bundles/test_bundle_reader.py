"""Folders and zips are read with limits, and never trusted."""

from __future__ import annotations

import contextlib
import io
import os
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capability_rules.bundles.bundle_reader import SourceBundle, read_bundle, read_bundle_zip
from capability_rules.bundles.file_description import describe_file
from capability_rules.bundles.file_pointer import parse_pointer
from capability_rules.discovery.bundle_discovery import discover_bundles, discover_in_archive
from capability_rules.errors import SourceUnreadable
from capability_rules.validation import validate_bundle
from tests import costs
from tests.bundle_files import Files, bundle, tool, zip_of
from tests.sweeps import check_each

ALPHA, BETA = bundle("alpha"), bundle("beta", [tool("beta_list")])


def _below(folder: str, files: Files) -> Files:
    return {f"{folder}/{name}": text for name, text in files.items()}


def _write(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _texts(source: SourceBundle) -> Files:
    return {name: raw.decode() if isinstance(raw, bytes) else raw for name, raw in source.files.items()}


def _found(sources: list[SourceBundle]) -> dict[str, Files]:
    return {source.path: _texts(source) for source in sources}


# Folders


def test_a_bundle_folder(tmp_path: Path) -> None:
    path = str(_write(tmp_path / "alpha", ALPHA))
    assert _found(read_bundle(path)) == {path: ALPHA}


def test_a_folder_of_bundles_in_order(tmp_path: Path) -> None:
    for name, files in (("b", BETA), ("a", ALPHA)):
        _write(tmp_path / name, files)
    found = read_bundle(f"{tmp_path}/")
    assert [source.path for source in found] == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert _texts(found[1]) == BETA


def test_a_folder_with_none_of_the_four_files_is_passed_over(tmp_path: Path) -> None:
    _write(tmp_path / "a", ALPHA)
    _write(tmp_path / "docs", {"notes.txt": "x"})
    _write(tmp_path / ".git", ALPHA)
    (tmp_path / "README.md").write_text("x")
    assert [source.path for source in read_bundle(str(tmp_path))] == [f"{tmp_path}/a"]


def test_a_folder_with_some_of_the_four_files_is_a_bundle_with_that_finding(tmp_path: Path) -> None:
    _write(tmp_path / "a", ALPHA)
    _write(tmp_path / "b", {"tools.json": "[]"})
    found = read_bundle(str(tmp_path))
    assert [source.path for source in found] == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert {finding.code for finding in validate_bundle(found[1].files).findings} == {"FILE_MISSING"}


def test_other_files_come_by_name_alone(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    _write(tmp_path, ALPHA | {"Tools.json": "secret", ".DS_Store": "x", ".gitkeep": "", "scripts/.gitkeep": ""})
    (source,) = read_bundle(str(tmp_path))
    assert _texts(source) == ALPHA | {"Tools.json": ""}


def test_a_thousand_other_files_hide_none_of_the_four(tmp_path: Path) -> None:
    _write(tmp_path, ALPHA)
    for number in range(1000):
        (tmp_path / f"0{number}").touch()
    (source,) = read_bundle(str(tmp_path))
    assert _texts(source).items() >= ALPHA.items()


def test_a_large_file_is_read_just_so_far_that_it_is_seen_to_be_too_large(tmp_path: Path) -> None:
    _write(tmp_path, ALPHA)
    with (tmp_path / "skill.md").open("wb") as handle:
        handle.truncate(2**40)
    (source,) = read_bundle(str(tmp_path))
    assert len(source.files["skill.md"]) == 2**20 + 1


def test_a_link_must_not_lead_out_of_its_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("password")
    folder = _write(tmp_path / "a", ALPHA)
    (folder / "skill.md").unlink()
    (folder / "skill.md").symlink_to(secret)
    (source,) = read_bundle(str(folder))
    assert ("skill.md" in source.files, list(source.odd)) == (False, ["skill.md"])
    (folder / "references").mkdir()
    (folder / "references" / "a.md").symlink_to(tmp_path / "nowhere")
    _write(tmp_path / "b", ALPHA)
    first, second = read_bundle(str(tmp_path))
    assert (sorted(first.odd), second.odd) == (["references/a.md", "skill.md"], {})


def test_a_link_inside_its_folder_and_to_a_folder_is_followed(tmp_path: Path) -> None:
    folder = _write(tmp_path / "a", ALPHA)
    (folder / "skill.md").rename(folder / "body.md")
    (folder / "skill.md").symlink_to("body.md")
    (tmp_path / "link").symlink_to(folder)
    (source,) = read_bundle(str(tmp_path / "link"))
    assert _texts(source)["skill.md"] == ALPHA["skill.md"]


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda _: None, os.mkfifo])
def test_what_holds_no_bundle_is_told_with_its_path(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "x")
    with pytest.raises(SourceUnreadable) as caught:
        read_bundle(f"{tmp_path}/x")
    assert f"{tmp_path}/x" in caught.value.message


def test_a_file_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = str(_write(tmp_path, ALPHA))
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceUnreadable, match="Permission denied"):
        read_bundle(path)


# Zips: where bundles stand in them


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (ALPHA, {"a.zip": ALPHA}),
        (_below("alpha", ALPHA), {"a.zip": ALPHA}),
        ({"alpha/": ""} | _below("alpha", ALPHA), {"a.zip": ALPHA}),
        (_below("x", ALPHA) | _below("y", BETA), {"a.zip/x": ALPHA, "a.zip/y": BETA}),
        (_below("x", ALPHA) | {"__MACOSX/x/._skill.md": "", "x/.DS_Store": "", "README.md": ""}, {"a.zip": ALPHA}),
        (_below("x", ALPHA | {"logo.png": "\x89PNG"}), {"a.zip": ALPHA | {"logo.png": ""}}),
        (_below("x", {"tools.json": "[]"}), {"a.zip": {"tools.json": "[]"}}),
    ],
    ids=["root", "top folder", "folder entry", "two folders", "junk", "other files", "without capability.json"],
)
def test_a_zip(entries: Files, expected: dict[str, Files], tmp_path: Path) -> None:
    assert _found(read_bundle_zip(zip_of(entries), "a.zip")) == expected
    (tmp_path / "a.zip").write_bytes(zip_of(entries))
    on_disk = {path.replace("a.zip", f"{tmp_path}/a.zip"): files for path, files in expected.items()}
    assert _found(read_bundle(f"{tmp_path}/a.zip")) == on_disk


@pytest.mark.parametrize("entries", [{}, {"README.md": "x"}, _below("x/y", ALPHA)])
def test_a_zip_without_a_bundle_is_told(entries: Files) -> None:
    with pytest.raises(SourceUnreadable, match="no bundle"):
        read_bundle_zip(zip_of(entries), "a.zip")


# Zips: what is refused


def _refusal(data: bytes) -> str:
    with pytest.raises(SourceUnreadable) as caught:
        read_bundle_zip(data, "a.zip")
    return caught.value.message


def test_a_path_that_leads_elsewhere_is_refused() -> None:
    def check(name: str) -> None:
        assert "refused" in _refusal(zip_of(ALPHA | {name: "x"}))

    check_each(
        [
            "/skill.md",
            "/etc/passwd",
            "../skill.md",
            "a/../skill.md",
            "a/..",
            "./skill.md",
            "a\\skill.md",
            "..\\skill.md",
            "C:/skill.md",
            "c:skill.md",
            "a//skill.md",
            "//skill.md",
            "\\\\host\\skill.md",
        ],
        check,
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("skill.md", "SKILL.MD"),
        ("a/skill.md", "A/tools.json"),
        ("a", "a/skill.md"),
        ("a/skill.md", "a"),
        ("é", "e\u0301"),
        ("ß", "ss"),
    ],
)
@pytest.mark.parametrize("swap", [False, True])
def test_names_that_collide_are_refused(one: str, other: str, swap: bool) -> None:
    names = (other, one) if swap else (one, other)
    assert "another entry has this name" in _refusal(zip_of(dict.fromkeys(names, "x")))


def test_one_name_twice_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("skill.md", "# Good")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("skill.md", "# Bad")
    assert "another entry has this name" in _refusal(buffer.getvalue())


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_a_link_or_a_device_is_refused(kind: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("skill.md")
        info.external_attr = (kind | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert "link" in _refusal(buffer.getvalue())


def test_an_encrypted_entry_is_refused() -> None:
    data = bytearray(zip_of(ALPHA))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    assert "encrypted" in _refusal(bytes(data))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_another_compression_is_refused(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("skill.md", "x" * 1000)
    assert "compression" in _refusal(buffer.getvalue())


def _noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


def test_two_thousand_entries_are_taken_and_one_more_is_not() -> None:
    entries = ALPHA | {f"{number}.txt": "" for number in range(2000 - len(ALPHA))}
    assert len(read_bundle_zip(zip_of(entries), "a.zip")) == 1
    assert "2,001 entries" in _refusal(zip_of(entries | {"one-more": ""}))


def test_half_a_million_entries_are_refused_before_they_are_read() -> None:
    header = b"PK\x01\x02" + bytes(24) + struct.pack("<HHHHHII", 0, 0, 0, 0, 0, 0, 0)
    assert len(header) == 46
    count = 20 * 2**20 // len(header)
    directory = header * count
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), 0, 0)
    with costs.at_most(1000):
        assert "entries" in _refusal(directory + end)


def test_ten_mebibytes_are_taken_and_one_byte_more_is_not() -> None:
    limit = 10 * 2**20
    (source,) = read_bundle_zip(zip_of({**ALPHA, "x.bin": _noise(limit)}), "a.zip")
    assert source.files["x.bin"] == ""
    assert "10 MiB" in _refusal(zip_of({**ALPHA, "x.bin": _noise(limit + 1)}))


def test_sixty_four_mebibytes_in_all() -> None:
    part = _noise(8 * 2**20)
    assert "64 MiB" in _refusal(zip_of({**ALPHA, **{f"{number}.bin": part for number in range(8)}}))


def test_sixty_four_mebibytes_on_disk(tmp_path: Path) -> None:
    with (tmp_path / "a.zip").open("wb") as handle:
        handle.truncate(64 * 2**20 + 1)
    with pytest.raises(SourceUnreadable, match="64 MiB"):
        read_bundle(str(tmp_path / "a.zip"))


def test_a_bomb_is_refused_by_its_ratio() -> None:
    assert "100 times" in _refusal(zip_of({"skill.md": "\0" * 2**20}))
    assert read_bundle_zip(zip_of(ALPHA | {"notes.txt": "ab" * 40}), "a.zip")


def test_a_size_that_lies_is_found() -> None:
    """The directory says ten bytes, the stream holds a mebibyte."""
    data = bytearray(zip_of({"skill.md": _noise(2**20)}))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.rindex(signature) + offset
        data[at : at + 4] = struct.pack("<I", 10)
    assert "not a readable zip" in _refusal(bytes(data))


def test_a_wrong_checksum_is_found() -> None:
    data = bytearray(zip_of({"skill.md": _noise(100)}))
    data[40] ^= 1
    assert "not a readable zip" in _refusal(bytes(data))


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x05\x06", b"not a zip", b"\x1f\x8b\x08\x00tar"])
def test_what_is_no_zip_is_told(data: bytes) -> None:
    assert "not a readable zip" in _refusal(data)


def test_an_entry_without_a_name_is_refused() -> None:
    """A NUL as the first letter leaves nothing of the name, which `ZipInfo.is_dir` of Python 3.11 cannot bear."""
    data = bytearray(zip_of({"skill.md": b"text"}))
    data[data.rindex(b"skill.md")] = 0
    assert "is refused" in _refusal(bytes(data))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_bytes_make_it_crash(data: st.DataObject) -> None:
    raw = bytearray(zip_of(_below("x", BETA)))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)) | st.just(len(raw)))
    with contextlib.suppress(SourceUnreadable):
        read_bundle_zip(bytes(raw[:cut]), "a.zip")


# Writing


# What is not a text


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def _with_images(count: int) -> dict[str, bytes]:
    """A bundle whose text in scripts/ stands behind as many images, in the order of names."""
    images = {f"assets/{number:03}.png": PNG for number in range(count)}
    return {**{name: text.encode() for name, text in ALPHA.items()}, **images, "scripts/run.py": b"print(1)\n"}


@pytest.mark.parametrize("read", [read_bundle_zip, discover_in_archive])
def test_images_in_a_zip_are_kept_by_their_digest(read: Callable[[bytes, str], list[SourceBundle]]) -> None:
    (source,) = read(zip_of(_with_images(150)), "a.zip")
    report = validate_bundle(source.files)
    assert report.ok
    assert [finding.code for finding in report.findings] == ["FILE_NOT_TEXT"] * 150
    assert report.files["scripts/run.py"] == "print(1)\n"
    pointer = report.files["assets/007.png"]
    assert parse_pointer(pointer) == describe_file(PNG)
    assert source.contents is not None
    assert source.contents.read(pointer) == PNG


@pytest.mark.parametrize("read", [read_bundle, discover_bundles])
def test_images_in_a_folder_are_kept_by_their_digest(read: Callable[[str], list[SourceBundle]], tmp_path: Path) -> None:
    for name, content in _with_images(600).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (source,) = read(str(tmp_path))
    report = validate_bundle(source.files)
    assert report.ok
    assert [finding.code for finding in report.findings] == ["FILE_NOT_TEXT"] * 600
    assert report.files["scripts/run.py"] == "print(1)\n"
    pointer = report.files["assets/007.png"]
    assert parse_pointer(pointer) == describe_file(PNG)
    assert source.contents is not None
    assert source.contents.read(pointer) == PNG
