"""Django's `migrate`, without checks of what has nothing to do with a database."""

from __future__ import annotations

from django.core.checks import Tags
from django.core.management.commands import migrate


class Command(migrate.Command):
    """As Django's. All checks import every view and describe the whole API, which takes as long as the migrations:
    `manage.py check` has them."""

    requires_system_checks = (Tags.database, Tags.models)
