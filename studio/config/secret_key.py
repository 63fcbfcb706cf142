"""The key that signs sessions, made once and kept beside the data where the operator gives none."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from registry.common.private_file import create_private_file
from studio.config.environment import ConfigurationError

DATABASE_NAME: Final = "studio.sqlite3"
FIRST_START_MARK: Final = "first_start_done"


def get_stored_secret_key(data_dir: Path) -> str:
    """The key in `data_dir/secret_key`, made there first where it is absent (mode 0600, whole or not at all).

    Two processes that start at once agree on one key. Raises ConfigurationError where the directory cannot be used.
    """
    path = data_dir / "secret_key"
    try:
        if not path.exists():
            create_private_file(path, f"{secrets.token_urlsafe(50)}\n".encode())
        key = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(describe_unusable(data_dir, error)) from error
    if len(key) < 32:
        raise ConfigurationError(
            f"DATA_DIR holds a damaged key: {path} has {len(key)} characters, expected 50 or more. "
            "Delete that file and a new one is made; everybody signs in again."
        )
    return key


def protect_database(data_dir: Path) -> None:
    """Make the SQLite file, where there has been none, and its journals unreadable for other users of the machine; a
    group that an operator allowed keeps its right. What cannot be changed is left: the first connection says why."""
    path = data_dir / DATABASE_NAME
    with contextlib.suppress(OSError):
        # A database that was there and is gone is not made again: the start names it.
        if not path.exists() and not (data_dir / FIRST_START_MARK).exists():
            data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Empty, as SQLite makes it; its journals get its mode.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(each.stat().st_mode)
            if mode & 0o007:
                each.chmod(mode & ~0o007)


def describe_open_directory(data_dir: Path) -> str:
    """A sentence where other users of the machine may look into a DATA_DIR that was there before; empty otherwise.

    It is not changed: it may hold more than what is ours. One that we make is 0700.
    """
    try:
        mode = stat.S_IMODE(data_dir.stat().st_mode)
    except OSError:
        return ""
    if os.name == "nt" or not mode & 0o007:
        return ""
    return (
        f"DATA_DIR '{data_dir}' is open to other users of this machine (mode {mode:04o}): they see the names of its "
        f"files. The database and the keys in it are not. Fix, where nobody else needs it: chmod o-rwx '{data_dir}'"
    )


def describe_unusable(data_dir: Path, error: Exception) -> str:
    """One sentence for a DATA_DIR that cannot be written or read."""
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"DATA_DIR is '{data_dir}', which cannot be used ({reason}): expected a directory that this user may write, "
        "with room on its disk, for example DATA_DIR=/srv/studio"
    )
