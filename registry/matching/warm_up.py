"""Builds the matching index and loads the models in the background when a server starts, so that the first message
does not wait for them."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from django.db import connection

from registry.matching.index import PUBLISHED_INDEX
from registry.snapshot import STORE

logger = logging.getLogger(__name__)

# A database that is away at the start may come back; after that the first message builds the index.
_PATIENCE_SECONDS: Final = 30.0


def start() -> threading.Thread:
    """Return at once. Does nothing where nothing is published, or the registry cannot be read."""
    thread = threading.Thread(target=_run, name="warm-up", daemon=True)
    thread.start()
    return thread


def _run() -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not STORE.has_read and time.monotonic() < deadline:
        time.sleep(0.1)
    try:
        if STORE.snapshot.entries:
            index = PUBLISHED_INDEX.get(vector_seconds=-1)
            if index.embedder is not None:
                index.embedder.load()
            # Reads every skill doc, while messages are matched already.
            _ = index.search
    except Exception:
        # The first message meets it as well, and reports it.
        logger.debug("the matching index was not built ahead", exc_info=True)
    finally:
        connection.close()
