"""A lock file: which release of which capability an agent was tried with. Another one is refused."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, Final

from capability_kit.bundles.bundle import DIGEST, Bundle, is_capability_id
from capability_kit.errors import LockMismatch
from capability_kit.text.files import write_atomically

FORMAT: Final = 1


class LockFile:
    """`{"format": 1, "capabilities": {capability_id: {"digest", "revision"}}}`, sorted, one line a fact, for git.

    A capability that is not named yet is added at its first load; with `is_frozen` it is refused.
    """

    def __init__(self, path: Path | str, *, is_frozen: bool = False) -> None:
        """Raises `LockMismatch` where the file is there and cannot be read: an unreadable lock protects nothing."""
        self.path: Path = Path(path).expanduser()
        self.is_frozen = is_frozen
        self._mutex = threading.Lock()
        self._rows = _read(self.path)

    def digest(self, capability_id: str) -> str | None:
        """The digest that is held for a capability."""
        row = self._rows.get(capability_id)
        return row["digest"] if row else None

    def accept(self, bundle: Bundle, *, renew: bool = False) -> None:
        """Hold a bundle against the lock, and add what is new; `renew` writes over what is there.

        Raises `LockMismatch`.
        """
        with self._mutex:
            held = self.digest(bundle.capability_id)
            if held == bundle.digest:
                return
            if held is not None and not renew:
                raise LockMismatch(
                    f"'{bundle.capability_id}' is locked to {held}, and the registry sent {bundle.digest} "
                    f"(revision {bundle.revision}); load it with renew_lock=True to take the new one"
                )
            if held is None and self.is_frozen and not renew:
                where = f"the lock file {self.path.name}, which is frozen"
                raise LockMismatch(f"'{bundle.capability_id}' is not in {where}")
            rows = self._rows | {bundle.capability_id: {"digest": bundle.digest, "revision": bundle.revision}}
            text = json.dumps({"format": FORMAT, "capabilities": dict(sorted(rows.items()))}, indent=2)
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self.path, text + "\n")
            except OSError as error:
                raise LockMismatch(
                    f"'{bundle.capability_id}' is not in the lock file, and {self.path} cannot be written: "
                    f"{error.strerror}. Make it writable, or add the capability elsewhere"
                ) from None
            self._rows = rows


def _read(path: Path) -> dict[str, Any]:
    try:
        values: Any = json.loads(path.read_text("utf-8"))
        rows = values["capabilities"]
        is_good = values["format"] == FORMAT and all(
            is_capability_id(name) and DIGEST.fullmatch(row["digest"]) and isinstance(row["revision"], int)
            for name, row in rows.items()
        )
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        is_good, rows = False, {}
    if not is_good:
        raise LockMismatch(f"The lock file {path.name} cannot be read; fix it or delete it")
    return dict(rows)
