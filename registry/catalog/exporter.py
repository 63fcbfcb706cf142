"""Capabilities as files of a bundle or of an Agent Skill, in a folder or an archive (docs/contract.md 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal

from django.utils.module_loading import import_string

from capability_kit.bundles.digest import bytes_digest
from capability_kit.bundles.skill_names import skill_name_of
from capability_kit.text.files import UnnamedFile
from capability_rules.agent_skills.embedded_files import FOLDER, FRONT_MATTER, JSON_FILES
from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.bundles.archives import write_tar_gz_into, write_zip_into
from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX
from capability_rules.bundles.supporting_files import FOLDERS, METADATA_KEY, find_supporting_files, list_named_paths
from capability_rules.bundles.text import is_binary
from capability_rules.validation import BUNDLE_FILES, validate_bundle
from registry.catalog.assessment import assess_report
from registry.common.errors import StatusConflict
from registry.core.file_contents import FileBytes, list_held_digests
from registry.core.queries import LOADABLE_STATUSES, read_files
from registry.feature import installed_features
from registry.models import Capability, Revision

Format = Literal["bundle", "agent-skill"]
FORMATS: Final[tuple[Format, ...]] = ("bundle", "agent-skill")
# What an earlier export may have left in a folder; nothing else there is ever touched.
_BUNDLE_FILE_NAMES: Final[dict[Format, tuple[str, ...]]] = {
    "bundle": BUNDLE_FILES,
    "agent-skill": ("SKILL.md", *(f"{FOLDER}/{name}" for name in (*JSON_FILES, FRONT_MATTER))),
}


@dataclass(frozen=True)
class Export:
    """`folder` is the name that a folder of these files has; an Agent Skill's is its name."""

    capability_id: str
    format: Format
    folder: str
    files: dict[str, str]

    def write_zip(self, target: IO[bytes]) -> None:
        """The same bytes for the same content: a bundle in its folder, SKILL.md at the root, where clients look."""
        write_zip_into(target, self._entries().items(), compress=self.format == "bundle")

    def write_tar_gz(self, target: IO[bytes]) -> None:
        """As `write_zip`."""
        write_tar_gz_into(target, self._entries().items())

    def open_zip(self) -> IO[bytes]:
        """As `write_zip`, as a file without a name, to be closed by its reader."""
        return open_written(self.write_zip)

    def _entries(self) -> FileBytes:
        prefix = f"{self.folder}/" if self.format == "bundle" else ""
        return FileBytes({f"{prefix}{name}": text for name, text in self.files.items()})


def open_written(write: Callable[[IO[bytes]], None]) -> IO[bytes]:
    """What `write` writes, on disk where it is large, from its start."""
    file = UnnamedFile()
    write(file)
    file.seek(0)
    return file


def export_capability(capability: Capability, *, format_: Format = "bundle", draft: bool = False) -> Export:
    """What is published, or the draft.

    Raises `StatusConflict` where nothing is published, or where a draft is too broken to be an Agent Skill;
    `DraftNotFound`.
    """
    files = read_files(capability, draft=draft)
    capability_id = capability.capability_id
    more = _files_of_features(capability)
    if format_ == "bundle":
        return Export(capability_id, format_, capability_id, _ordered(files) | more)
    report = assess_report(validate_bundle(files))
    if report.bundle is None or (draft and not report.ok):
        raise StatusConflict(f"The texts of '{capability_id}' have errors; export them with --format bundle")
    return Export(capability_id, format_, skill_name_of(capability_id), export_skill_files(report.bundle) | more)


def _files_of_features(capability: Capability) -> dict[str, str]:
    paths = (feature.export_files for feature in installed_features() if feature.export_files)
    return {name: text for path in paths for name, text in import_string(path)(capability).items()}


def export_revision(revision: Revision) -> Export:
    """The files of one revision, as they were published."""
    capability_id = revision.capability.capability_id
    return Export(capability_id, "bundle", capability_id, _ordered(revision.files))


def _ordered(files: dict[str, str]) -> dict[str, str]:
    """The four bundle files, then the supporting files."""
    return {name: files[name] for name in BUNDLE_FILES if name in files} | find_supporting_files(files)


def export_all(*, format_: Format = "bundle") -> Iterator[Export]:
    """Every capability that readers can load, ordered by id."""
    found = (
        Capability.objects.filter(status__in=LOADABLE_STATUSES)
        .select_related("published_revision")
        .order_by("capability_id")
    )
    for capability in found.iterator(chunk_size=50):
        yield export_capability(capability, format_=format_)


def write_export(export: Export, target: Path) -> None:
    """Write to a `.zip`, a `.tar.gz` or `.tgz`, or a folder; obsolete files of an earlier export are removed.

    Raises OSError.
    """
    if target.suffix == ".zip" or target.name.endswith((".tar.gz", ".tgz")):
        write = export.write_zip if target.suffix == ".zip" else export.write_tar_gz
        with target.open("w+b") as file:
            write(file)
        return
    for name, content in FileBytes(export.files).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
    earlier = (place.relative_to(target).as_posix() for folder in FOLDERS for place in (target / folder).rglob("*"))
    held = list_held_digests(export.capability_id)
    for name in (*_BUNDLE_FILE_NAMES[export.format], *earlier, *_previously_listed_files(export.capability_id)):
        if name not in export.files and _is_exported(target / name, held):
            (target / name).unlink()


def _previously_listed_files(capability_id: str) -> frozenset[str]:
    """Every path outside of the three folders that a release has named; most capabilities have none."""
    found = Revision.objects.filter(capability__capability_id=capability_id, capability_json__contains=METADATA_KEY)
    texts = found.values_list("capability_json", flat=True)
    return frozenset(name for text in texts for name in list_named_paths(text or ""))


def _is_exported(place: Path, held: frozenset[str]) -> bool:
    """Whether the file can come from an earlier export: it is text, or a file that the capability has had; a folder may
    hold other pictures."""
    try:
        if place.stat().st_size > CONTENT_BYTES_MAX:
            return False
        content = place.read_bytes()
    except OSError:
        return False
    return not is_binary(content) or bytes_digest(content) in held


def unmanaged_folders(target: Path, folders: set[str]) -> list[str]:
    """Folders with a bundle or a skill below `target` that are none of `folders`: retired since, or never ours."""
    marks = ("capability.json", "SKILL.md")
    return sorted(
        place.name
        for place in target.iterdir()
        if place.is_dir() and place.name not in folders and any((place / mark).is_file() for mark in marks)
    )
