"""Several bundles or Agent Skills as drafts, all of them or none: what the Studio does with an upload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from capability_rules.bundles.archives import ARCHIVE_BYTES_MAX, ENTRIES_MAX, FileData, size_of
from capability_rules.bundles.bundle_reader import SourceBundle, require_archive_size
from capability_rules.discovery.bundle_discovery import discover_in_archive, discover_in_files
from capability_rules.errors import SourceUnreadable
from capability_rules.validation import Finding
from registry.common.actors import Actor
from registry.core.transactions import write_transaction
from registry.models import Capability
from registry.publishing import batch

BUNDLES_MAX: Final = 100
FINDINGS_SHOWN_MAX: Final = 50


@dataclass(frozen=True)
class ImportRow:
    """One bundle of an import. `is_known`: the registry has a capability of this id; `is_taken`: a draft could be
    made of it; `is_skipped`: it was left out because it is known."""

    path: str
    capability_id: str
    is_taken: bool
    is_known: bool
    findings: tuple[Finding, ...]
    is_skipped: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As a page shows it, and as a job keeps it."""
        return {
            "path": self.path,
            "capability_id": self.capability_id,
            "is_taken": self.is_taken,
            "is_known": self.is_known,
            "is_skipped": self.is_skipped,
            "findings": [each.as_dict() for each in self.findings[:FINDINGS_SHOWN_MAX]],
            "left_out": max(0, len(self.findings) - FINDINGS_SHOWN_MAX),
        }


@dataclass(frozen=True)
class ImportResult:
    """What came of it: with `is_stored` every line is a draft now, else none is."""

    is_stored: bool
    lines: tuple[ImportRow, ...]

    @property
    def known(self) -> tuple[str, ...]:
        """The ids that the registry has already."""
        return tuple(line.capability_id for line in self.lines if line.is_known)

    @property
    def has_losses(self) -> bool:
        """Whether there is anything to report about a row."""
        return any(line.findings for line in self.lines)


def import_archive(data: FileData, name: str) -> list[SourceBundle]:
    """The bundles of a zip, tar or tar.gz, or the Agent Skill of one Markdown file. Raises `SourceUnreadable`."""
    require_archive_size(size_of(data), name)
    if name.casefold().endswith(".md"):
        # Whatever it was saved as: its front matter says what it is called.
        return discover_in_files({"SKILL.md": data}, name)
    return discover_in_archive(data, name)


def import_files(files: Sequence[tuple[str, FileData]], name: str) -> list[SourceBundle]:
    """The bundles among the files of a folder, by their paths in it. Raises `SourceUnreadable`."""
    if len(files) > ENTRIES_MAX:
        raise SourceUnreadable(f"{name}: {len(files):,} files; at most {ENTRIES_MAX:,} are allowed")
    if sum(size_of(file) for _, file in files) > ARCHIVE_BYTES_MAX:
        raise SourceUnreadable(f"{name}: more than {ARCHIVE_BYTES_MAX >> 20} MiB")
    found: dict[str, FileData] = {}
    for path, file in files:
        steps = path.split("/")
        if path.startswith("/") or "\\" in path or "\0" in path or {"", ".", ".."} & set(steps):
            raise SourceUnreadable(f"{name}: the path {path[:100]!r} is invalid")
        if path in found:
            raise SourceUnreadable(f"{name}: {path[:100]} came twice; make an archive of the folder and import that")
        found[path] = file
    return discover_in_files(found, name)


def import_texts(texts: Mapping[str, str], name: str) -> list[SourceBundle]:
    """One bundle, or one Agent Skill where `SKILL.md` alone was pasted. Raises `SourceUnreadable` for nothing."""
    given = {file: text for file, text in texts.items() if text.strip()}
    if not given:
        raise SourceUnreadable("There is nothing to import: choose a file, or paste at least one")
    if set(given) == {"skill.md"}:
        given = {"SKILL.md": given["skill.md"]}
    return [SourceBundle(name, given)]


def import_all_or_none(
    sources: Sequence[SourceBundle], *, by: Actor, replace_existing: bool = False, skip_existing: bool = False
) -> ImportResult:
    """Store a draft of each, or of none where one of them cannot be one.

    A capability that is there already is refused unless `replace_existing`, by which its draft is discarded for 30
    days, or `skip_existing`, by which it stays as it is.
    Raises `SourceUnreadable` for more than `BUNDLES_MAX`.
    """
    if len(sources) > BUNDLES_MAX:
        raise SourceUnreadable(f"{len(sources):,} bundles; at most {BUNDLES_MAX} are imported at a time")
    looked = _look(sources, by)
    if skip_existing and not replace_existing:
        return _import_new(sources, looked, by=by)
    if not all(line.is_taken and (replace_existing or not line.is_known) for line in looked):
        return ImportResult(is_stored=False, lines=looked)
    with write_transaction():
        if not replace_existing and _existing_ids(line.capability_id for line in looked):
            # Another operator has created one of them meanwhile.
            return ImportResult(is_stored=False, lines=_look(sources, by))
        batch.import_all(sources, by=by, mode="draft")
    return ImportResult(is_stored=True, lines=looked)


def _import_new(sources: Sequence[SourceBundle], looked: Sequence[ImportRow], *, by: Actor) -> ImportResult:
    """Store those that the registry does not have; with none of them nothing is stored."""
    lines = tuple(replace(line, is_skipped=line.is_known) for line in looked)
    new = [source for source, line in zip(sources, lines, strict=True) if not line.is_skipped]
    if not new:
        return ImportResult(is_stored=False, lines=lines)
    stored = import_all_or_none(new, by=by)
    again = iter(stored.lines)
    return ImportResult(stored.is_stored, tuple(line if line.is_skipped else next(again) for line in lines))


def _look(sources: Sequence[SourceBundle], by: Actor) -> tuple[ImportRow, ...]:
    """What would come of each, stored nowhere."""
    results = batch.import_all(sources, by=by, mode="draft", dry_run=True)
    known = _existing_ids(result.capability_id for result in results)
    return tuple(
        ImportRow(
            result.path,
            result.capability_id,
            result.status == "draft",
            result.capability_id in known,
            result.findings,
        )
        for result in results
    )


def _existing_ids(ids: Any) -> set[str]:
    found = Capability.objects.filter(capability_id__in=[each for each in ids if each])
    return set(found.values_list("capability_id", flat=True))
