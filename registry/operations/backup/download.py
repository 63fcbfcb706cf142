"""A backup for a person to download: made as the command makes it, and gone from this machine once it is read."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

from django.utils import timezone

from registry.common.actors import Actor
from registry.common.errors import BackupRefused
from registry.common.rate_limits import RateLimited
from registry.core import audit
from registry.core.transactions import write_transaction
from registry.models import AuditEvent
from registry.operations.backup.create import create_backup

VERB: Final = "registry.backup"
DOWNLOADS_MAX: Final = 6
PERIOD: Final = timedelta(hours=1)


def open_backup(*, by: Actor) -> tuple[str, BinaryIO]:
    """Make a backup; returns its name and the open file, which the system removes when it is closed.

    The audit event is written before, so that no secret leaves without one. Raises `RateLimited` after `DOWNLOADS_MAX`
    backups of all people within `PERIOD`, and `BackupRefused` where there is no room for the file.
    """
    with write_transaction():
        _require_turn()
        audit.record(by=by, verb=VERB, subject="registry")
    try:
        with TemporaryDirectory(prefix="studio-backup-") as folder:
            path = create_backup(to=Path(folder)).path
            return path.name, path.open("rb")
    except OSError as error:
        raise BackupRefused(f"The backup cannot be written: {error}") from error


def _require_turn() -> None:
    """The audit log counts, so that all processes count together."""
    since = timezone.now() - PERIOD
    recent = AuditEvent.objects.filter(verb=VERB, at__gt=since).order_by("-at").values_list("at", flat=True)
    if len(taken := list(recent[:DOWNLOADS_MAX])) == DOWNLOADS_MAX:
        raise RateLimited(max(1, math.ceil((taken[-1] - since).total_seconds())))
