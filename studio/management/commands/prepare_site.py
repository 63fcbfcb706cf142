"""`manage.py prepare_site`: everything that has to be there before the first request."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from registry.common.database_errors import PERSISTENT_OUTAGES, classify_error
from studio.launcher.site_setup import prepare_static_files, setup_site


class Command(BaseCommand):
    """Static files, tables, and what `prepare` publishes. Safe to run at any time and on every host at once."""

    help = "Collect the static files, migrate, and publish what a first start publishes."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--static", action="store_true", help="only the files that need no database")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            if options["static"]:
                prepare_static_files()
            else:
                setup_site(self.stdout)
        except OperationalError as error:
            if classify_error(error) in PERSISTENT_OUTAGES:
                raise
            raise CommandError(f"The database cannot be used: {error}".strip()) from error
        except OSError as error:
            raise CommandError(f"The data directory cannot be used: {error}") from error
