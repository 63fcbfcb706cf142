"""Folders that are filled once for all processes of a run of pytest: prepared sites, migrated databases."""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_VARIABLE: Final = "STUDIO_TEST_FOLDERS"


def make_folder_once(key: str, fill: Callable[[Path], None]) -> Path:
    """The folder that `fill` has filled for this key, by whichever process came first; nobody may change it.

    A `fill` that raises leaves nothing behind, and the next caller tries again.
    """
    folder = shared_root() / hashlib.sha256(key.encode()).hexdigest()[:16]
    with _locked(folder.with_suffix(".lock")):
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            fill(unfinished)
            unfinished.rename(folder)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    # Given up when the process ends, however it ends.
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def shared_root() -> Path:
    """Made by the first process that asks, which removes it at its end; those that it starts find it."""
    if _VARIABLE not in os.environ:
        os.environ[_VARIABLE] = tempfile.mkdtemp(prefix="studio-shared-")
        atexit.register(_remove, os.environ[_VARIABLE], os.getpid())
    return Path(os.environ[_VARIABLE])


def _remove(folder: str, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
