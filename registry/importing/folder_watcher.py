"""A folder that an author works in: each save becomes the draft (`bundle import --watch`, docs/requirements.md B)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from django.db import DatabaseError

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.discovery.bundle_discovery import discover_bundles, walk_folder
from capability_rules.discovery.source_files import FOLDER_ENTRIES_MAX
from capability_rules.errors import RegistryUnavailable, SourceUnreadable
from registry.common.actors import Actor
from registry.core.queries import files_digest
from registry.models import Draft
from registry.publishing import batch
from registry.publishing.batch import BatchResult

POLL_SECONDS: Final = 0.4
# When a file was written, and its size.
_Stamps = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class WatchedSave:
    """What became of one bundle; `discarded_by` says whose draft had to make room: it is kept for 30 days."""

    result: BatchResult
    discarded_by: str = ""


@dataclass
class FolderWatcher:
    """Polls a folder on each call; the first poll imports everything."""

    folder: Path
    by: Actor
    note: str = ""
    _stamps: _Stamps | None = None
    _handled: _Stamps | None = None
    _texts: dict[str, str] = field(default_factory=dict)
    _versions: dict[str, int] = field(default_factory=dict)

    def look(self) -> list[WatchedSave]:
        """What was saved since the last look; nothing while files are still being written.

        Raises `SourceUnreadable` once for each state of the folder that cannot be read, and `RegistryUnavailable` until
        the next look finds the registry again.
        """
        before, self._stamps = self._stamps, dict(_stamps(self.folder))
        if self._stamps == self._handled or (before is not None and before != self._stamps):
            return []
        self._handled = self._stamps
        sources = discover_bundles(str(self.folder))
        texts = {source.path: _fingerprint(source) for source in sources}
        changed = [source for source in sources if self._texts.get(source.path) != texts[source.path]]
        try:
            saved = self._take(changed)
        except (DatabaseError, RegistryUnavailable) as error:
            self._handled = None
            raise RegistryUnavailable(f"The registry cannot be reached: {error}. It is tried again.") from error
        self._texts = texts
        return saved

    def _take(self, sources: list[SourceBundle]) -> list[WatchedSave]:
        before = _active()
        results = batch.import_all(sources, by=self.by, mode="draft", note=self.note, over=self._versions)
        after = _active()
        saved = []
        for result in results:
            name = result.capability_id
            version, whose = before.get(name, (0, ""))
            is_others = result.status == "draft" and version and version != self._versions.get(name)
            is_new = after.get(name, (0, ""))[0] != version
            saved.append(WatchedSave(result, whose if is_others and is_new else ""))
            if result.status == "draft":
                self._versions[name] = after[name][0]
        return saved


def _active() -> dict[str, tuple[int, str]]:
    """`{capability_id: (version, who saved it)}` of the drafts that are there."""
    rows = Draft.objects.filter(discarded_at__isnull=True)
    return {
        name: (version, who)
        for name, version, who in rows.values_list("capability__capability_id", "version", "saved_by")
    }


def _stamps(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    for count, place in enumerate(walk_folder(folder)):
        if count > FOLDER_ENTRIES_MAX:
            raise SourceUnreadable(f"{folder}: more than {FOLDER_ENTRIES_MAX:,} files; name a folder below it")
        try:
            found = place.stat()
        except OSError:
            continue
        yield str(place), (found.st_mtime_ns, found.st_size)


def _fingerprint(source: SourceBundle) -> str:
    """Bytes that are not text count as well: they may be the mistake that was just fixed."""
    return files_digest(
        {
            name: text.decode("utf-8", errors="backslashreplace") if isinstance(text, bytes) else text
            for name, text in source.files.items()
        }
    )
