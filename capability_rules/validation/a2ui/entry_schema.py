"""What `schemas/ui_schemas.schema.json` says of an entry: the keys, the forms of texts, how many of each.

The findings are worded and ordered here, under their own codes; the rules are in the schema alone.
"""

from __future__ import annotations

import re
from typing import Any, Final

from capability_rules.schema_loader import read_schema

_SCHEMA: Final = read_schema("ui_schemas")
# The keys of an entry and of a definition, each with its schema.
ENTRY_PROPERTIES: Final[dict[str, Any]] = _SCHEMA["$defs"]["entry"]["properties"]
DEFINITION_PROPERTIES: Final[dict[str, Any]] = _SCHEMA["$defs"]["definition"]["properties"]
ENTRIES_MAX: Final[int] = _SCHEMA["else"]["maxItems"]
COMPONENTS_MAX: Final[int] = DEFINITION_PROPERTIES["components"]["maxItems"]
# The A2UI versions that may be named, the one to write first.
VERSIONS: Final[list[str]] = ENTRY_PROPERTIES["a2ui_version"]["enum"]
CATALOG_ID: Final[str] = DEFINITION_PROPERTIES["catalogId"]["const"]
_SCHEMA_ID: Final = re.compile(_SCHEMA["$defs"]["schema_id"]["pattern"].removeprefix("^").removesuffix("$"))


def is_schema_id(text: str) -> bool:
    """Whether `text` has the form of a schema_id."""
    return _SCHEMA_ID.fullmatch(text) is not None
