"""Trusted keys and the last checkpoint of a registry: what a client holds its signatures and its history to.

Nothing here opens a socket: the generators yield what requests.py yields, and `client.py` drives them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from capability_client.client.messages import Outcome, Step
from capability_kit.bundles.bundle import Bundle
from capability_kit.errors import (
    LockMismatch,
    NotFound,
    RegistryError,
    RegistryForked,
    RegistryRolledBack,
    SignatureInvalid,
    SignatureMissing,
    SigningKeyUnknown,
    Unavailable,
)
from capability_kit.signatures.dsse import PublicKey, parse_key_list, parse_public_key, require_cryptography
from capability_kit.signatures.statements import CheckpointFacts, check_bundle, parse_checkpoint, read_checkpoint
from capability_kit.text.files import write_atomically

FORMAT: Final = 1
KEYS_PATH: Final = "/.well-known/capability-studio-keys.json"
FIRST_USE: Final = "first_use"
# Between two looks at the registry's checkpoints.
HISTORY_SECONDS: Final = 60.0
PAGES_MAX: Final = 1000
TrustedKeys = Iterable[str] | Literal["first_use"]
# Asks an operation, or a path of the registry, with a query; its result is the JSON document.
Ask = Callable[[str, Mapping[str, Any]], Generator[Step, Outcome, Any]]


@dataclass(slots=True)
class TrustFile:
    """`{"format": 1, "keys": [...], "checkpoint": {...}, "hash", "checked_at"}` on disk, or in memory alone.

    `keys` are those of the first use; `checked_at` (epoch seconds) says when the history was last compared.
    """

    path: Path | None
    keys: tuple[PublicKey, ...] = ()
    checkpoint: CheckpointFacts | None = None
    checked_at: float = 0.0

    def __post_init__(self) -> None:
        """Raises `LockMismatch` where the file is there and cannot be read: it would protect nothing."""
        if self.path is None or not self.path.exists():
            return
        try:
            values = json.loads(self.path.read_text("utf-8"))
            is_known = values["format"] == FORMAT
            self.keys = tuple(map(parse_public_key, values["keys"]))
            seen = values["checkpoint"]
            self.checkpoint = parse_checkpoint(seen, str(values["hash"])) if seen is not None else None
            self.checked_at = float(values["checked_at"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, SignatureInvalid):
            is_known = False
        if not is_known:
            raise LockMismatch(
                f"The trust file {self.path} cannot be read; put it back, or delete it to trust what the "
                "registry says now"
            )

    def remember(self, newest: CheckpointFacts, now: float) -> None:
        """Keep a checkpoint, unless another process has meanwhile seen a later one. Raises `LockMismatch`."""
        held = TrustFile(self.path).checkpoint
        self.checkpoint = held if held is not None and held.number > newest.number else newest
        self.checked_at = now
        self.save()

    def save(self) -> None:
        """Raises `LockMismatch` where it cannot be written."""
        if self.path is None:
            return
        seen = self.checkpoint
        values = {
            "format": FORMAT,
            "keys": [str(key) for key in self.keys],
            "checkpoint": seen.payload() if seen else None,
            "hash": seen.hash if seen else "",
            "checked_at": self.checked_at,
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(self.path, json.dumps(values, indent=2) + "\n")
        except OSError as error:
            raise LockMismatch(f"The trust file {self.path} cannot be written: {error.strerror}") from None


def trust_path(url: str, cache_dir: Path | str | None, lock_path: Path | None) -> Path | None:
    """Where the trust file of a registry is: in the cache's folder, else beside the lock file, else nowhere."""
    if cache_dir is not None:
        return Path(cache_dir).expanduser() / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.trust"
    return lock_path.with_name(f"{lock_path.name}.trust") if lock_path is not None else None


@dataclass
class HistoryGuard:
    """Refuses what no trusted key has signed, and a registry whose history is not the one that was seen before."""

    file: TrustFile
    pinned: tuple[PublicKey, ...]
    max_stale: float
    clock: Callable[[], float]
    _looked_at: float | None = None
    _verified: set[tuple[Any, ...]] = field(default_factory=set)

    @classmethod
    def of(
        cls, trusted: TrustedKeys, path: Path | None, *, max_stale: float, clock: Callable[[], float]
    ) -> HistoryGuard:
        """Raises `ValueError` for a key of another form or none at all, `VerificationUnavailable` without the package
        cryptography, and `LockMismatch` for a trust file that cannot be read."""
        require_cryptography()
        if isinstance(trusted, str) and trusted != FIRST_USE:
            raise ValueError(f"trusted_keys is a list of public keys or {FIRST_USE!r}, found {trusted[:80]!r}")
        pinned = () if isinstance(trusted, str) else tuple(map(parse_public_key, trusted))
        if not pinned and trusted != FIRST_USE:
            raise ValueError(f"trusted_keys is empty: name the registry's public keys, or {FIRST_USE!r}")
        return cls(TrustFile(path), pinned, max_stale, clock)

    def check_history(self, ask: Ask) -> Generator[Step, Outcome, None]:
        """Compare the registry's checkpoints with the last one that was seen, once in `HISTORY_SECONDS`.

        While the registry is unreachable, a history that was compared not more than `max_stale` seconds ago will do.
        Raises `RegistryRolledBack`, `RegistryForked`, and what `open_envelope` raises.
        """
        now = self.clock()
        if self._looked_at is not None and 0 <= now - self._looked_at < HISTORY_SECONDS:
            return
        try:
            newest = yield from self._newest(ask)
        except Unavailable:
            if self.file.checkpoint is None or not 0 <= now - self.file.checked_at <= self.max_stale:
                raise
            return
        self._looked_at = now
        if newest is not None:
            self.file.remember(newest, now)

    def check_listed(self, registry_revision: int) -> None:
        """Raises `RegistryRolledBack` for a list that is older than the last checkpoint."""
        seen = self.file.checkpoint
        if seen is not None and registry_revision < seen.registry_revision:
            raise RegistryRolledBack(
                f"The registry lists revision {registry_revision}, and its checkpoint {seen.number} had "
                f"{seen.registry_revision}: it was rolled back"
            )

    def check_bundle(self, bundle: Bundle, ask: Ask) -> Generator[Step, Outcome, None]:
        """Raises `SignatureMissing`, `SignatureInvalid` or `SigningKeyUnknown` for what no trusted key has signed."""
        known = (bundle.capability_id, bundle.revision, bundle.digest, bundle.files, bundle.withheld_tools)
        if known in self._verified:
            return
        if bundle.status == "draft":
            raise SignatureMissing(f"'{bundle.capability_id}' is a draft, and only revisions are signed")
        trusted = yield from self._keys(ask)
        query = {"capability_id": bundle.capability_id, "revision": bundle.revision}
        try:
            answer = yield from ask("capability_signature", query)
        except NotFound:
            raise SignatureMissing(f"The registry has no signature of '{bundle.capability_id}'") from None
        except RegistryError as error:
            if error.error_code == "SIGNATURE_NOT_FOUND":
                raise SignatureMissing(error.message) from None
            raise
        check_bundle(bundle, answer.get("envelope"), trusted=trusted)
        self._verified.add(known)

    def _keys(self, ask: Ask) -> Generator[Step, Outcome, tuple[PublicKey, ...]]:
        """The trusted keys; those of the registry at the first use, where that was asked for."""
        if not self.pinned and not self.file.keys:
            try:
                answer = yield from ask(KEYS_PATH, {})
                found = parse_key_list(answer)
            except (NotFound, ValueError):
                found = ()
            if not found:
                raise SigningKeyUnknown("The registry names no public keys that could be trusted at the first use")
            self.file.keys = found
            self.file.save()
        return self.pinned or self.file.keys

    def _newest(self, ask: Ask) -> Generator[Step, Outcome, CheckpointFacts | None]:
        """The registry's newest checkpoint, which continues the one that was seen; None where it has none yet."""
        trusted = yield from self._keys(ask)
        seen = self.file.checkpoint
        newest: CheckpointFacts | None = None
        query: dict[str, Any] = {} if seen is None else {"after": seen.number - 1}
        for _ in range(PAGES_MAX):
            try:
                page = yield from ask("registry_checkpoints", query)
            except NotFound:
                raise SignatureMissing("The registry serves no checkpoints: it is older than signatures") from None
            envelopes = page.get("checkpoints")
            for envelope in envelopes if isinstance(envelopes, list) else []:
                facts = read_checkpoint(envelope, trusted=trusted)
                _require_continued(facts, newest, seen)
                newest = facts
            following = page.get("next_after")
            if not isinstance(following, int) or newest is None or following < newest.number:
                break
            query = {"after": following}
        if seen is not None and newest is None:
            gone = f"checkpoint {seen.number}, which it had at {seen.created_at}"
            raise RegistryRolledBack(f"The registry has no {gone}: it was rolled back")
        return newest


def _require_continued(facts: CheckpointFacts, before: CheckpointFacts | None, seen: CheckpointFacts | None) -> None:
    """A checkpoint is the one that was seen, or the very next of the one before."""
    if before is None:
        if seen is not None and (facts.number, facts.hash) != (seen.number, seen.hash):
            raise RegistryForked(
                f"The registry's checkpoint {facts.number} is not the checkpoint {seen.number} that was seen here: its "
                "history was replaced"
            )
        return
    if not facts.follows(before):
        raise RegistryForked(
            f"Checkpoint {facts.number} of the registry does not follow checkpoint {before.number}: its history was "
            "replaced"
        )
    if less := facts.shrinks(before):
        raise RegistryRolledBack(f"Checkpoint {facts.number} of the registry takes something back: {less}")
