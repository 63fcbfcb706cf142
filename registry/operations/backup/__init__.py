"""The whole registry in one file, for either database, and back (docs/adr/0005)."""

from registry.operations.backup.archive import Manifest, check_archive
from registry.operations.backup.create import BackupResult, create_backup
from registry.operations.backup.download import open_backup
from registry.operations.backup.restore import RestoreResult, restore_backup

__all__ = [
    "BackupResult",
    "Manifest",
    "RestoreResult",
    "check_archive",
    "create_backup",
    "open_backup",
    "restore_backup",
]
