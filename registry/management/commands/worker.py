"""`manage.py worker`: does what writes left behind. `run.py` starts it beside the server."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, InterfaceError

from registry.common.database_errors import PERSISTENT_OUTAGES
from registry.core.storage import find_storage_outage
from registry.operations.worker import Worker

# Less than run.py waits before it ends what does not stop.
GRACE_SECONDS: Final = 4.0


class Command(BaseCommand):
    help = "Do queued jobs, until SIGTERM or Ctrl-C; with REDIS_URL, those that Celery has missed."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="do what is due now, and end")
        parser.add_argument("--alive-file", type=Path, help="touched with each poll for work; a probe checks its age")

        parser.add_argument(
            "--metrics-port", type=int, help="answers /metrics at this port of HOST, without a key; none by default"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 (Django's signature)
        if settings.IS_TRACED:
            from registry.common import tracing_sdk

            tracing_sdk.start("worker")
        if settings.IS_METERED:
            from registry.common import metrics_sdk
            from registry.operations.worker_metrics import WORKER_REGISTRY

            metrics_sdk.start("worker", WORKER_REGISTRY)
        if options["metrics_port"] is not None:
            _serve_metrics(options["metrics_port"])
        worker = Worker(alive_file=options["alive_file"])
        for number in (signal.SIGTERM, signal.SIGINT):
            # In a thread of its own: the signal may come while the main one holds the event's lock.
            signal.signal(number, lambda *_: threading.Thread(target=_drain, args=[worker], daemon=True).start())
        # What is unreachable is waited for; this would be waited for until an operator looks here.
        outage = find_storage_outage()
        if outage in PERSISTENT_OUTAGES:
            raise CommandError(outage.sentences())
        if not options["once"]:
            worker.run()
            return
        try:
            worker.run_due()
        except (DatabaseError, InterfaceError) as error:
            raise CommandError(f"The database cannot be used: {error}".strip()) from error


def _serve_metrics(port: int) -> None:
    from registry.operations import worker_metrics

    if not 0 <= port <= 65535:
        raise CommandError(f"--metrics-port is {port}: expected a port from 0 to 65535, such as 9101")
    try:
        worker_metrics.serve(settings.HOST, port)
    except OSError as error:
        raise CommandError(
            f"--metrics-port {port} of {settings.HOST} cannot be opened ({error.strerror}): expected a free port, "
            "such as 9101"
        ) from error


def _drain(worker: Worker) -> None:
    """Let the current job end; one that does not is left to another worker after its lease."""
    worker.stop.set()
    time.sleep(GRACE_SECONDS)
    print(f"The worker leaves a job behind that took more than {GRACE_SECONDS:.0f} s to end.", file=sys.stderr)
    sys.stderr.flush()
    os._exit(0)
