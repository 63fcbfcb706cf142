"""What `schemas/ui_schemas.schema.json` says of an entry: the keys, the forms of texts, how many of each.

The findings are worded and ordered here, under their own codes; the rules are in the schema alone.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from registry.common.schema_loader import read_schema


@cache
def _definitions() -> dict[str, Any]:
    definitions: dict[str, Any] = read_schema("ui_schemas")["$defs"]
    return definitions


@cache
def entry_properties() -> dict[str, Any]:
    """Return the keys of an entry, each with its schema."""
    return dict(_definitions()["entry"]["properties"])


@cache
def definition_properties() -> dict[str, Any]:
    """Return the keys of a definition, each with its schema."""
    return dict(_definitions()["definition"]["properties"])


def entries_max() -> int:
    """Return how many entries a file may have."""
    return int(read_schema("ui_schemas")["else"]["maxItems"])


def components_max() -> int:
    """Return how many components a definition may have."""
    return int(definition_properties()["components"]["maxItems"])


def versions() -> list[str]:
    """List the A2UI versions that may be named, the one to write first."""
    return list(entry_properties()["a2ui_version"]["enum"])


def catalog_id() -> str:
    """Return the one catalogue that a definition may name."""
    return str(definition_properties()["catalogId"]["const"])


def is_schema_id(text: str) -> bool:
    """Whether `text` has the form of a schema_id."""
    return _schema_id().fullmatch(text) is not None


@cache
def _schema_id() -> re.Pattern[str]:
    return re.compile(str(_definitions()["schema_id"]["pattern"]).removeprefix("^").removesuffix("$"))
