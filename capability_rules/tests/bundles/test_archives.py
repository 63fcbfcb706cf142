"""Tars are held to the rules of zips (test_sources.py has those); what we write is reproducible."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import Any

import pytest

from capability_rules.bundles.archives import ENTRIES_MAX, read_members, write_tar_gz, write_zip
from capability_rules.errors import SourceUnreadable
from tests.sweeps import check_each


def _tar(*entries: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", **options) as archive:
        for entry in entries:
            info = entry if isinstance(entry, tarfile.TarInfo) else tarfile.TarInfo(entry[0])
            content = b"" if isinstance(entry, tarfile.TarInfo) else entry[1]
            if content:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _odd(name: str, kind: bytes = tarfile.REGTYPE, **fields: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def _read(data: bytes) -> dict[str, bytes]:
    return {name: read(100) for name, read in read_members(data, "a.tar.gz").items()}


@pytest.mark.parametrize("format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("compress", [gzip.compress, bytes])
def test_a_tar_is_read(format_: int, compress: Any) -> None:
    entries = [_odd(".", tarfile.DIRTYPE), _odd("./x", tarfile.DIRTYPE), ("./x/SKILL.md", b"a"), ("y/é.md", b"b")]
    assert _read(compress(_tar(*entries, format=format_))) == {"x/SKILL.md": b"a", "y/é.md": b"b"}


def test_an_entry_that_breaks_a_rule_is_refused() -> None:
    def check(cell: tuple[Any, str]) -> None:
        entry, reason = cell
        with pytest.raises(SourceUnreadable, match=reason):
            read_members(_tar(("SKILL.md", b"x"), entry), "a.tar")

    check_each(
        [
            (("/etc/passwd", b"x"), "absolute"),
            (("C:/x", b"x"), "absolute"),
            (("../x", b"x"), "leaves the archive"),
            (("a/../../x", b"x"), "leaves the archive"),
            (("a\\b", b"x"), "backslash"),
            (_odd("a", tarfile.SYMTYPE, linkname="/etc/passwd"), "link or a device"),
            (_odd("a", tarfile.LNKTYPE, linkname="b"), "link or a device"),
            (_odd("a", tarfile.CHRTYPE), "link or a device"),
            (_odd("a", tarfile.FIFOTYPE), "link or a device"),
            (("a/" * 64 + "b", b"x"), "too long"),
            (("a" * 1001, b"x"), "too long"),
            (("big", b"\0" * (10 * 1024 * 1024 + 1)), "over 10 MiB"),
        ],
        check,
    )


@pytest.mark.parametrize("names", [("a", "A"), ("a", "a"), ("é", "e\u0301"), ("a", "a/b")])
def test_colliding_names_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(SourceUnreadable, match="another entry"):
        read_members(_tar(*[(name, b"x") for name in names]), "a.tar")


@pytest.mark.slow
def test_bombs_are_refused() -> None:
    with pytest.raises(SourceUnreadable, match="entries; at most"):
        read_members(_tar(*[(f"f{number}", b"") for number in range(ENTRIES_MAX + 1)]), "a.tar")
    with pytest.raises(SourceUnreadable, match="100 times"):
        read_members(gzip.compress(_tar(("a", b"\0" * 4_000_000))), "a.tar.gz")
    with pytest.raises(SourceUnreadable, match="64 MiB"):
        read_members(gzip.compress(bytes(300_000_000)), "a.tar.gz")
    with pytest.raises(SourceUnreadable, match="64 MiB"):
        read_members(_tar(*[(f"f{number}", bytes(5_000_000)) for number in range(14)]), "a.tar")


def test_damaged_archives_are_told() -> None:
    good = gzip.compress(_tar(("a", b"x" * 3000)))
    for data in (good[:-1], good[:40], good + b"x", b"\x1f\x8b", gzip.compress(b"no tar at all, but something longer")):
        with pytest.raises(SourceUnreadable):
            read_members(data, "a.tar.gz")


def test_a_chain_of_long_names_ends() -> None:
    """Each of these headers makes the next one be read inside of it."""
    header = _tar(_odd("x", b"L", size=0))[:512]
    with pytest.raises(SourceUnreadable):
        read_members(header * 20_000 + bytes(1024), "a.tar")


def test_what_is_written_is_read_and_the_same_each_time() -> None:
    files = {"SKILL.md": b"a", "references/tools.json": b"[]"}
    for write in (write_zip, write_tar_gz):
        assert write(files) == write(dict(files))
        assert _read(write(files)) == files
    assert write_tar_gz(files)[4:8] == b"\0\0\0\0"
