"""What agents read, held in memory: a warm read asks no database.

`current()` answers the newest snapshot. A daemon thread (`watch.py`) replaces it whole when the registry moves; where
that thread does not run (tests, commands) each call looks at the counters itself.
"""

from registry.snapshot.content import PUBLIC, Entry, Principal, Snapshot
from registry.snapshot.holder import HOLDER, current, is_stale, look_again, require_fresh

__all__ = ["HOLDER", "PUBLIC", "Entry", "Principal", "Snapshot", "current", "is_stale", "look_again", "require_fresh"]
