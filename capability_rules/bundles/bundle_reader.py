"""Where bundles come from: folders and zips, read with limits, never trusted (docs/contract.md 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Final

from capability_kit.errors import describe_exception
from capability_rules.bundles.archives import ARCHIVE_BYTES_MAX, ENTRIES_MAX, ArchiveReader, FileData, zip_members
from capability_rules.bundles.content_spool import ContentSpool
from capability_rules.bundles.file_pointer import CAPABILITY_BYTES_MAX, CONTENT_BYTES_MAX
from capability_rules.bundles.problem import BUNDLE_FILES
from capability_rules.bundles.supporting_files import (
    EVALUATION_FILES,
    FOLDERS,
    JUNK_FILES,
    is_in_folder,
    list_named_paths,
)
from capability_rules.bundles.text import BUNDLE_BYTES_MAX, FILE_BYTES_MAX, is_binary
from capability_rules.errors import SourceUnreadable

# Stands for a file of which the name alone was read; one that is empty is empty bytes.
UNREAD: Final = ""
LEADS_NOWHERE: Final = "it is a link that leads nowhere"


@dataclass(frozen=True, slots=True)
class SourceBundle:
    """The raw files of one bundle. `path` is what the caller named, or the member folder below it.

    Files that are not part of a bundle are `UNREAD`: only their names are reported. `folder` is the name
    of the folder that contained the files, empty where that means nothing. `as_id` is the capability_id that an Agent
    Skill is to have, whatever its name is. `odd` are files and folders that could not be taken, each with the reason in
    words; `inner` the folders in a skill that are skills of their own. `contents` has the bytes of what is kept by its
    digest, of which `files` has the pointers.
    """

    path: str
    files: Mapping[str, bytes | str]
    folder: str = ""
    as_id: str = ""
    odd: Mapping[str, str] = field(default_factory=dict)
    inner: tuple[str, ...] = ()
    contents: ContentSpool | None = None


def read_bundle(path: str) -> list[SourceBundle]:
    """The bundles at a PATH: a bundle folder, a zip, or a folder whose subfolders are bundles.

    Raises `SourceUnreadable` where there is none, or for an archive that breaks a rule.
    """
    place = Path(path)
    try:
        if place.is_dir():
            return _read_folder(place, path)
        if place.is_file():
            with open_archive(place) as archive:
                return read_bundle_zip(archive, path)
    except OSError as error:
        raise SourceUnreadable(f"{path}: {error.strerror or error}") from None
    raise SourceUnreadable(f"{path}: there is no such file or folder")


def open_archive(place: Path) -> IO[bytes]:
    """The file, to be closed. Raises `SourceUnreadable` for one that is too large, before it is read."""
    require_archive_size(place.stat().st_size, str(place))
    return place.open("rb")


def require_archive_size(size: int, path: str) -> None:
    """Raises `SourceUnreadable` for more bytes than an archive may have."""
    if size > ARCHIVE_BYTES_MAX:
        raise SourceUnreadable(f"{path}: an archive has at most {ARCHIVE_BYTES_MAX >> 20} MiB")


def _read_folder(folder: Path, path: str) -> list[SourceBundle]:
    spool = ContentSpool()
    own, odd = _folder_files(folder, spool)
    if any(name in BUNDLE_FILES for name in (*own, *odd)):
        return [SourceBundle(path, own, odd=odd, contents=spool)]
    found = []
    for member in sorted(folder.iterdir()):
        if member.is_dir() and member.name not in JUNK_FILES:
            files, odd = _folder_files(member, spool)
            if any(name in BUNDLE_FILES for name in (*files, *odd)):
                found.append(SourceBundle(str(PurePosixPath(path) / member.name), files, odd=odd, contents=spool))
    if not found:
        raise SourceUnreadable(f"{path}: no bundle here. A bundle is a folder with {', '.join(BUNDLE_FILES)}")
    return found


def _folder_files(folder: Path, spool: ContentSpool) -> tuple[dict[str, bytes | str], dict[str, str]]:
    """A bundle's files with their content, others by name alone; and what cannot be taken, with the reason. A link must
    not lead to what is none of ours."""
    files: dict[str, bytes | str] = {}
    odd: dict[str, str] = {}
    room = Room()
    for name in _part_names(folder):
        if name in files or name in odd:
            continue
        if len(files) > ENTRIES_MAX:
            # Too many are seen to be too many.
            break
        if (folder / name).is_file():
            if not (folder / name).resolve().is_relative_to(folder.resolve()):
                odd[name] = "it is a link that leads out of its folder"
                continue
            try:
                files[name] = read_content(name, file_reader(folder / name), spool, room)
            except OSError as error:
                odd[name] = explain_unreadable(error)
                continue
        elif (folder / name).is_symlink():
            odd[name] = LEADS_NOWHERE
    others = sorted(member.name for member in folder.iterdir() if member.name not in {*JUNK_FILES, *BUNDLE_FILES})
    others = [name for name in others if name not in files and name not in odd]
    return files | {name: UNREAD for name in others[:ENTRIES_MAX] if (folder / name).is_file()}, odd


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


@dataclass
class Room:
    """How many bytes of texts a bundle still takes; what does not fit is kept by its digest."""

    texts: int = BUNDLE_BYTES_MAX
    contents: int = CAPABILITY_BYTES_MAX


def read_content(name: str, read: ArchiveReader, spool: ContentSpool, room: Room) -> bytes | str:
    """The file, or the pointer to what is not text, is larger than a text may be, or than there is room for; of one of
    the four, just enough to detect that it is too large."""
    content = read(FILE_BYTES_MAX + 1)
    is_text = not is_binary(content) and len(content) <= min(FILE_BYTES_MAX, room.texts)
    if is_text or name in BUNDLE_FILES or name in EVALUATION_FILES:
        room.texts -= len(content)
        return content
    if room.contents < 0:
        # Past what a capability may have all of it is refused.
        return UNREAD
    content = read(CONTENT_BYTES_MAX + 1)
    room.contents -= len(content)
    return spool.add(content)


def read_bundle_zip(data: FileData, path: str) -> list[SourceBundle]:
    """The bundles of a zip: at its root, or in its top folders. Raises `SourceUnreadable` that names the entry."""
    spool = ContentSpool()
    bundles = {folder: _members_of(below, spool) for folder, below in _by_folder(zip_members(data, path)).items()}
    if "" in bundles:
        return [SourceBundle(path, bundles[""], contents=spool)]
    if not bundles:
        raise SourceUnreadable(f"{path}: no bundle in this zip. A bundle has {', '.join(BUNDLE_FILES)}")
    if len(bundles) == 1:
        return [SourceBundle(path, next(iter(bundles.values())), contents=spool)]
    return [SourceBundle(f"{path}/{folder}", files, contents=spool) for folder, files in sorted(bundles.items())]


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


def _members_of(below: Mapping[str, ArchiveReader], spool: ContentSpool) -> dict[str, bytes | str]:
    """A bundle's files with their content, others beside them by name alone, others in folders not at all."""
    # At most so much that a file is seen to be too large; a size that lies is found by the reader.
    main = below["capability.json"](FILE_BYTES_MAX + 1) if "capability.json" in below else b""
    named = list_named_paths(main)
    files: dict[str, bytes | str] = {}
    room = Room()
    for name, read in sorted(below.items(), key=lambda member: member[0] not in BUNDLE_FILES):
        if name in BUNDLE_FILES or name in EVALUATION_FILES or is_in_folder(name) or name in named:
            files[name] = read_content(name, read, spool, room)
        elif "/" not in name:
            files[name] = UNREAD
    return files
