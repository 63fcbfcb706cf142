"""Jobs that say when they begin and wait until they may end.

`slow`: `{"trace": file, "seconds": how long, "renew": whether the lease is held meanwhile}`; it adds a line
`begin PID` to the file, then in the end one to the table of misses. `poison` always fails. `mail.send` is `slow` here,
and `hang` is `slow` in a queue whose limits are short.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from django.db.models import F

from registry.core.jobs import celery_dispatch, queue
from registry.core.jobs.celery_dispatch import MAIL, CeleryQueue
from registry.core.jobs.queue import HANDLERS, CommitAction, Lease
from registry.models import UnknownCapabilityRequest


def slow(lease: Lease) -> CommitAction:
    with Path(lease.payload["trace"]).open("a") as trace:
        trace.write(f"begin {os.getpid()}\n")
    until = time.monotonic() + lease.payload.get("seconds", 0)
    while time.monotonic() < until:
        time.sleep(0.1)
        if lease.payload.get("renew"):
            queue.renew_lease(lease)

    def write() -> None:
        row, _ = UnknownCapabilityRequest.objects.get_or_create(capability_id="slow")
        UnknownCapabilityRequest.objects.filter(pk=row.pk).update(count=F("count") + 1)

    return write


def poison(lease: Lease) -> None:
    raise RuntimeError(f"poisoned by {lease.payload['word']}")


HANDLERS.update({"slow": slow, "poison": poison, "hang": slow, "mail.send": slow})
celery_dispatch._QUEUE_OF_KIND = {"mail.send": MAIL, "hang": CeleryQueue("studio", 1, 5)}  # type: ignore[misc]
