"""Is this container well? `probe.py http URL` asks for 200, `probe.py alive FILE SECONDS` for a file touched lately.

Standard library only and quick to start: it runs every few seconds.
"""

from __future__ import annotations

import http.client
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit


def is_answering(url: str) -> bool:
    """Whether a GET is answered with 200 within four seconds; no proxy of the environment is asked."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=4)
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def is_alive(path: str, seconds: str) -> bool:
    """Whether the file was touched within so many seconds."""
    try:
        return time.time() - Path(path).stat().st_mtime < float(seconds)
    except OSError:
        return False


if __name__ == "__main__":
    is_well = is_answering(sys.argv[2]) if sys.argv[1] == "http" else is_alive(sys.argv[2], sys.argv[3])
    sys.exit(0 if is_well else 1)
