"""Which tables a backup contains, and how a row becomes JSON and a row again on either database."""

# ruff: noqa: SLF001 (Django's name for what a model declares is _meta)

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from django.db.migrations.loader import MigrationLoader

from registry.common.errors import BackupUnreadable
from registry.feature import installed_feature_names, list_registry_models
from registry.models import MatchClassifier, OutcomeReport, RegistryState, SentenceVector

Model = type[models.Model]
# A row of texts may have 2 MiB.
_ROWS_A_READ: Final = 100


def backed_up_models() -> list[Model]:
    """Every table of the registry but what is made again from the others and what users said of failed uses, and how
    people sign in beside their password: second factors, and their names at an identity provider. What is kept by
    Django itself (sessions, its admin's log) is not in a backup."""
    return [
        *(model for model in list_registry_models() if model not in (MatchClassifier, OutcomeReport, SentenceVector)),
        Authenticator,
        SocialAccount,
    ]


def truncated_models() -> list[Model]:
    """What a restore empties: those, whatever else points at them, and the sessions of those who were signed in."""
    kept = backed_up_models()
    pointing = [model for model in apps.get_models(include_auto_created=True) if _points_at(model, kept)]
    sessions = [apps.get_model("sessions", "Session")] if apps.is_installed("django.contrib.sessions") else []
    # The counters' row is changed in place: a writer that waits for its lock finds it again.
    found = [model for model in dict.fromkeys([*pointing, *kept, *sessions]) if model is not RegistryState]
    return [model for model in found if model._meta.managed]


def _points_at(model: Model, targets: list[Model]) -> bool:
    return any(field.related_model in targets for field in model._meta.concrete_fields if field.is_relation)


def table_name(model: Model) -> str:
    """The name in the file, such as `capability`."""
    return str(model._meta.model_name)


def read_stored(name: str) -> Iterator[dict[str, Any]]:
    """Every row of a table by its name in the file."""
    return iterate_rows(find_model(name))


def find_model(name: str) -> Model:
    """The table of a name in the file; there is one."""
    return next(model for model in backed_up_models() if table_name(model) == name)


def iterate_rows(model: Model) -> Iterator[dict[str, Any]]:
    """Every row as JSON values by column, in the order of its key."""
    fields = model._meta.concrete_fields
    names = [field.attname for field in fields]
    found = model._base_manager.order_by("pk").values_list(*names)
    for values in found.iterator(chunk_size=_ROWS_A_READ):
        yield {name: _as_json(value) for name, value in zip(names, values, strict=True)}


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        # To the microsecond: the audit log's hashes are over it.
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode("ascii")
    return value


def parse_row(model: Model, columns: dict[str, Any]) -> models.Model:
    """The row again; a column that an older file does not have gets its default. Raises `BackupUnreadable`."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    unknown = sorted(set(columns) - set(fields))
    if unknown:
        raise BackupUnreadable(f"This version keeps no '{unknown[0]}' in '{table_name(model)}'")
    try:
        return model(**{name: _from_json(fields[name], value) for name, value in columns.items()})
    except ValidationError as error:
        raise BackupUnreadable(f"A row of '{table_name(model)}' has an invalid value: {error.messages[0]}") from error


def _from_json(field: models.Field[Any, Any], value: Any) -> Any:
    if value is None or isinstance(field, models.JSONField):
        return value
    target = field.target_field if isinstance(field, models.ForeignKey) else field
    return target.to_python(value)


def known_migrations() -> list[str]:
    """The names of the registry's migrations in this code, in order; then those of features, such as
    `sources.0001_initial`."""
    found = sorted(MigrationLoader(None).disk_migrations)
    of_core = [name for app, name in found if app == "registry"]
    return of_core + [f"{app}.{name}" for app, name in found if app in installed_feature_names()]
