"""Where sessions are kept between requests, for one writer at a time.

    with Session.stored(FileSessions("~/.agent/sessions"), conversation_id, registry) as session:
        session.say(message, model, approve=ask_person)

docs/session-stores.md has Redis and SQL.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from capability_kit.text.files import write_atomically

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class SessionLocked(RuntimeError):
    """Another writer has this session: two turns at once would lose the messages of one of them."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Somebody else is writing the session {session_id[:64]!r}; try again when they are done")
        self.session_id: str = session_id


class SessionStore(Protocol):
    """Texts of sessions by id. An `AsyncSession` calls it in threads, one call after the other."""

    def lock(self, session_id: str) -> AbstractContextManager[object]:
        """Held from before the session is read until it is written. Raises `SessionLocked` where somebody has it."""

    def read(self, session_id: str) -> str | None:
        """What was written last; None where nothing was."""

    def write(self, session_id: str, text: str) -> None:
        """Keep the text, in one step."""


class MemorySessions:
    """For one process, and for tests: gone with it."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._locked: set[str] = set()
        self._mutex = threading.Lock()

    @contextmanager
    def lock(self, session_id: str) -> Generator[None, None, None]:
        """As `SessionStore.lock`."""
        with self._mutex:
            if session_id in self._locked:
                raise SessionLocked(session_id)
            self._locked.add(session_id)
        try:
            yield
        finally:
            with self._mutex:
                self._locked.discard(session_id)

    def read(self, session_id: str) -> str | None:
        """As `SessionStore.read`."""
        return self._texts.get(session_id)

    def write(self, session_id: str, text: str) -> None:
        """As `SessionStore.write`."""
        self._texts[session_id] = text


class FileSessions:
    """One file a session, below a folder that only this user can read. A process that dies gives its locks back.

    For processes of one computer: locks of network file systems are not to be trusted.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder: Path = Path(folder).expanduser()

    @contextmanager
    def lock(self, session_id: str) -> Generator[None, None, None]:
        """As `SessionStore.lock`."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self._path(session_id, ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            if not _take(handle):
                raise SessionLocked(session_id)
            yield
        finally:
            os.close(handle)

    def read(self, session_id: str) -> str | None:
        """As `SessionStore.read`."""
        with suppress(FileNotFoundError):
            return self._path(session_id, ".json").read_text("utf-8")
        return None

    def write(self, session_id: str, text: str) -> None:
        """As `SessionStore.write`."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(self._path(session_id, ".json"), text)

    def _path(self, session_id: str, suffix: str) -> Path:
        """A name that no id can lead out of the folder."""
        if not session_id:
            raise ValueError("A session that is stored has an id")
        return self.folder / f"{hashlib.sha256(session_id.encode()).hexdigest()[:32]}{suffix}"


def _take(handle: int) -> bool:
    """Lock the file until its handle is closed. False where somebody has it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
