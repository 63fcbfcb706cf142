"""How long `registry verify` takes: `DATA_DIR=... python bench/history.py COUNT` fills a new registry and reads it.

Audit rows, revisions, releases and a checkpoint for each thousand, as publishing leaves them.
"""

from __future__ import annotations

import json
import sys
import time
import tracemalloc

from fill import store_in_bulk

from registry.core import checkpoints
from registry.core.signing_keys import get_signing_keys
from registry.models import Revision
from registry.operations.verification.verify import verify_database


def main(count: int) -> None:
    """Fill, sign, verify; prints one JSON document."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    started = time.perf_counter()
    for at in range(0, count, 1000):
        store_in_bulk(range(at, min(at + 1000, count)), groups=100)
        checkpoints.make_checkpoint()
    filled = time.perf_counter()
    report = verify_database(get_signing_keys().public)
    ended = time.perf_counter()
    size = sum(len(text) for row in Revision.objects.all()[:100] for text in row.files.values()) / 100
    tracemalloc.start()
    verify_database(get_signing_keys().public)
    figures = {
        **report.as_dict(),
        "fill_seconds": round(filled - started, 1),
        "verify_seconds": round(ended - filled, 1),
        "bytes_a_revision": round(size),
        "peak_mib": round(tracemalloc.get_traced_memory()[1] / 2**20, 1),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(int(sys.argv[1]))
