"""The file: a zip with one JSON-lines member a table and a manifest. Nothing here knows the database.

The manifest is written last and found first, through the zip's directory: a file that was cut off has none.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from registry.common.errors import BackupUnreadable

FORMAT: Final = "capability-studio-backup"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
_MANIFEST_BYTES_MAX: Final = 1024 * 1024
_CHUNK_BYTES: Final = 1024 * 1024
# The largest row has a few MiB of texts, up to six times as many bytes in ASCII. One line is in memory as a whole.
LINE_BYTES_MAX: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One member, `tables/NAME.jsonl`: how many lines, and the SHA-256 (hex) over its bytes before compression."""

    name: str
    rows: int
    sha256: str

    @property
    def member(self) -> str:
        return f"tables/{self.name}.jsonl"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the file contains. `created_at` is ISO 8601 in UTC; `migrations` are those of `registry`, in order."""

    created_at: str
    database: str
    registry_revision: int
    migrations: tuple[str, ...]
    tables: tuple[TableEntry, ...]

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)


def remove_stale_parts(folder: Path) -> list[Path]:
    """Delete what killed backups have left in a folder, by the name that `backup create` gives; returns what was
    deleted. A part that is being written stays."""
    removed = []
    for part in folder.glob("capability-studio-*.zip.part"):
        with contextlib.suppress(OSError), part.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()
            removed.append(part)
    return removed


@contextmanager
def create_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """A new file for our eyes alone (0600), at its place only when it is whole. Raises `FileExistsError`."""
    if path.exists():
        raise FileExistsError(f"{path} exists")
    remove_stale_parts(path.parent)
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            # Held until it is closed, by the end of the process too: so another backup knows a part that is written.
            fcntl.flock(stream, fcntl.LOCK_EX)
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
                yield archive
            stream.flush()
            os.fsync(stream.fileno())
        # A link refuses to take the place of a file that has come meanwhile; renaming would not.
        os.link(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_table(archive: zipfile.ZipFile, name: str, rows: Iterable[dict[str, Any]]) -> TableEntry:
    """One JSON object a line, in pure ASCII: every text comes back as it was."""
    digest, count = hashlib.sha256(), 0
    with archive.open(f"tables/{name}.jsonl", "w", force_zip64=True) as member:
        for row in rows:
            line = json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"
            digest.update(line)
            member.write(line)
            count += 1
    return TableEntry(name, count, digest.hexdigest())


def write_manifest(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Write `manifest.json`, which `open_archive` reads first, into the archive."""
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(manifest)}
    archive.writestr(MANIFEST, json.dumps(document, indent=2) + "\n")


@contextmanager
def open_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """The file with its manifest. Raises `BackupUnreadable`, also for what turns out to be damaged while it is read."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive, _manifest(archive)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BackupUnreadable(f"{path} cannot be read as a backup: {error}") from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    try:
        with archive.open(MANIFEST) as member:
            document = json.loads(member.read(_MANIFEST_BYTES_MAX))
        if (document["format"], document["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise BackupUnreadable(
                f"The file is a {document['format']} of version {document['format_version']}, "
                f"expected {FORMAT} of version {FORMAT_VERSION}"
            )
        return Manifest(
            created_at=str(document["created_at"]),
            database=str(document["database"]),
            registry_revision=int(document["registry_revision"]),
            migrations=tuple(map(str, document["migrations"])),
            tables=tuple(
                TableEntry(str(table["name"]), int(table["rows"]), str(table["sha256"])) for table in document["tables"]
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BackupUnreadable(f"The file has no manifest of a backup: {error}") from error


def check_archive(path: Path) -> Manifest:
    """Read all of it and compare it with its manifest. Raises `BackupUnreadable`."""
    with open_archive(path) as (archive, manifest):
        for table in manifest.tables:
            _check_table(archive, table)
    return manifest


def _check_table(archive: zipfile.ZipFile, table: TableEntry) -> None:
    digest, rows, line = hashlib.sha256(), 0, 0
    with _member(archive, table) as member:
        while chunk := member.read(_CHUNK_BYTES):
            digest.update(chunk)
            rows += chunk.count(b"\n")
            first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
            if line + (len(chunk) if first < 0 else first) > LINE_BYTES_MAX:
                raise BackupUnreadable(
                    f"{table.member} has a row of more than {LINE_BYTES_MAX:,} bytes: no registry writes such a file"
                )
            line = line + len(chunk) if last < 0 else len(chunk) - last - 1
    if digest.hexdigest() != table.sha256 or rows != table.rows:
        raise BackupUnreadable(f"The file is damaged: {table.member} is not what the manifest says")


def _member(archive: zipfile.ZipFile, table: TableEntry) -> IO[bytes]:
    try:
        return archive.open(table.member)
    except KeyError:
        raise BackupUnreadable(f"The file is damaged: {table.member} is missing") from None


def read_table(archive: zipfile.ZipFile, table: TableEntry) -> Iterator[tuple[dict[str, Any], int]]:
    """Each row with the bytes that its line takes."""
    with _member(archive, table) as member:
        while line := member.readline(LINE_BYTES_MAX + 1):
            if len(line) > LINE_BYTES_MAX:
                raise BackupUnreadable(f"{table.member} has a row of more than {LINE_BYTES_MAX:,} bytes")
            yield json.loads(line), len(line)
