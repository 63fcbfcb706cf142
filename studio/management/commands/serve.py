"""`manage.py serve`: become what keeps the web server running, with the same flags as `run.py` starts it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from registry.common.database_errors import DAMAGED
from registry.core.storage import find_storage_outage
from studio.launcher.console import Refusal
from studio.launcher.serving import check_port, server_command, server_environment, warn_of_open_directory


class Command(BaseCommand):
    """What an image and a system unit start: HOST and PORT come from the environment, nothing is prepared."""

    help = "Serve on HOST and PORT until SIGTERM or Ctrl-C. The database and the static files must be prepared."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workers", type=int, default=1, help="processes; each holds a snapshot of its own")
        parser.add_argument("--threads", type=int, help="threads of each process, in the place of WEB_THREADS")

    def handle(self, *_args: Any, **options: Any) -> None:
        self._check_database()
        try:
            address = check_port(settings.HOST, settings.PORT)
        except Refusal as refusal:
            raise CommandError(str(refusal), returncode=refusal.exit_code) from refusal
        warn_of_open_directory(settings.DATA_DIR)
        command = server_command(Path(sys.executable), address=address, port=settings.PORT, workers=options["workers"])
        environment = server_environment(settings.BASE_DIR)
        if options["threads"] is not None:
            environment["WEB_THREADS"] = str(options["threads"])
        sys.stdout.flush()
        sys.stderr.flush()
        # The process keeps its id, so that the signals of a container or of systemd reach what stops the server.
        supervisor = [sys.executable, "-m", "studio.launcher.supervisor", address, str(settings.PORT), *command]
        os.execve(sys.executable, supervisor, environment)

    def _check_database(self) -> None:
        """Refuse a damaged file; a database that is away may come back while we serve."""
        if connection.vendor == "sqlite" and find_storage_outage() is DAMAGED:
            raise CommandError(DAMAGED.sentences())
        connection.close()
