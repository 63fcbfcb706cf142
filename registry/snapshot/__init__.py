"""What agents read, cached in memory: a warm read queries no database.

`current()` returns the newest snapshot. A daemon thread (`watcher.py`) replaces it whole when the registry moves; where
that thread does not run (tests, commands) each call looks at the counters itself.
"""

from registry.snapshot.snapshot import PUBLIC, Principal, Snapshot, SnapshotEntry
from registry.snapshot.store import STORE, current_snapshot, is_stale, refresh_if_stale, require_fresh
