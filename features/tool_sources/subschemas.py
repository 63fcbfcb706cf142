"""Schemas within a schema, of the keywords that a converted one has; names of properties are not keywords."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from features.tool_sources.operation import Json

MAPS: Final = ("properties", "patternProperties", "$defs")
LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
ONES: Final = ("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else")


def iterate_schemas(schema: Json) -> Iterator[Json]:
    """The schema and every one below it, in the order in which they are written."""
    stack: list[Any] = [schema]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            yield one
            stack += reversed(list(_directly_below(one)))


def _directly_below(schema: Json) -> Iterator[Any]:
    for key, value in schema.items():
        if key in MAPS and isinstance(value, dict):
            yield from value.values()
        elif key in LISTS and isinstance(value, list):
            yield from value
        elif key in ONES:
            yield value
