"""`manage.py prepare_site`: everything that has to be there before the first request."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from registry.outages import LASTING, find_outage
from studio.preparing import prepare_site, prepare_static_files


class Command(BaseCommand):
    """Static files, tables, and what `prepare` publishes. Safe to run at any time and on every host at once."""

    help = "Collect the static files, migrate, and publish what a first start publishes."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--static", action="store_true", help="only the static files; asks no database")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            if options["static"]:
                prepare_static_files()
            else:
                prepare_site(self.stdout)
        except OperationalError as error:
            if find_outage(error) in LASTING:
                raise
            raise CommandError(f"The database cannot be used: {error}".strip()) from error
        except OSError as error:
            raise CommandError(f"The data directory cannot be used: {error}") from error
