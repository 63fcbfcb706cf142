"""`allOf` as one schema, where one can say the same: OpenAI and Anthropic refuse it at the root of a tool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

Json = dict[str, Any]
_UNMERGEABLE: Final = object()


def merge_all_of(schemas: Sequence[Json]) -> Json | None:
    """One schema that takes what all of these take, the first one's words before those of the others; None where it
    takes more than one schema to say it.

    Authors extend a closed object by `allOf`, which nothing would fulfill as it is written: the merged one is open.
    """
    merged: Json = {}
    for schema in schemas:
        for key, value in schema.items():
            merged[key] = _combine(key, merged[key], value) if key in merged else value
            if merged[key] is _UNMERGEABLE:
                return None
    if sum("properties" in schema for schema in schemas) > 1 and merged.get("additionalProperties") is False:
        del merged["additionalProperties"]
    return merged


def _combine(key: str, first: Any, second: Any) -> Any:
    if first == second:
        return first
    combine = _COMBINATIONS.get(key)
    return combine(first, second) if combine is not None else _UNMERGEABLE


def _first(first: Any, _second: Any) -> Any:
    return first


def _properties(first: Json, second: Json) -> Json:
    return first | {name: _both(first[name], item) if name in first else item for name, item in second.items()}


def _both(first: Any, second: Any) -> Any:
    """One property that two schemas describe."""
    if first == second:
        return first
    is_plain = isinstance(first, dict) and isinstance(second, dict) and "$ref" not in first and "$ref" not in second
    merged = merge_all_of([first, second]) if is_plain else None
    return {"allOf": [first, second]} if merged is None else merged


def _union(first: list[Any], second: list[Any]) -> list[Any]:
    return [*first, *(item for item in second if item not in first)]


def _common(first: list[Any], second: list[Any]) -> Any:
    return [item for item in first if item in second] or _UNMERGEABLE


def _types(first: Any, second: Any) -> Any:
    wide, narrow = (value if isinstance(value, list) else [value] for value in (first, second))
    found = [name for name in wide if name in narrow or (name == "integer" and "number" in narrow)]
    found += [name for name in narrow if name == "integer" and "number" in wide and name not in found]
    return found[0] if len(found) == 1 else found or _UNMERGEABLE


def _closed(first: Any, second: Any) -> Any:
    """Open where one of both is: `true` asks for nothing, and a closed one was extended."""
    if isinstance(first, dict) and isinstance(second, dict):
        return _UNMERGEABLE
    return first if isinstance(first, dict) else second if isinstance(second, dict) else True


_COMBINATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "description": _first,
    "default": _first,
    "properties": _properties,
    "required": _union,
    "enum": _common,
    "type": _types,
    "additionalProperties": _closed,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    "uniqueItems": lambda first, second: first or second,
    "allOf": _union,
}
