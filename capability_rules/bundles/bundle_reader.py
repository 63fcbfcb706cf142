"""Where bundles come from: folders and zips, read with limits, never trusted (docs/contract.md 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from capability_kit.errors import describe_exception
from capability_rules.bundles.archives import ARCHIVE_BYTES_MAX, ENTRIES_MAX, ArchiveReader, zip_members
from capability_rules.bundles.problem import BUNDLE_FILES
from capability_rules.bundles.supporting_files import (
    EVALUATION_FILES,
    FOLDERS,
    JUNK_FILES,
    is_in_folder,
    list_named_paths,
)
from capability_rules.bundles.text import FILE_BYTES_MAX, NOT_TEXT, is_binary
from capability_rules.errors import SourceUnreadable

LEADS_NOWHERE: Final = "it is a link that leads nowhere"


@dataclass(frozen=True, slots=True)
class SourceBundle:
    """The raw files of one bundle. `path` is what the caller named, or the member folder below it.

    Files that are not part of a bundle come without their content: only their names are reported. `folder` is the name
    of the folder that contained the files, empty where that means nothing. `as_id` is the capability_id that an Agent
    Skill is to have, whatever its name is. `odd` are files and folders that could not be taken, each with the reason in
    words; `inner` the folders in a skill that are skills of their own.
    """

    path: str
    files: Mapping[str, bytes | str]
    folder: str = ""
    as_id: str = ""
    odd: Mapping[str, str] = field(default_factory=dict)
    inner: tuple[str, ...] = ()


def read_bundle(path: str) -> list[SourceBundle]:
    """The bundles at a PATH: a bundle folder, a zip, or a folder whose subfolders are bundles.

    Raises `SourceUnreadable` where there is none, or for an archive that breaks a rule.
    """
    place = Path(path)
    try:
        if place.is_dir():
            return _read_folder(place, path)
        if place.is_file():
            return read_bundle_zip(build_archive(place), path)
    except OSError as error:
        raise SourceUnreadable(f"{path}: {error.strerror or error}") from None
    raise SourceUnreadable(f"{path}: there is no such file or folder")


def build_archive(place: Path) -> bytes:
    """The file. Raises `SourceUnreadable` for one that is too large, before it is read."""
    if place.stat().st_size > ARCHIVE_BYTES_MAX:
        raise SourceUnreadable(f"{place}: an archive has at most 20 MiB")
    return place.read_bytes()


def _read_folder(folder: Path, path: str) -> list[SourceBundle]:
    own, odd = _folder_files(folder)
    if any(name in BUNDLE_FILES for name in (*own, *odd)):
        return [SourceBundle(path, own, odd=odd)]
    found = []
    for member in sorted(folder.iterdir()):
        if member.is_dir() and member.name not in JUNK_FILES:
            files, odd = _folder_files(member)
            if any(name in BUNDLE_FILES for name in (*files, *odd)):
                found.append(SourceBundle(str(PurePosixPath(path) / member.name), files, odd=odd))
    if not found:
        raise SourceUnreadable(f"{path}: no bundle here. A bundle is a folder with {', '.join(BUNDLE_FILES)}")
    return found


def _folder_files(folder: Path) -> tuple[dict[str, bytes | str], dict[str, str]]:
    """A bundle's files with their content, others by name alone; and what cannot be taken, with the reason. A link must
    not lead to what is none of ours."""
    files: dict[str, bytes | str] = {}
    odd: dict[str, str] = {}
    images = 0
    for name in _part_names(folder):
        if name in files or name in odd:
            continue
        if len(files) - images > ENTRIES_MAX:
            # Too many are seen to be too many.
            break
        if (folder / name).is_file():
            if not (folder / name).resolve().is_relative_to(folder.resolve()):
                odd[name] = "it is a link that leads out of its folder"
                continue
            try:
                files[name] = read_content(name, file_reader(folder / name))
            except OSError as error:
                odd[name] = explain_unreadable(error)
                continue
            images += files[name] is NOT_TEXT
        elif (folder / name).is_symlink():
            odd[name] = LEADS_NOWHERE
    others = sorted(member.name for member in folder.iterdir() if member.name not in {*JUNK_FILES, *BUNDLE_FILES})
    others = [name for name in others if name not in files and name not in odd]
    return files | {name: "" for name in others[:ENTRIES_MAX] if (folder / name).is_file()}, odd


def explain_unreadable(error: OSError) -> str:
    """Why a file or a folder cannot be taken."""
    return f"it cannot be read ({error.strerror or describe_exception(error)})"


def _part_names(folder: Path) -> Iterator[str]:
    """Paths below the folder at which a file of its bundle may be; some appear twice."""
    yield from BUNDLE_FILES
    yield from EVALUATION_FILES
    found = (place for name in FOLDERS for place in sorted((folder / name).rglob("*")))
    yield from (place.relative_to(folder).as_posix() for place in found if not JUNK_FILES.intersection(place.parts))
    if (folder / "capability.json").is_file():
        yield from sorted(list_named_paths(file_reader(folder / "capability.json")(FILE_BYTES_MAX + 1)))


def file_reader(file: Path) -> ArchiveReader:
    """Opens the file with each call."""

    def read(most: int) -> bytes:
        with file.open("rb") as handle:
            return handle.read(most)

    return read


def read_content(name: str, read: ArchiveReader) -> bytes:
    """The file, or just enough to detect that it is too large, or that it is not text."""
    content = read(FILE_BYTES_MAX + 1)
    return NOT_TEXT if name not in BUNDLE_FILES and is_binary(content) else content


def read_bundle_zip(data: bytes, path: str) -> list[SourceBundle]:
    """The bundles of a zip: at its root, or in its top folders. Raises `SourceUnreadable` that names the entry."""
    bundles = {folder: _members_of(below) for folder, below in _by_folder(zip_members(data, path)).items()}
    if "" in bundles:
        return [SourceBundle(path, bundles[""])]
    if not bundles:
        raise SourceUnreadable(f"{path}: no bundle in this zip. A bundle has {', '.join(BUNDLE_FILES)}")
    if len(bundles) == 1:
        return [SourceBundle(path, next(iter(bundles.values())))]
    return [SourceBundle(f"{path}/{folder}", files) for folder, files in sorted(bundles.items())]


def _by_folder(members: Mapping[str, ArchiveReader]) -> dict[str, dict[str, ArchiveReader]]:
    """What is below each folder that is a bundle: the root, which is the empty text, or else top folders."""
    known = {name: read for name, read in members.items() if not any(part in JUNK_FILES for part in name.split("/"))}
    if any(name in BUNDLE_FILES for name in known):
        return {"": known}
    folders: dict[str, dict[str, ArchiveReader]] = {}
    for name, read in known.items():
        top, _, own = name.partition("/")
        if own and not is_in_folder(name):
            folders.setdefault(top, {})[own] = read
    return {top: below for top, below in folders.items() if any(name in BUNDLE_FILES for name in below)}


def _members_of(below: Mapping[str, ArchiveReader]) -> dict[str, bytes | str]:
    """A bundle's files with their content, others beside them by name alone, others in folders not at all."""
    # At most so much that a file is seen to be too large; a size that lies is found by the reader.
    main = below["capability.json"](FILE_BYTES_MAX + 1) if "capability.json" in below else b""
    named = list_named_paths(main)
    files: dict[str, bytes | str] = {}
    for name, read in below.items():
        if name in BUNDLE_FILES or name in EVALUATION_FILES or is_in_folder(name) or name in named:
            files[name] = read_content(name, read)
        elif "/" not in name:
            files[name] = ""
    return files
