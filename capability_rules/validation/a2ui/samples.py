"""Sample values for what a form begins without: for the check of what its buttons send, and for previews."""

from __future__ import annotations

from typing import Any

from capability_kit.json_text import as_mapping

_DEPTH_MAX = 8


def with_samples(schema: Any, value: Any, *, depth: int = 0) -> Any:
    """Return the value of a form's data with samples of a tool's schema wherever nothing is entered."""
    schema = as_mapping(schema)
    if value in ("", []):
        return sample_of(schema)
    if depth < _DEPTH_MAX and isinstance(value, dict):
        properties = as_mapping(schema.get("properties"))
        return {key: with_samples(properties.get(key), one, depth=depth + 1) for key, one in value.items()}
    if depth < _DEPTH_MAX and isinstance(value, list) and schema.get("type") == "array":
        return [with_samples(schema.get("items"), one, depth=depth + 1) for one in value]
    return value


def sample_of(schema: dict[str, Any]) -> Any:
    """Return what a widget would hold for a value that the schema accepts: texts, and lists of what is chosen."""
    items = as_mapping(schema.get("items"))
    options = schema.get("enum") if schema.get("type") != "array" else items.get("enum")
    if isinstance(options, list) and options and isinstance(options[0], str):
        return [options[0]]
    if schema.get("type") == "array":
        return []
    if schema.get("type") == "string" and schema.get("format") in ("date", "date-time"):
        return _given(schema, "2026-01-15T09:00:00" if schema["format"] == "date-time" else "2026-01-15")
    return example_text(schema)


def _given(schema: dict[str, Any], otherwise: str | float) -> Any:
    """The first example, or the default, that is a text or a number as `otherwise` is; else that."""
    examples, kinds = schema.get("examples"), str if isinstance(otherwise, str) else int | float
    given = [*(examples if isinstance(examples, list) else []), schema.get("default")]
    return next((one for one in given if isinstance(one, kinds) and not isinstance(one, bool)), otherwise)


def example_text(schema: dict[str, Any]) -> str:
    """Return a string that the schema accepts: fields contain strings, and numbers are parsed from them."""
    if schema.get("type") not in ("integer", "number"):
        least = schema.get("minLength") if isinstance(schema.get("minLength"), int) else 1
        most = schema.get("maxLength") if isinstance(schema.get("maxLength"), int) else 200
        return str(_given(schema, ("example" * (max(1, least or 1) // 7 + 1))[: max(least or 1, min(7, most or 7))]))
    least = next((schema[key] for key in ("minimum", "maximum") if isinstance(schema.get(key), int | float)), 1)
    return str(_given(schema, least))
