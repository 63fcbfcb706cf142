"""The last checkpoint, kept outside of the database too: in DATA_DIR beside the signing key, or in CHECKPOINT_FILE.

Who owns the database can delete every checkpoint and have the registry begin again with number 1, over whatever they
made of the history. What is kept here says how far it had come. Of several hosts each keeps what it has signed.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from django.conf import settings

from capability_kit.bundles.bundle import DIGEST
from capability_kit.json_text import parse_json
from registry.common.errors import HistoryDamaged
from registry.common.installation import PROGRAM
from registry.common.private_file import replace_private_file

_FILE_BYTES_MAX: Final = 4096
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptCheckpoint:
    """Its number, and the hex SHA-256 of its payload."""

    number: int
    hash: str


def read_kept() -> KeptCheckpoint | None:
    """None where nothing was kept yet. Raises `HistoryDamaged` for a file that cannot be read."""
    path: Path | None = settings.KEPT_CHECKPOINT_FILE
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            found = parse_json(file.read(_FILE_BYTES_MAX).decode("utf-8", errors="replace"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HistoryDamaged(f"{path}, the last checkpoint, is unreadable: {error.strerror}") from error
    kept = found if isinstance(found, dict) else {}
    number, digest = kept.get("number"), kept.get("hash")
    if not isinstance(number, int) or not isinstance(digest, str) or not DIGEST.fullmatch(f"sha256:{digest}"):
        raise HistoryDamaged(
            f"{path} does not have a checkpoint. Restore the file from a copy; where the history is "
            f"what it should be: {PROGRAM} manage registry checkpoint --forget-kept"
        )
    return KeptCheckpoint(number, digest)


def read_kept_if_sound() -> KeptCheckpoint | None:
    """As `read_kept`; None for a file that cannot be read, too: it is about to be replaced."""
    try:
        return read_kept()
    except HistoryDamaged:
        return None


def keep(checkpoint: KeptCheckpoint) -> None:
    """Keep it in the place of the one before. Called when it is committed, which a full disk here does not take back:
    then the one before is still there."""
    if settings.KEPT_CHECKPOINT_FILE is None:
        return
    try:
        replace_private_file(settings.KEPT_CHECKPOINT_FILE, json.dumps(asdict(checkpoint)).encode() + b"\n")
    except OSError:
        logger.exception(
            "checkpoint %s is signed and could not be kept: %s", checkpoint.number, settings.KEPT_CHECKPOINT_FILE
        )


def forget() -> None:
    """Keep nothing. Raises `OSError`."""
    if settings.KEPT_CHECKPOINT_FILE is not None:
        settings.KEPT_CHECKPOINT_FILE.unlink(missing_ok=True)
