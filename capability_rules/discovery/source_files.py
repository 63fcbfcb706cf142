"""The files of a source, and what is there and cannot be taken: links, submodules, LFS pointers, unreadable files.

What is wrong with one file is said of the bundle that has it, and stops no other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from capability_rules.bundles.archives import ArchiveReader
from capability_rules.bundles.bundle_reader import LEADS_NOWHERE, explain_unreadable, file_reader
from capability_rules.bundles.problem import BUNDLE_FILES
from capability_rules.bundles.supporting_files import IGNORED_FOLDERS, JUNK_FILES
from capability_rules.errors import SourceUnreadable

_MAIN_FILES: Final = frozenset(BUNDLE_FILES)
# A folder or a repository may be large; beyond this it is probably the wrong one.
FOLDER_ENTRIES_MAX: Final = 50_000
LEADS_OUT: Final = "it is a link that leads out of the source"
SUBMODULE: Final = "it is a submodule, whose files are in a repository of their own: import that by its address"
_SUBMODULE_PATH: Final = re.compile(r"^\s*path\s*=\s*(\S.{0,500}?)\s*$", re.MULTILINE)
_GITMODULES_MAX: Final = 10
_GITMODULES_BYTES_MAX: Final = 64 * 1024
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_LFS_POINTER_BYTES_MAX: Final = 1024
_IS_LFS_POINTER: Final = "it is a Git LFS pointer and not the file: fetch it with git lfs pull, or send the file"


@dataclass
class SourceFiles:
    """Every file by its path. `odd` says why a file or a folder cannot be taken; such a file reads as empty. `links`
    are folders that are links to another folder of the source, each with its target; the root is the empty text."""

    files: dict[str, ArchiveReader] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def add_odd(self, name: str, reason: str, *, is_file: bool = True) -> None:
        """Note what cannot be taken; a file keeps its name."""
        self.odd[name] = reason
        if is_file:
            self.files[name] = lambda _: b""

    def add_link(self, name: str, target: str, read: ArchiveReader) -> None:
        """A link to a file of the source reads as that; where a SKILL.md, or a file of a bundle, is a link to another
        one, that one is found where it is."""
        last = name.rpartition("/")[2].lower()
        if last not in _MAIN_FILES or last != target.rpartition("/")[2].lower():
            self.files[name] = read


def guard_readers(source: SourceFiles) -> None:
    """Have each file that cannot be read, and each LFS pointer, noted once it is read; it reads as empty then."""
    for name, read in source.files.items():
        source.files[name] = _guarded(source, name, read)


def _guarded(source: SourceFiles, name: str, read: ArchiveReader) -> ArchiveReader:
    def guarded(most: int) -> bytes:
        try:
            content = read(most)
        except OSError as error:
            source.odd[name] = explain_unreadable(error)
            return b""
        if content.startswith(_LFS_POINTER) and len(content) < _LFS_POINTER_BYTES_MAX:
            source.odd[name] = _IS_LFS_POINTER
            return b""
        return content

    return guarded


def note_submodules(source: SourceFiles) -> None:
    """Name the submodules of which nothing is there, by the `.gitmodules` of a checkout or an archive."""
    listed = [name for name in source.files if name == ".gitmodules" or name.endswith("/.gitmodules")]
    for name in listed[:_GITMODULES_MAX]:
        text = source.files[name](_GITMODULES_BYTES_MAX).decode("utf-8", "replace")
        for path in _SUBMODULE_PATH.findall(text):
            place = f"{name.removesuffix('.gitmodules')}{path.strip('/')}"
            if not any(each.startswith(f"{place}/") for each in source.files):
                source.add_odd(place, SUBMODULE, is_file=False)


def read_folder(folder: Path, path: str) -> SourceFiles:
    """Every file below a folder, but for what no author means: caches, checkouts of tools.

    Raises `SourceUnreadable` for too many.
    """
    found = SourceFiles()
    root = folder.resolve()

    def note(error: OSError) -> None:
        name = Path(error.filename).relative_to(folder).as_posix()
        found.add_odd(name, explain_unreadable(error), is_file=False)

    for place, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if name not in IGNORED_FOLDERS)
        for name in folders:
            _note_folder(found, Path(place) / name, folder, root)
        for name in sorted(names):
            if name not in JUNK_FILES:
                _note_file(found, Path(place) / name, folder, root)
        if len(found.files) > FOLDER_ENTRIES_MAX:
            raise SourceUnreadable(f"{path}: more than {FOLDER_ENTRIES_MAX:,} files; name a folder below it")
    return found


def _note_folder(found: SourceFiles, place: Path, folder: Path, root: Path) -> None:
    name = place.relative_to(folder).as_posix()
    if place.is_symlink():
        target = _target(place)
        if target is not None and target.is_relative_to(root):
            found.links[name] = "" if target == root else target.relative_to(root).as_posix()
        else:
            found.add_odd(name, LEADS_OUT, is_file=False)


def _note_file(found: SourceFiles, place: Path, folder: Path, root: Path) -> None:
    name = place.relative_to(folder).as_posix()
    target = _target(place)
    if target is None or (place.is_symlink() and target.is_relative_to(root) and not target.exists()):
        found.add_odd(name, LEADS_NOWHERE)
    elif not target.is_relative_to(root):
        found.add_odd(name, LEADS_OUT)
    elif not target.is_file():
        found.add_odd(name, "it is not a regular file")
    elif place.is_symlink():
        found.add_link(name, target.relative_to(root).as_posix(), file_reader(place))
    else:
        found.files[name] = file_reader(place)


def _target(place: Path) -> Path | None:
    """Where a path leads; None for a link to itself."""
    try:
        return place.resolve()
    except (OSError, RuntimeError):
        return None


def follow_links(source: SourceFiles, owners: Mapping[str, str]) -> None:
    """Give each bundle and skill the files of the folders that a link in it leads to; what cannot be is noted.

    A link outside of all of them is passed over: what it leads to is found where it is.
    """
    for link, target in sorted(source.links.items()):
        if not any(above in owners for above in parents(link)):
            continue
        below = f"{target}/" if target else ""
        if link == target or link.startswith(below):
            source.add_odd(link, f"it is a link to '{target or '.'}', which contains it", is_file=False)
        elif any(owner == target or owner.startswith(below) for owner in owners):
            source.add_odd(link, f"it is a link to '{target}', which is imported by itself", is_file=False)
        else:
            copied = {name: read for name, read in source.files.items() if name.startswith(below)}
            if len(source.files) + len(copied) > FOLDER_ENTRIES_MAX:
                source.add_odd(link, "it is a link to too many files", is_file=False)
                continue
            for name, read in copied.items():
                source.files[f"{link}/{name[len(below) :]}"] = read


def parents(folder: str) -> list[str]:
    """The parents of a path, the nearest first, the root last."""
    found = []
    while folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return found
