"""What the registry answered, kept on disk, so that a restart costs a 304 and an outage is survived for a while."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from capability_kit.json_text import parse_json
from capability_kit.text.files import write_atomically

FORMAT: Final = 1
# Some thousand bundles; the oldest go first.
FILES_MAX: Final = 5000


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """An answer with its entity tag. `checked_at` (epoch seconds): when the registry last said that it holds."""

    etag: str
    body: bytes
    checked_at: float

    def age_seconds(self, now: float) -> float:
        """How long ago that was; endless where the clock says that it lies in the future."""
        return now - self.checked_at if now >= self.checked_at else float("inf")


class DiskCache:
    """One file an address and key, readable by this user alone. A file that cannot be read is as good as none."""

    def __init__(self, folder: Path | str | None) -> None:
        """`folder` None: kept in memory alone."""
        self._folder = Path(folder).expanduser() if folder is not None else None
        self._held: dict[str, CacheEntry] = {}

    def get(self, name: str) -> CacheEntry | None:
        """What was kept under a name."""
        if name not in self._held and self._folder is not None and (found := _read(self._folder / name)):
            self._held[name] = found
        return self._held.get(name)

    def put(self, name: str, kept: CacheEntry) -> None:
        """Keep an answer. A disk that is full or read-only costs the cache, not the answer."""
        self._held[name] = kept
        if len(self._held) > FILES_MAX:
            self._held.pop(next(iter(self._held)))
        if self._folder is not None:
            with suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                _write(self._folder / name, kept)
                _prune(self._folder)

    def drop(self, name: str) -> None:
        """Forget it: the registry says that it is gone."""
        self._held.pop(name, None)
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / name).unlink()

    def drop_capability(self, capability_id: str) -> None:
        """Forget every answer about a capability, whichever release or file was asked for and with whichever key."""
        self._drop_where(lambda name: name == capability_id)

    def drop_where(self, scope: str, takes: Callable[[str], bool]) -> None:
        """Forget every answer of one registry and key about a capability whose id is taken."""
        self._drop_where(takes, scope)

    def find(self, scope: str, takes: Callable[[dict[str, Any]], bool]) -> CacheEntry | None:
        """The newest answer of one registry and key whose document is taken. Reads every file: for when it is away."""
        found = [entry for _, entry, document in self._documents(scope) if takes(document)]
        return max(found, key=lambda entry: entry.checked_at, default=None)

    def _drop_where(self, takes: Callable[[str], bool], scope: str = "") -> None:
        for name, _, document in list(self._documents(scope)):
            capability_id = document.get("capability_id")
            if isinstance(capability_id, str) and takes(capability_id):
                self.drop(name)

    def _documents(self, scope: str) -> Iterator[tuple[str, CacheEntry, dict[str, Any]]]:
        """Every kept JSON object of a scope, in memory and on disk, with its name."""
        for name, entry in list(self._held.items()):
            if name.startswith(scope) and (document := _document(entry)) is not None:
                yield name, entry, document
        for path in self._folder.glob(f"{scope}*.json") if self._folder is not None and self._folder.is_dir() else ():
            found = _read(path) if path.name not in self._held else None
            if found is not None and (document := _document(found)) is not None:
                yield path.name, found, document


def _document(entry: CacheEntry) -> dict[str, Any] | None:
    found = parse_json(entry.body)
    return found if isinstance(found, dict) else None


def cache_scope(url: str, key: str | None) -> str:
    """With what the names of the files of one registry and key begin; several may share a folder."""
    return hashlib.sha256(f"{url}\n{key or ''}".encode()).hexdigest()[:16] + "-"


def cache_file_name(scope: str, path: str) -> str:
    """The file's name: an answer for one key is never given to another."""
    return scope + hashlib.sha256(f"{scope}\n{path}".encode()).hexdigest() + ".json"


def _read(path: Path) -> CacheEntry | None:
    try:
        values: Any = json.loads(path.read_bytes())
        if values["format"] != FORMAT:
            return None
        body = str(values["body"]).encode()
        if hashlib.sha256(body).hexdigest() != values["sha256"]:
            return None
        return CacheEntry(str(values["etag"]), body, float(values["checked_at"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(path: Path, kept: CacheEntry) -> None:
    values = {
        "format": FORMAT,
        "etag": kept.etag,
        "checked_at": kept.checked_at,
        "sha256": hashlib.sha256(kept.body).hexdigest(),
        "body": kept.body.decode(),
    }
    write_atomically(path, json.dumps(values))


def _prune(folder: Path) -> None:
    files = [file for file in folder.iterdir() if file.suffix == ".json"]
    if len(files) > FILES_MAX:
        for file in sorted(files, key=lambda each: each.stat().st_mtime)[: len(files) - FILES_MAX]:
            file.unlink()
