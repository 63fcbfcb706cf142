"""Where bundles come from: folders and zips, read with limits, never trusted (CONTRACT 5)."""

from __future__ import annotations

import io
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from registry.errors import SourceUnreadable
from registry.validation import BUNDLE_FILES
from registry.validation.texts import FILE_BYTES_MAX

ENTRIES_MAX: Final = 500
ENTRY_BYTES_MAX: Final = 5 * 1024 * 1024
ARCHIVE_BYTES_MAX: Final = 20 * 1024 * 1024
RATIO_MAX: Final = 100
# What tools leave behind; nobody meant it to be part of a bundle.
_JUNK: Final = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", ".git", ".gitignore", ".gitattributes"})


@dataclass(frozen=True, slots=True)
class SourceBundle:
    """The raw files of one bundle. `path` is what the caller named, or the member folder below it.

    Files that are not part of a bundle come without their content: only their names are reported.
    """

    path: str
    files: Mapping[str, bytes | str]


def read_path(path: str) -> list[SourceBundle]:
    """The bundles at a PATH: a bundle folder, a zip, or a folder whose subfolders are bundles.

    Raises `SourceUnreadable` where there is none, or for an archive that breaks a rule.
    """
    place = Path(path)
    try:
        if place.is_dir():
            return _read_folder(place, path)
        if place.is_file():
            return read_zip(_read_archive(place), path)
    except OSError as error:
        raise SourceUnreadable(f"{path}: {error.strerror or error}") from None
    raise SourceUnreadable(f"{path}: there is no such file or folder")


def _read_archive(place: Path) -> bytes:
    if place.stat().st_size > ARCHIVE_BYTES_MAX:
        raise SourceUnreadable(f"{place}: an archive has at most 20 MiB")
    return place.read_bytes()


def _read_folder(folder: Path, path: str) -> list[SourceBundle]:
    own = _folder_files(folder, path)
    if any(name in BUNDLE_FILES for name in own):
        return [SourceBundle(path, own)]
    found = []
    for member in sorted(folder.iterdir()):
        if member.is_dir() and member.name not in _JUNK:
            files = _folder_files(member, path)
            if any(name in BUNDLE_FILES for name in files):
                found.append(SourceBundle(str(PurePosixPath(path) / member.name), files))
    if not found:
        raise SourceUnreadable(f"{path}: no bundle here. A bundle is a folder with {', '.join(BUNDLE_FILES)}")
    return found


def _folder_files(folder: Path, path: str) -> dict[str, bytes | str]:
    """The four files with their content, others by name alone. A link must not lead to what is none of ours."""
    files: dict[str, bytes | str] = {}
    for name in BUNDLE_FILES:
        if (folder / name).is_file():
            if not (folder / name).resolve().is_relative_to(folder.resolve()):
                raise SourceUnreadable(f"{path}: {name} in {folder.name} is a link that leads out of its folder")
            files[name] = _first_bytes(folder / name)
    others = sorted(member.name for member in folder.iterdir() if member.name not in {*_JUNK, *BUNDLE_FILES})
    return files | {name: "" for name in others[:ENTRIES_MAX] if (folder / name).is_file()}


def _first_bytes(file: Path) -> bytes:
    """The file, or just so much that it is seen to be too large."""
    with file.open("rb") as handle:
        return handle.read(FILE_BYTES_MAX + 1)


def read_zip(data: bytes, path: str) -> list[SourceBundle]:
    """The bundles of a zip: at its root, or in its top folders. Raises `SourceUnreadable` with the entry at fault."""
    _refuse_many_entries(data, path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = _checked_members(archive, path)
            return _bundles_of(archive, members, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OverflowError) as error:
        raise SourceUnreadable(f"{path}: not a readable zip ({error})") from None


def _refuse_many_entries(data: bytes, path: str) -> None:
    """Count before anything is read: half a million empty entries fit into 20 MiB, and each becomes an object."""
    end = data.rfind(b"PK\x05\x06")
    size = int.from_bytes(data[end + 12 : end + 16], "little") if end != -1 else 0
    entries = data.count(b"PK\x01\x02", max(0, end - size), max(0, end))
    if entries > ENTRIES_MAX:
        raise SourceUnreadable(f"{path}: {entries:,} entries; at most {ENTRIES_MAX} are allowed")


def _checked_members(archive: zipfile.ZipFile, path: str) -> dict[str, zipfile.ZipInfo]:
    """Every regular file by its name, after all rules were held against all entries."""
    infos = archive.infolist()
    if len(infos) > ENTRIES_MAX:
        raise SourceUnreadable(f"{path}: {len(infos):,} entries; at most {ENTRIES_MAX} are allowed")
    if sum(info.file_size for info in infos) > ARCHIVE_BYTES_MAX:
        raise SourceUnreadable(f"{path}: more than 20 MiB when unpacked")
    taken: dict[str, str] = {}
    for info in infos:
        reason = _refusal(info) or _collision(info, taken)
        if reason is not None:
            raise SourceUnreadable(f"{path}: the entry {info.orig_filename[:100]!r} is refused: {reason}")
    return {info.filename: info for info in infos if not info.is_dir()}


def _collision(info: zipfile.ZipInfo, taken: dict[str, str]) -> str | None:
    """Names that a file system may hold to be one: by case, by Unicode form, a file and a folder.

    `taken` maps each folded name so far to its spelling, a folder's with a slash at the end.
    """
    steps = info.filename.rstrip("/").split("/")
    spellings = ["/".join(steps[:depth]) + "/" for depth in range(1, len(steps))]
    spellings.append(info.filename)
    for spelling in spellings:
        known = taken.setdefault(unicodedata.normalize("NFC", spelling).casefold().rstrip("/"), spelling)
        if known is not spelling and (known != spelling or not spelling.endswith("/")):
            return "another entry has this name"
    return None


def _refusal(info: zipfile.ZipInfo) -> str | None:
    name = info.orig_filename
    parts = name.split("/")
    mode = info.external_attr >> 16
    rules = (
        (name.startswith("/") or (len(name) > 1 and name[1] == ":"), "its path is absolute"),
        (".." in parts or "." in parts, "its path leaves the archive"),
        ("\\" in name, "its path has a backslash"),
        ("\0" in name or not name.strip("/") or "" in parts[:-1], "its path is odd"),
        (mode != 0 and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR), "it is a link or a device"),
        (bool(info.flag_bits & 0x1), "it is encrypted"),
        (info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), "its compression is not supported"),
        (info.file_size > ENTRY_BYTES_MAX, "it is over 5 MiB"),
        (info.file_size > RATIO_MAX * max(info.compress_size, 1), f"it unpacks to over {RATIO_MAX} times its size"),
    )
    return next((reason for applies, reason in rules if applies), None)


def _bundles_of(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], path: str) -> list[SourceBundle]:
    folders: dict[str, dict[str, bytes | str]] = {}
    for name, info in members.items():
        parts = name.split("/")
        if any(part in _JUNK for part in parts) or len(parts) > 2:
            continue
        folder = parts[0] if len(parts) == 2 else ""
        folders.setdefault(folder, {})[parts[-1]] = _content(archive, info) if parts[-1] in BUNDLE_FILES else ""
    bundles = {folder: files for folder, files in folders.items() if any(name in BUNDLE_FILES for name in files)}
    if "" in bundles:
        return [SourceBundle(path, bundles[""])]
    if not bundles:
        raise SourceUnreadable(f"{path}: no bundle in this zip. A bundle has {', '.join(BUNDLE_FILES)}")
    if len(bundles) == 1:
        return [SourceBundle(path, next(iter(bundles.values())))]
    return [SourceBundle(f"{path}/{folder}", files) for folder, files in sorted(bundles.items())]


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """At most so much that a file is seen to be too large; a size that lies is found by the reader."""
    with archive.open(info) as handle:
        return handle.read(FILE_BYTES_MAX + 1)


def write_zip(files: Mapping[str, str], folder: str) -> bytes:
    """The files in one top folder, the same bytes for the same content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _in_order(files):
            info = zipfile.ZipInfo(f"{folder}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, files[name].encode("utf-8"))
    return buffer.getvalue()


def _in_order(files: Mapping[str, str]) -> Iterator[str]:
    return (name for name in BUNDLE_FILES if name in files)
