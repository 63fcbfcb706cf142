"""The whole registry in one file, for either database, and back (docs/adr/0005)."""

from registry.backup.archive import Manifest, check_archive
from registry.backup.creating import Created, create_backup
from registry.backup.restoring import Restored, restore_backup

__all__ = ["Created", "Manifest", "Restored", "check_archive", "create_backup", "restore_backup"]
