"""`manage.py prepare_site`: everything that has to be there before the first request."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from studio.preparing import prepare_site


class Command(BaseCommand):
    """Static files, tables, and what `prepare` publishes. Safe to run at any time and on every host at once."""

    help = "Collect the static files, migrate, and publish what a first start publishes."
    requires_system_checks: list[str] = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        try:
            prepare_site(self.stdout)
        except OperationalError as error:
            raise CommandError(f"The database cannot be used: {error}".strip()) from error
        except OSError as error:
            raise CommandError(f"The data directory cannot be used: {error}") from error
