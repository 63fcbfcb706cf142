"""Whether the data directory is already at the state that this code makes, so that a second start need not ask Django.

Known for the embedded default alone: a PostgreSQL may be shared, restored or changed by others, so it is always asked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from studio.config.environment import StudioEnvironment
from studio.launcher.virtualenv import LOCKS, TEST_LOCK

# Where a change may ask for a migration, another example or another static file.
PACKAGES = (
    "agent_api",
    "capability_client",
    "capability_kit",
    "capability_rules",
    "examples",
    "features",
    "registry",
    "schemas",
    "static",
    "studio",
    "templates",
    *(lock for lock in LOCKS if lock != TEST_LOCK),
)


class ReadinessStamp:
    """The stamp `prepared.json` in DATA_DIR: the code and the database that it was written for."""

    def __init__(self, root: Path, environment: StudioEnvironment) -> None:
        self._root = root
        self._environment = environment
        self._path = environment.data_dir / "prepared.json"

    def is_current(self) -> bool:
        """Whether nothing changed since `remember`: code, settings that matter, applied migrations, static files."""
        if self._environment.database is not None or self._environment.debug:
            return False
        try:
            remembered = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return False
        return bool(remembered == self._state())

    def remember(self) -> None:
        """Write the stamp, last of all."""
        if self._environment.database is None:
            draft = self._path.with_suffix(".new")
            draft.write_text(json.dumps(self._state(), indent=2) + "\n", encoding="utf-8")
            draft.replace(self._path)

    def forget(self) -> None:
        """Take the stamp away, before anything changes."""
        self._path.unlink(missing_ok=True)

    def _state(self) -> dict[str, object]:
        return {
            "code": self._code(),
            "examples": self._environment.examples,
            # Each has tables and files of its own, and the manifest of static files has those that were installed.
            "features": list(self._environment.features),
            "migrations": self._migrations(),
            "pages": (self._environment.static_dir / "staticfiles.json").exists(),
            "python": list(sys.version_info[:2]),
        }

    def _code(self) -> str:
        """A digest over name, size and time of every file; reading them all would take longer than preparing."""
        digest = hashlib.sha256()
        for room in PACKAGES:
            for path, status in sorted(_files(self._root / room)):
                digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        return digest.hexdigest()

    def _migrations(self) -> str | None:
        """A digest over what the database says was applied: a file that was restored or removed is seen here."""
        path = self._environment.data_dir / "studio.sqlite3"
        with contextlib.suppress(sqlite3.Error):
            with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
                rows = database.execute("SELECT app, name, applied FROM django_migrations ORDER BY id").fetchall()
            return hashlib.sha256(repr(rows).encode()).hexdigest()
        return None


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    if path.is_file():
        yield str(path), path.stat()
        return
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            full = os.path.join(folder, name)  # noqa: PTH118 (a second start has no time for thousands of Paths)
            with contextlib.suppress(OSError):
                yield full, os.stat(full)  # noqa: PTH116 (as above)
