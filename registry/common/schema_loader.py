"""Reading `schemas/`, the one source of a bundle's shape."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from registry.common.installation import RESOURCES_DIR

SCHEMAS_DIR = RESOURCES_DIR / "schemas"


@cache
def read_schema(name: str) -> dict[str, Any]:
    """One document of `schemas/`, by its path without `.schema.json`: `capability`, `api/error` ..."""
    document: dict[str, Any] = json.loads((SCHEMAS_DIR / f"{name}.schema.json").read_text("utf-8"))
    return document
