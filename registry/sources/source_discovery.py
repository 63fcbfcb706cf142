"""Where imports come from: folders, archives, a bare SKILL.md and git, searched to any depth (docs/contract.md 5)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from agent_client.bundles.bundle import is_capability_id
from registry.agent_skills.importer import find_supporting_texts, import_priority, import_skill, skill_file_name
from registry.bundles.archives import ARCHIVE_BYTES_MAX, ENTRIES_MAX, ArchiveReader, read_members
from registry.bundles.bundle_reader import SourceBundle, build_archive, file_reader, read_content
from registry.bundles.supporting_files import (
    COUNT_MAX,
    IGNORED_FOLDERS,
    JUNK_FILES,
    RESERVED,
    is_in_folder,
    list_named_paths,
    path_error,
)
from registry.bundles.text import BUNDLE_BYTES_MAX, FILE_BYTES_MAX, NOT_TEXT
from registry.common.errors import InvalidRequest, SourceUnreadable
from registry.sources import git_reader
from registry.sources.playbook_records import read_playbook_records
from registry.validation import BUNDLE_FILES

# A folder or a repository may be large; beyond this it is probably the wrong one.
FOLDER_ENTRIES_MAX: Final = 50_000
# Of all bundles of a source together, which are in memory at a time. What was read of one last bundle comes on top.
SOURCE_BYTES_MAX: Final = 128 * 1024 * 1024


def discover_bundles(source: str) -> list[SourceBundle]:
    """The bundles and Agent Skills at a SOURCE, ordered by path.

    Raises `SourceUnreadable` where there is none, or where the source breaks a rule.
    """
    if git_reader.is_git_url(source):
        return discover_in_git(source)[0]
    place = Path(source)
    try:
        if place.is_dir():
            return _found(_folder_files(place, source), source, place.resolve().name)
        if place.is_file() and place.suffix.lower() == ".md":
            return [SourceBundle(source, {"SKILL.md": file_reader(place)(FILE_BYTES_MAX + 1)})]
        if place.is_file() and place.suffix.lower() == ".json":
            return read_playbook_records(file_reader(place)(ARCHIVE_BYTES_MAX), source)
        if place.is_file():
            return discover_in_archive(build_archive(place), source)
    except OSError as error:
        raise SourceUnreadable(f"{source}: {error.strerror or error}") from None
    raise SourceUnreadable(f"{source}: there is no such file or folder")


def require_id(as_id: str) -> None:
    """Raises `InvalidRequest` for what is not a capability_id; empty is none."""
    if as_id and not is_capability_id(as_id):
        raise InvalidRequest(f"The id '{as_id[:80]}' must be lower-case words joined by _, at most 64 characters")


def with_id(sources: Sequence[SourceBundle], as_id: str) -> list[SourceBundle]:
    """The one Agent Skill of a source, with the capability_id that it is to have; without one, all as they are.

    Raises `InvalidRequest` for another id, for several skills, and for a bundle, which says its own id.
    """
    require_id(as_id)
    if not as_id:
        return list(sources)
    if len(sources) != 1:
        raise InvalidRequest(
            f"The id '{as_id}' is for one skill, and there are {len(sources):,}; name the folder of one"
        )
    if "capability.json" in sources[0].files:
        raise InvalidRequest(f"The id '{as_id}' is for an Agent Skill; capability.json has the id of a bundle")
    return [replace(sources[0], as_id=as_id)]


def discover_in_git(source: str) -> tuple[list[SourceBundle], str]:
    """As `read_source` for a git SOURCE, and the commit that was read."""
    with git_reader.open_repository(source) as repository:
        return _found(repository.files, source, git_reader.folder_name(source)), repository.commit


def discover_in_archive(data: bytes, path: str) -> list[SourceBundle]:
    """As `read_source` for a zip, a tar or a tar.gz."""
    found = _found(read_members(data, path), path, "")
    return [SourceBundle(path, found[0].files, found[0].folder)] if len(found) == 1 else found


def discover_in_files(files: Mapping[str, bytes], path: str) -> list[SourceBundle]:
    """As `read_source` for files that are in memory, by their paths in a folder."""
    found = _found({name: _held_reader(data) for name, data in files.items()}, path, "")
    return [SourceBundle(path, found[0].files, found[0].folder)] if len(found) == 1 else found


def _held_reader(data: bytes) -> ArchiveReader:
    return lambda most: data[:most]


def _folder_files(folder: Path, path: str) -> dict[str, ArchiveReader]:
    """Every file below a folder. Raises `SourceUnreadable` for a link that leads out of it, and for too many."""
    files: dict[str, ArchiveReader] = {}
    root = folder.resolve()
    for place in walk_folder(folder):
        name = place.relative_to(folder).as_posix()
        if place.is_symlink() and not place.resolve().is_relative_to(root):
            raise SourceUnreadable(f"{path}: {name} is a link that leads out of its folder")
        if place.is_file():
            files[name] = file_reader(place)
        if len(files) > FOLDER_ENTRIES_MAX:
            raise SourceUnreadable(f"{path}: more than {FOLDER_ENTRIES_MAX:,} files; name a folder below it")
    return files


def walk_folder(folder: Path) -> Iterator[Path]:
    """Every file below a folder, in order, but for what no author means: caches, checkouts of tools."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in IGNORED_FOLDERS)
        yield from (Path(place) / name for name in sorted(names) if name not in JUNK_FILES)


@dataclass(frozen=True)
class _Tree:
    """The files of a source, by the folder that contains each; the root is the empty text."""

    folders: Mapping[str, Mapping[str, ArchiveReader]]

    def kind(self, folder: str) -> str:
        """`bundle`, `skill`, `part` (some of the four bundle files, no capability.json) or nothing."""
        names = self.folders[folder]
        if "capability.json" in names:
            return "bundle"
        if skill_file_name(names) and not ("skill.md" in names and any(name in names for name in BUNDLE_FILES[2:])):
            return "skill"
        return "part" if any(name in names for name in BUNDLE_FILES) else ""


def _tree(files: Mapping[str, ArchiveReader]) -> _Tree:
    folders: dict[str, dict[str, ArchiveReader]] = {}
    for name, read in files.items():
        if not any(step in IGNORED_FOLDERS for step in name.split("/")):
            folder, _, last = name.rpartition("/")
            folders.setdefault(folder, {})[last] = read
    return _Tree(folders)


def _found(files: Mapping[str, ArchiveReader], path: str, root_name: str) -> list[SourceBundle]:
    tree = _tree(files)
    owners = _owners(tree)
    below = _below(tree, owners)
    found: list[SourceBundle] = []
    held = 0
    for folder, kind in sorted(owners.items()):
        name = folder.rpartition("/")[2] or root_name
        names = tree.folders[folder]
        own = below[folder]
        content = _skill_files(names, own, name) if kind == "skill" else _bundle_files(names, own)
        held += sum(map(len, content.values()))
        if held > SOURCE_BYTES_MAX:
            raise SourceUnreadable(
                f"{path}: its bundles have more than {SOURCE_BYTES_MAX >> 20} MiB of texts; import some of its folders"
            )
        found.append(SourceBundle(f"{path.rstrip('/')}/{folder}" if folder else path, content, name))
    if not found:
        raise SourceUnreadable(f"{path}: no bundle and no SKILL.md here. A bundle has {', '.join(BUNDLE_FILES)}")
    return found


def _owners(tree: _Tree) -> dict[str, str]:
    """The folders that are a bundle or a skill, each with its kind. A skill may contain skills; its other files are its
    own, whatever they are called, and a part of a bundle counts at the root and one level below alone."""
    owners: dict[str, str] = {}
    for folder in sorted(tree.folders):
        kind = tree.kind(folder)
        is_inside = any(above in owners for above in _above(folder))
        if kind == "skill" or (not is_inside and (kind == "bundle" or (kind == "part" and "/" not in folder))):
            owners[folder] = kind
    return owners


def _above(folder: str) -> Iterator[str]:
    """The parents of a folder, the nearest first, the root last."""
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _below(tree: _Tree, owners: Mapping[str, str]) -> dict[str, dict[str, ArchiveReader]]:
    """The files of each owner by their paths in it: a skill's without those of the skills inside of it."""
    found: dict[str, dict[str, ArchiveReader]] = {owner: {} for owner in owners}
    for folder, files in tree.folders.items():
        around = [place for place in (folder, *_above(folder)) if place in owners]
        for owner in around:
            if owner == around[0] or owners[owner] != "skill":
                inner = folder[len(owner) :].lstrip("/")
                found[owner] |= {f"{inner}/{name}" if inner else name: read for name, read in files.items()}
    return found


def _bundle_files(names: Mapping[str, ArchiveReader], below: Mapping[str, ArchiveReader]) -> dict[str, bytes | str]:
    wanted = {*BUNDLE_FILES, skill_file_name(names)}
    files: dict[str, bytes | str] = {name: names[name](FILE_BYTES_MAX + 1) for name in names if name in wanted}
    others = sorted(set(names) - set(files))[:ENTRIES_MAX]
    return files | dict.fromkeys(others, "") | _bundle_supporting(below, files)


def _bundle_supporting(below: Mapping[str, ArchiveReader], four: Mapping[str, bytes | str]) -> dict[str, bytes | str]:
    """With their content, as far as a bundle may be large: what is past that is named alone."""
    found: dict[str, bytes | str] = {}
    left, room = BUNDLE_BYTES_MAX, COUNT_MAX
    named = list_named_paths(four.get("capability.json", ""))
    for name in sorted(name for name in below if (is_in_folder(name) or name in named) and name not in four):
        found[name] = content = read_content(name, below[name]) if left >= 0 and room >= 0 else ""
        if content is not NOT_TEXT:
            left, room = left - len(content), room - 1
    return found


def _skill_files(
    names: Mapping[str, ArchiveReader], own: Mapping[str, ArchiveReader], folder: str
) -> dict[str, bytes | str]:
    """SKILL.md, its supporting files, and the names of everything else but of the skills inside."""
    main = skill_file_name(names)
    first = [name for name in own if name == main or name.lower() in RESERVED]
    files: dict[str, bytes | str] = {name: own[name](FILE_BYTES_MAX + 1) for name in first}
    beside = sorted((name for name in own if name not in files and not path_error(name)), key=import_priority)
    # Read as they are chosen: of a tree of any size no more is loaded than a bundle may have.
    # One that cannot be named yet may be given an id by who imports it.
    named = (SourceBundle("", files, folder, as_id) for as_id in ("", "x"))
    four = next(filter(None, (import_skill(each).files for each in named)), None) if beside else None
    chosen: dict[str, str] = {}
    if four is not None:
        chosen = find_supporting_texts(beside[:ENTRIES_MAX], lambda name: own[name](FILE_BYTES_MAX + 1), four)
    return dict.fromkeys(own, "") | files | chosen
