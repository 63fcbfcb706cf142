"""What an optional argument may be written as, by the schema that describes it: for HTTP bodies and MCP tools alike.

Generated clients send null for what nobody has set, and models write whole numbers as 10.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_ANY: Final[Mapping[str, Any]] = {}


def normalize_arguments(value: Any, schema: Mapping[str, Any] = _ANY) -> Any:
    """The same value without nulls for optional keys, and with whole floats as integers where one is asked for.

    A key that the schema does not have is kept unless it is null; a null that the schema takes stays.
    """
    if isinstance(value, dict):
        return _normalize_object(value, schema)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [normalize_arguments(one, schema["items"]) for one in value]
    if isinstance(value, float) and value.is_integer() and _takes(schema, "integer") and not _takes(schema, "number"):
        return int(value)
    return value


def _normalize_object(value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    known, required = schema.get("properties", {}), schema.get("required", ())
    others = schema.get("additionalProperties")
    rest = others if isinstance(others, Mapping) else _ANY
    if not known and rest is _ANY and schema is not _ANY:
        # Data of somebody else, such as a log: nothing in it is an argument.
        return value
    found = {}
    for key, one in value.items():
        described = known.get(key, rest)
        # What stands in a map by its name, such as the text of a file, is not an argument.
        if one is not None or key in required or rest is not _ANY or _takes(described, "null"):
            found[key] = normalize_arguments(one, described) if described is not _ANY else one
    return found


def _takes(schema: Mapping[str, Any], name: str) -> bool:
    types = schema.get("type", ())
    return name == types or (isinstance(types, list) and name in types)
