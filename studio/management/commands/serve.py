"""`manage.py serve`: become the web server, with the same flags as `run.py` starts it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from studio.launch.serving import server_command, server_environment


class Command(BaseCommand):
    """What an image and a system unit start: HOST and PORT come from the environment, nothing is prepared."""

    help = "Serve on HOST and PORT until SIGTERM or Ctrl-C. The database and the static files must be prepared."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workers", type=int, default=1, help="processes; each holds a snapshot of its own")
        parser.add_argument("--threads", type=int, default=4, help="threads of each process")

    def handle(self, *_args: Any, **options: Any) -> None:
        command = server_command(
            Path(sys.executable),
            address=settings.HOST,
            port=settings.PORT,
            workers=options["workers"],
            threads=options["threads"],
        )
        sys.stdout.flush()
        sys.stderr.flush()
        # The process keeps its id, so that the signals of a container or of systemd reach the server itself.
        os.execve(command[0], command, server_environment(settings.BASE_DIR))
