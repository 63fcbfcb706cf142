"""Group 5, the arguments: would a tool take what a button sends, judged by the sample data?

A value is coerced first (capability_kit.json_schema.coercion), as the runtime does, then validated against the tool's
own schema (capability_kit.json_schema.evaluator), with linear patterns, and only for the properties that a form uses.
What cannot be asked has a finding on tools.json, and is passed over here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

from capability_kit.json_schema.coercion import coerce
from capability_kit.json_schema.evaluator import LINEAR, SchemaEvaluator, SchemaUnsafe, compiles
from capability_kit.json_schema.graph import Node, SchemaGraph
from capability_kit.json_schema.pattern_cost import CompileBudget
from capability_kit.json_text import as_mapping
from capability_rules.validation.a2ui.budget import Budget
from capability_rules.validation.a2ui.data_paths import MISSING, is_relative, is_well_formed
from capability_rules.validation.a2ui.limits import DEPTH_MAX
from capability_rules.validation.a2ui.scopes import DataScope, find_scope
from capability_rules.validation.a2ui.surface import Surface
from capability_rules.validation.a2ui.walk import depth_of

_SCHEMA_NODES_MAX = 5_000
# In the units of capability_kit.json_schema.pattern_cost, of one file; about a tenth of a second.
_PATTERNS_COST_MAX = 500_000
# What one value may take, in the steps of capability_kit.json_schema.measure: about a hundredth of a second.
_STEPS_MAX = 10_000_000
# Properties can be declared elsewhere than in `properties`; a schema with one of these is not checked for unknown keys.
_DECLARING = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties")

ArgumentsVerdict = str | None


@dataclass(frozen=True, slots=True)
class ArgsSchema:
    """A tool's `args_schema`, as far as it can be read."""

    schema: dict[str, Any]

    @property
    def properties(self) -> dict[str, Any]:
        """Return the declared properties."""
        return as_mapping(self.schema.get("properties"))

    @property
    def required(self) -> list[str]:
        """Return the required names, `user_id` left out: the runtime sets that one itself (docs/contract.md 1.3)."""
        named = self.schema.get("required")
        names = named if isinstance(named, list) else []
        return [name for name in names if isinstance(name, str) and name != "user_id"]

    @property
    def is_closed(self) -> bool:
        """Whether `properties` names all that is allowed."""
        return not any(key in self.schema for key in _DECLARING)


@dataclass(slots=True)
class Arguments:
    """Checks values against args schemas, each schema read once and each sample value judged once."""

    work: Budget
    # The identity of each sample value that some tool refused.
    refused: set[int] = field(default_factory=set)
    _patterns: CompileBudget = field(default_factory=lambda: CompileBudget(_PATTERNS_COST_MAX))
    _read: dict[int, _ReadSchema | None] = field(default_factory=dict)
    _verdicts: dict[tuple[int, str, int], ArgumentsVerdict] = field(default_factory=dict)
    # Verdicts are remembered by identity, so that what they speak of must stay alive.
    _kept: list[object] = field(default_factory=list)

    def judge(self, args: ArgsSchema, key: str, value: Any) -> ArgumentsVerdict:
        """Why the tool would refuse `value` for the argument `key`; None where it accepts it, or cannot decide."""
        memory = (id(args.schema), key, id(value))
        if memory not in self._verdicts:
            self._kept.append((args.schema, value))
            self._verdicts[memory] = self._judge(args, key, value)
            if self._verdicts[memory] is not None:
                self.refused.add(id(value))
        return self._verdicts[memory]

    def _judge(self, args: ArgsSchema, key: str, value: Any) -> ArgumentsVerdict:
        read = self._schema(args.schema)
        property_node = None if read is None else read.properties.get(key)
        if read is None or property_node is None or not self.work.spend(count_nodes(value, self.work.steps_left)):
            return None
        coerced = coerce({key: value}, args.schema)
        if not isinstance(coerced, dict) or key not in coerced:
            return None  # An optional text that is empty is left out.
        try:
            error = read.evaluator.find_error(property_node, coerced[key], steps_max=_STEPS_MAX)
        except SchemaUnsafe:
            return None  # It has a finding on tools.json, or a value so large that nobody can tell in time.
        return None if error is None else _describe(error)

    def _schema(self, schema: dict[str, Any]) -> _ReadSchema | None:
        if id(schema) not in self._read:
            self._read[id(schema)] = self._read_schema(schema)
        return self._read[id(schema)]

    def _read_schema(self, schema: dict[str, Any]) -> _ReadSchema | None:
        nodes = count_nodes(schema, _SCHEMA_NODES_MAX)
        if nodes > _SCHEMA_NODES_MAX or depth_of(schema, DEPTH_MAX * 2) > DEPTH_MAX * 2 or not self.work.spend(nodes):
            return None
        graph = SchemaGraph(schema)
        properties = {str(edge.key): edge.node for edge in graph.root.edges if edge.keyword == "properties"}
        try:
            return _ReadSchema(SchemaEvaluator(graph, is_unwanted=self._is_unwanted), properties)
        except SchemaUnsafe:
            return None

    def _is_unwanted(self, pattern: str) -> bool:
        return self._patterns.refuses(pattern) or not compiles(pattern, LINEAR)


@dataclass(frozen=True, slots=True)
class _ReadSchema:
    evaluator: SchemaEvaluator
    properties: dict[str, Node]


def _describe(error: jsonschema_rs.ValidationError) -> str:
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
    words = error.message if len(error.message) <= 160 else error.message[:160] + "..."
    return f"{place.lstrip('.')}: {words}" if place else words


def evaluate(surface: Surface, scope: DataScope, value: Any) -> Any:
    """Give what a context value would send, by the sample data; `MISSING` where that cannot be known beforehand."""
    if isinstance(value, list):
        if not any(isinstance(item, dict | list) for item in value):
            return value
        items = [evaluate(surface, scope, item) for item in value]
        return MISSING if any(item is MISSING for item in items) else items
    if not isinstance(value, dict):
        return value
    path = value.get("path")
    if isinstance(path, str) and len(value) == 1:
        is_lost = is_relative(path) and scope.kind != "item"
        return MISSING if is_lost or not is_well_formed(path) else find_scope(surface, scope, path)[0]
    if "call" in value:
        return MISSING
    parts = {key: evaluate(surface, scope, item) for key, item in value.items()}
    return MISSING if any(part is MISSING for part in parts.values()) else parts


def count_nodes(value: object, most: int) -> int:
    """Count the values inside `value`, itself included; stops soon after `most`."""
    count = 1
    waiting = [value]
    while waiting and count <= most:
        node = waiting.pop()
        if isinstance(node, dict | list):
            count += len(node)
            inner = node.values() if isinstance(node, dict) else node
            waiting.extend(item for item in inner if isinstance(item, dict | list))
    return count
