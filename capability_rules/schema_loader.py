"""Reading `schemas/`, the one source of a bundle's shape."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
# The folder beside the packages, as a checkout has it; a wheel has the files in this package.
SCHEMAS_DIR = next(
    folder / "schemas" for folder in (_HERE.parent, _HERE) if (folder / "schemas" / "capability.schema.json").is_file()
)


@cache
def read_schema(name: str) -> dict[str, Any]:
    """One document of `schemas/`, by its path without `.schema.json`: `capability`, `api/error` ..."""
    document: dict[str, Any] = json.loads((SCHEMAS_DIR / f"{name}.schema.json").read_text("utf-8"))
    return document


@cache
def read_api_schema(name: str) -> dict[str, Any]:
    """One document of `schemas/api/`, with what it refers to in `shapes.schema.json` written in."""
    expanded: dict[str, Any] = _expand(read_schema(f"api/{name}"))
    return expanded


def _expand(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_expand(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    _, _, shape = schema.get("$ref", "").partition("shapes.schema.json#/$defs/")
    if shape:
        others = {key: value for key, value in schema.items() if key != "$ref"}
        return _expand(read_schema("shapes")["$defs"][shape] | others)
    return {key: _expand(value) for key, value in schema.items()}
