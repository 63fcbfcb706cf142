"""A value that a JSON Schema allows, for a tool that nobody runs."""

from __future__ import annotations

from typing import Any, Final

_DEPTH_MAX: Final = 8
_BY_FORMAT: Final = {
    "date": "2026-01-15",
    "date-time": "2026-01-15T09:30:00Z",
    "time": "09:30:00Z",
    "email": "alex@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_BY_TYPE: Final[dict[str, Any]] = {"boolean": True, "null": None}


def example_of(schema: Any, depth: int = 0) -> Any:
    """Its own example, default or first choice; else the least that its type allows. It may break rules that are not
    read here, such as patterns: then the agent reads that the result does not fit."""
    if not isinstance(schema, dict) or depth > _DEPTH_MAX:
        return {} if depth == 0 else None
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("oneOf", "anyOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return example_of(schema[key][0], depth + 1)
    return _by_type(schema, _type_of(schema), depth)


def _type_of(schema: dict[str, Any]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return str(kind[0] if isinstance(kind, list) and kind else kind)


def _by_type(schema: dict[str, Any], kind: str, depth: int) -> Any:
    if kind == "object":
        properties = schema.get("properties", {})
        required = [name for name in schema.get("required", []) if name in properties]
        return {name: example_of(properties[name], depth + 1) for name in required}
    if kind == "array":
        count = min(max(int(schema.get("minItems", 0)), 1 if depth == 1 else 0), 3)
        return [example_of(schema.get("items", {}), depth + 1) for _ in range(count)]
    if kind in ("integer", "number"):
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        return least + (1 if "exclusiveMinimum" in schema else 0)
    if kind == "string":
        text = _BY_FORMAT.get(schema.get("format", ""), "example")
        return text.ljust(int(schema.get("minLength", 0)), "x")[: int(schema.get("maxLength", len(text) + 1000))]
    return _BY_TYPE.get(kind)
