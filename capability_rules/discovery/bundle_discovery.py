"""Where bundles are: folders, archives, a bare SKILL.md, searched to any depth (docs/contract.md 5)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.agent_skills.importer import find_supporting_texts, import_priority, import_skill, skill_file_name
from capability_rules.bundles.archives import (
    ENTRIES_MAX,
    ArchiveReader,
    FileData,
    read_members,
    reader_of,
)
from capability_rules.bundles.bundle_reader import UNREAD, Room, SourceBundle, file_reader, open_archive, read_content
from capability_rules.bundles.content_spool import ContentSpool
from capability_rules.bundles.file_pointer import CAPABILITY_BYTES_MAX, CONTENT_BYTES_MAX
from capability_rules.bundles.supporting_files import (
    COUNT_MAX,
    EVALUATION_FILES,
    IGNORED_FOLDERS,
    JUNK_FILES,
    RESERVED,
    is_in_folder,
    list_named_paths,
    path_error,
)
from capability_rules.bundles.text import BUNDLE_BYTES_MAX, FILE_BYTES_MAX
from capability_rules.discovery.playbook_records import RECORDS_BYTES_MAX, read_playbook_records
from capability_rules.discovery.source_files import (
    SourceFiles,
    follow_links,
    guard_readers,
    note_submodules,
    parents,
    read_folder,
)
from capability_rules.errors import InvalidRequest, SourceUnreadable
from capability_rules.validation import BUNDLE_FILES

# Of all bundles of a source together, which are in memory at a time. What was read of one last bundle comes on top.
SOURCE_BYTES_MAX: Final = 128 * 1024 * 1024
# Folders of what is not released yet, or not any more.
_SECONDARY: Final = frozenset(
    ("preview", "previews", "beta", "experimental", "draft", "drafts", "archive", "archived", "deprecated", "legacy")
)
# Of what could not be taken, those that a refusal names.
_ODD_NAMED_MAX: Final = 5


def discover_bundles(source: str) -> list[SourceBundle]:
    """The bundles and Agent Skills at a SOURCE, ordered by path, those in folders such as `preview` last.

    Raises `SourceUnreadable` where there is none, or where the source breaks a rule.
    """
    place = Path(source)
    try:
        if place.is_dir():
            return discover_in_tree(read_folder(place, source), source, place.resolve().name)
        if place.is_file() and place.name.lower() == "skill.md":
            return _folder_of_file(place, source)
        if place.is_file() and place.suffix.lower() == ".md":
            return [SourceBundle(source, {"SKILL.md": file_reader(place)(FILE_BYTES_MAX + 1)})]
        if place.is_file() and place.suffix.lower() == ".json":
            return read_playbook_records(file_reader(place)(RECORDS_BYTES_MAX), source)
        if place.is_file():
            with open_archive(place) as archive:
                return discover_in_archive(archive, source)
    except OSError as error:
        raise SourceUnreadable(f"{source}: {error.strerror or error}") from None
    raise SourceUnreadable(f"{source}: there is no such file or folder")


def _folder_of_file(place: Path, source: str) -> list[SourceBundle]:
    """The skill of a SKILL.md with the files beside it, as if its folder had been named; not those inside of it."""
    folder = place.resolve().parent
    own = [found for found in discover_in_tree(read_folder(folder, source), "", folder.name) if not found.path]
    return [replace(found, path=source) for found in own]


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


def discover_in_archive(data: FileData, path: str) -> list[SourceBundle]:
    """As `discover_bundles` for a zip, a tar or a tar.gz."""
    found = discover_in_tree(SourceFiles(dict(read_members(data, path))), path, "")
    return [replace(found[0], path=path)] if len(found) == 1 else found


def discover_in_files(files: Mapping[str, FileData], path: str) -> list[SourceBundle]:
    """As `discover_bundles` for open files, or bytes, by their paths in a folder."""
    found = discover_in_tree(SourceFiles({name: reader_of(data) for name, data in files.items()}), path, "")
    return [replace(found[0], path=path)] if len(found) == 1 else found


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


def _is_secondary(folder: str) -> bool:
    """Whether it is below a folder of what is not current: of two bundles with one id the first one is taken."""
    return any(step.lower() in _SECONDARY for step in folder.split("/")[:-1])


def discover_in_tree(source: SourceFiles, path: str, root_name: str) -> list[SourceBundle]:
    """As `discover_bundles` for files that can be read by their paths; `root_name` names the folder of the first."""
    guard_readers(source)
    note_submodules(source)
    if source.links:
        follow_links(source, _owners(_tree(source.files)))
    tree = _tree(source.files)
    owners = _owners(tree)
    below = _below(tree, owners)
    found: list[SourceBundle] = []
    held, spool = 0, ContentSpool()
    for folder, kind in sorted(owners.items(), key=lambda owner: (_is_secondary(owner[0]), owner[0])):
        name = folder.rpartition("/")[2] or root_name
        names = tree.folders[folder]
        own = below[folder]
        reader = _SkillReader(source, folder, own, spool)
        content = _skill_files(names, reader, name) if kind == "skill" else _bundle_files(names, own, spool)
        held += sum(map(len, content.values()))
        if held > SOURCE_BYTES_MAX:
            raise SourceUnreadable(
                f"{path}: its bundles have more than {SOURCE_BYTES_MAX >> 20} MiB of texts; import some of its folders"
            )
        odd = _odd_of(source, folder, owners) | reader.too_large
        taken = {each: text for each, text in content.items() if each not in odd or kind == "skill" or "/" not in each}
        inside = (one for one in owners if kind == "skill" and folder in parents(one))
        inner = sorted(one[len(folder) :].lstrip("/") for one in inside)
        own_path = "/".join(part for part in (path.rstrip("/"), folder) if part) if folder else path
        found.append(SourceBundle(own_path, taken, name, odd=odd, inner=tuple(inner), contents=spool))
    if not found:
        words = f"{path}: no bundle and no SKILL.md here. A bundle has {', '.join(BUNDLE_FILES)}"
        raise SourceUnreadable(". ".join([words, *_left_out(source)]))
    return found


def _odd_of(source: SourceFiles, folder: str, owners: Mapping[str, str]) -> dict[str, str]:
    """What could not be taken of one bundle, by its path there. Of what is in none of them, a folder is said of the
    first: there may have been bundles in it."""
    found: dict[str, str] = {}
    first = min(owners)
    for name, reason in source.odd.items():
        owner = next((above for above in parents(name) if above in owners), None)
        if owner == folder:
            found[name[len(folder) :].lstrip("/")] = reason
        elif owner is None and folder == first and name not in source.files:
            found["../" * len(parents(folder)) + name] = reason
    return dict(sorted(found.items()))


def _left_out(source: SourceFiles) -> list[str]:
    """What may have been one."""
    named = [f"{name[:200]}: {reason}" for name, reason in list(source.odd.items())[:_ODD_NAMED_MAX]]
    named += [f"{len(source.odd) - _ODD_NAMED_MAX:,} more"] if len(source.odd) > _ODD_NAMED_MAX else []
    return [f"Left out: {'; '.join(named)}"] if named else []


def _owners(tree: _Tree) -> dict[str, str]:
    """The folders that are a bundle or a skill, each with its kind. A skill may contain skills; its other files are its
    own, whatever they are called, and a part of a bundle counts at the root and one level below alone."""
    owners: dict[str, str] = {}
    for folder in sorted(tree.folders):
        kind = tree.kind(folder)
        is_inside = any(above in owners for above in parents(folder))
        if kind == "skill" or (not is_inside and (kind == "bundle" or (kind == "part" and "/" not in folder))):
            owners[folder] = kind
    return owners


def _below(tree: _Tree, owners: Mapping[str, str]) -> dict[str, dict[str, ArchiveReader]]:
    """The files of each owner by their paths in it: a skill's without those of the skills inside of it."""
    found: dict[str, dict[str, ArchiveReader]] = {owner: {} for owner in owners}
    for folder, files in tree.folders.items():
        around = [place for place in (folder, *parents(folder)) if place in owners]
        for owner in around:
            if owner == around[0] or owners[owner] != "skill":
                inner = folder[len(owner) :].lstrip("/")
                found[owner] |= {f"{inner}/{name}" if inner else name: read for name, read in files.items()}
    return found


@dataclass
class _SkillReader:
    """The files of one skill, by their paths in its folder; why one is too large is noted."""

    source: SourceFiles
    folder: str
    own: Mapping[str, ArchiveReader]
    spool: ContentSpool
    too_large: dict[str, str] = field(default_factory=dict)
    left: int = CAPABILITY_BYTES_MAX

    def read(self, name: str) -> bytes | str:
        """The file, or what is enough to see that it is too large for a text; UNREAD for one that cannot be taken."""
        content = self.own[name](FILE_BYTES_MAX + 1)
        return UNREAD if f"{self.folder}/{name}".lstrip("/") in self.source.odd else content

    def keep(self, name: str) -> str | None:
        """The pointer to it, with its bytes in the spool; None where it is empty or cannot be kept."""
        most = min(CONTENT_BYTES_MAX, self.left)
        content = self.own[name](most + 1)
        if len(content) > most:
            one, all_ = CONTENT_BYTES_MAX >> 20, CAPABILITY_BYTES_MAX >> 20
            is_large = most == CONTENT_BYTES_MAX
            self.too_large[name] = f"it has over {one} MiB" if is_large else f"all files have over {all_} MiB"
            return None
        self.left -= len(content)
        return self.spool.add(content) if content else None


def _bundle_files(
    names: Mapping[str, ArchiveReader], below: Mapping[str, ArchiveReader], spool: ContentSpool
) -> dict[str, bytes | str]:
    wanted = {*BUNDLE_FILES, skill_file_name(names)}
    files: dict[str, bytes | str] = {name: names[name](FILE_BYTES_MAX + 1) for name in names if name in wanted}
    others = sorted(set(names) - set(files))[:ENTRIES_MAX]
    return files | dict.fromkeys(others, UNREAD) | _bundle_supporting(below, files, spool)


def _bundle_supporting(
    below: Mapping[str, ArchiveReader], four: Mapping[str, bytes | str], spool: ContentSpool
) -> dict[str, bytes | str]:
    """With their content, as many as a bundle may have: what is past that is named alone."""
    found: dict[str, bytes | str] = {}
    room = Room(BUNDLE_BYTES_MAX - sum(map(len, four.values())))
    named = {*EVALUATION_FILES, *list_named_paths(four.get("capability.json", ""))}
    for name in sorted(name for name in below if (is_in_folder(name) or name in named) and name not in four):
        found[name] = read_content(name, below[name], spool, room) if len(found) <= COUNT_MAX else UNREAD
    return found


def _skill_files(names: Mapping[str, ArchiveReader], reader: _SkillReader, folder: str) -> dict[str, bytes | str]:
    """SKILL.md, its supporting files, and the names of everything else but of the skills inside."""
    main, own = skill_file_name(names), reader.own
    first = [name for name in own if name == main or name.lower() in RESERVED]
    files: dict[str, bytes | str] = {name: own[name](FILE_BYTES_MAX + 1) for name in first}
    beside = sorted((name for name in own if name not in files and not path_error(name)), key=import_priority)
    # Read as they are chosen: of a tree of any size no more is loaded than a bundle may have.
    # One that cannot be named yet may be given an id by who imports it.
    named = (SourceBundle("", files, folder, as_id) for as_id in ("", "x"))
    four = next(filter(None, (import_skill(each).files for each in named)), None) if beside else None
    chosen: dict[str, str] = {}
    if four is not None:
        chosen = find_supporting_texts(beside[:ENTRIES_MAX], reader.read, four, reader.keep)
    return dict.fromkeys(own, UNREAD) | files | {name: text or b"" for name, text in chosen.items()}
