"""Is the stored history what was signed and recorded? In the database, in a backup, in an exported log."""

from registry.operations.verification.signing import sign_unsigned_revisions
from registry.operations.verification.verify import (
    HistoryReport,
    read_checkpoint_file,
    read_key_file,
    verify_backup,
    verify_database,
    verify_exported_log,
)

__all__ = [
    "HistoryReport",
    "read_checkpoint_file",
    "read_key_file",
    "sign_unsigned_revisions",
    "verify_backup",
    "verify_database",
    "verify_exported_log",
]
