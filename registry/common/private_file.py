"""Files for this user alone, written whole or not at all: made once, whichever process comes first, or replaced."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def create_private_file(path: Path, content: bytes) -> None:
    """Write the file, readable by this user alone, whole or not at all; where it is there already, it stays.

    Two processes at once agree on one. On a file system without links the last one to start wins. Raises `OSError`.
    """
    with _draft(path, content) as draft:
        _link(draft, path)


def replace_private_file(path: Path, content: bytes) -> None:
    """As `create_private_file`, in the place of the file that is there. Raises `OSError`."""
    with _draft(path, content) as draft:
        draft.replace(path)


@contextmanager
def _draft(path: Path, content: bytes) -> Iterator[Path]:
    """The content in a file beside it, on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _link(draft: Path, path: Path) -> None:
    try:
        # A link, unlike a rename, fails where another process was first: then its file is the one.
        path.hardlink_to(draft)
    except FileExistsError:
        return
    except OSError:
        # Some file systems know no links.
        draft.replace(path)
