"""Django's `migrate`, without checks of what has nothing to do with a database, and never for a newer database."""

from __future__ import annotations

from typing import Any

from django.core.checks import Tags
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from registry.feature import installed_feature_names


class Command(migrate.Command):
    """As Django's. All checks import every view and describe the whole API, which takes as long as the migrations:
    `manage.py check` has them."""

    requires_system_checks = (Tags.database, Tags.models)

    def handle(self, *args: Any, **options: Any) -> None:
        loader = MigrationLoader(connections[options["database"]])
        ours = {"registry", *installed_feature_names()}
        newer = sorted(key for key in set(loader.applied_migrations) - set(loader.disk_migrations) if key[0] in ours)
        if newer:
            app, name = newer[-1]
            raise CommandError(
                f"The database was migrated by a newer version of Capability Studio ({app}.{name} is not known here), "
                "and nothing was changed. Start that version or a later one; to go back, restore a backup of this "
                "version into an empty database (docs/upgrade.md)"
            )
        super().handle(*args, **options)
