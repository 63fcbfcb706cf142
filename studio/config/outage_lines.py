"""Log lines about a database that cannot be used: each request would write one, and some a traceback."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

# Between two lines of the same logger about the same outage.
SECONDS: Final = 10.0


class OutageLines(logging.Filter):
    """Lets one line through in ten seconds of what each logger says of an outage, with the number of those between.

    A line is about one where its record has the attribute `outage`, a word for it, the `status_code` 503, or an error
    of the database.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        # By logger and outage: when the last line was let through, and how many were not since.
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; the first after others that were not says how many."""
        outage = _get_outage(record)
        if not outage:
            return True
        key, now = (record.name, outage), time.monotonic()
        with self._lock:
            at, left_out = self._seen.get(key, (now - SECONDS, 0))
            if now - at < SECONDS:
                self._seen[key] = at, left_out + 1
                return False
            self._seen[key] = now, 0
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out:,} more such lines were left out)", ()
        return True


def _get_outage(record: logging.LogRecord) -> str:
    # Django's own line about a response that is 503: its cause has one of ours.
    outage = getattr(record, "outage", "") or ("503" if getattr(record, "status_code", 0) == 503 else "")
    if outage or not record.exc_info:
        return str(outage)
    # Django cannot be imported yet where this module is: by the settings.
    from registry.common.database_errors import classify_error, is_database_error

    error = record.exc_info[1]
    return classify_error(error).state if error is not None and is_database_error(error) else ""
