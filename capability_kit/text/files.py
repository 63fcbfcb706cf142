"""Files that no reader sees half of, and files without a name."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final


class UnnamedFile(tempfile.SpooledTemporaryFile[bytes]):
    """In memory while it is small, else on disk without a name; closed with its last reader."""

    MEMORY_BYTES: Final = 1024 * 1024

    def __init__(self) -> None:
        super().__init__(max_size=self.MEMORY_BYTES)

    def __del__(self) -> None:
        self.close()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, and only this user can read it. A text is UTF-8,
    with the line ends that it has."""
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        Path(scratch).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(scratch).unlink()
        raise
