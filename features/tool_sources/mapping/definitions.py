"""Definitions that a schema refers to, put into it as far as a tool can carry them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from capability_kit.json_schema.graph import SchemaGraph, copy_changed, iterate_schemas
from capability_kit.json_schema.measure import find_endless, is_too_complex
from features.tool_sources.operation import Definitions, Json, Loss, SchemaFacts

# A model reads the schema with every request: beyond this, fewer references are followed.
BYTES_WISHED: Final = 16_000
_PREFIX: Final = "#/$defs/"
# How far references are followed, tried from the first.
_LEVELS: Final = (64, 8, 5, 3, 2, 1)


def embed_definitions(schema: Json, definitions: Definitions) -> tuple[Json, set[Loss]]:
    """The schema with what it refers to below `$defs`, and what that lost.

    As many levels of references as keep it below `BYTES_WISHED` and within what can be checked; where one is cut off,
    any value of its type is taken.
    """
    facts = _Facts(definitions)
    own = facts.measure(schema)
    whole, reached, levels = _cut_to_size(schema, definitions, own, facts)
    losses = {loss for name in reached for loss in definitions.losses.get(name, ())}
    named = {*own.references}.union(*(facts.of(name).references for name in reached))
    count = len(named.difference(reached))
    if count:
        words = f"The schema is too large: references are followed {levels} deep, and {count} of them take any value"
        losses.add(Loss("IMPORT_SCHEMA_LOST", words))
    return whole, losses


def _cut_to_size(
    schema: Json, definitions: Definitions, own: SchemaFacts, facts: _Facts
) -> tuple[Json, list[str], int]:
    """The schema with the definitions that it keeps, their names, and how many levels of references that takes."""
    for levels in _LEVELS:
        reached = facts.within(own.references, levels)
        if own.size + sum(facts.of(name).size for name in reached) <= BYTES_WISHED:
            whole = _assembled(schema, definitions, reached)
            if _is_sound(whole):
                return whole, reached, levels
    return _assembled(schema, definitions, []), [], 0


class _Facts:
    """Size and references of schemas, each definition measured once for all tools."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def measure(self, schema: Json) -> SchemaFacts:
        targets = (one["$ref"].removeprefix(_PREFIX) for one in iterate_schemas(schema) if "$ref" in one)
        return SchemaFacts(len(json.dumps(schema, ensure_ascii=False)), tuple(dict.fromkeys(targets)))

    def of(self, name: str) -> SchemaFacts:
        known = self._definitions.facts
        if name not in known:
            known[name] = self.measure(self._definitions.schemas[name])
        return known[name]

    def within(self, names: Iterable[str], levels: int) -> list[str]:
        """The definitions within so many references, the nearest first."""
        found: dict[str, None] = {}
        edge = list(names)
        for _ in range(levels):
            edge = [name for name in dict.fromkeys(edge) if name not in found and name in self._definitions.schemas]
            found |= dict.fromkeys(edge)
            edge = [name for one in edge for name in self.of(one).references]
        return list(found)


def _assembled(schema: Json, definitions: Definitions, reached: list[str]) -> Json:
    parts = {name: definitions.schemas[name] for name in reached}
    whole = {**schema, "$defs": parts} if parts else schema
    return copy_changed(whole, lambda one: _open_reference(one, parts, definitions))


def _open_reference(schema: Json, parts: Json, definitions: Definitions) -> None:
    """A reference that is not followed takes any value of the type that it meant, and has its words."""
    name = schema["$ref"].removeprefix(_PREFIX) if "$ref" in schema else ""
    if not name or name in parts:
        return
    del schema["$ref"]
    meant = definitions.schemas.get(name, {})
    for key in ("type", "description"):
        if key in meant:
            schema.setdefault(key, meant[key])
    if schema.get("type") == "array":
        schema.setdefault("items", {})


def _is_sound(schema: Json) -> bool:
    graph = SchemaGraph(schema)
    return graph.is_resolved and find_endless(graph) is None and not is_too_complex(graph)
