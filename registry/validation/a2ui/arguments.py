"""Group 5, the arguments: would a tool take what a button sends, judged by the sample data?

A value is coerced first (agent_client.json_schema.coercion), as the runtime does, then validated against the tool's own
schema. Schemas
that authors wrote are untrusted: they are compiled offline, with the linear regular expression engine, only for the
properties that a form uses, and only where their graph says that they do not explode. What cannot be asked for one of
these reasons has a finding on tools.json, and is passed over here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

from agent_client.json_schema.coercion import coerce
from agent_client.json_schema.graph import SchemaGraph
from agent_client.json_schema.pattern_cost import estimate_cost
from agent_client.json_schema.validation import first_error
from registry.bundles.json_locations import build_pointer
from registry.bundles.json_reader import iterate_values
from registry.validation.a2ui.budget import Budget
from registry.validation.a2ui.data_paths import MISSING, is_relative, is_well_formed
from registry.validation.a2ui.limits import DEPTH_MAX
from registry.validation.a2ui.scopes import DataScope, find_scope
from registry.validation.a2ui.surface import Surface, dict_or_empty
from registry.validation.a2ui.walk import depth_of

_ROOT_URI = "urn:studio:args-schema"
_SCHEMA_NODES_MAX = 5_000
_PATTERNS_PER_FILE_MAX = 200
_PATTERN_BYTES_MAX = 1 << 18
# In the units of agent_client.json_schema.pattern_cost, of one schema; about a tenth of a second.
_PATTERNS_COST_MAX = 500_000
# One visit of a subschema takes about a tenth of a microsecond; this bounds what one value of great depth can cost.
_VISITS_MAX = 100_000
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
        return dict_or_empty(self.schema.get("properties"))

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
    """Checks values against args schemas, each schema compiled once and each sample value judged once."""

    work: Budget
    patterns_left: int = _PATTERNS_PER_FILE_MAX
    # The identity of each sample value that some tool refused.
    refused: set[int] = field(default_factory=set)
    _graphs: dict[int, SchemaGraph | None] = field(default_factory=dict)
    _visits: dict[tuple[int, int], int] = field(default_factory=dict)
    _validators: dict[tuple[int, str], jsonschema_rs.Validator | None] = field(default_factory=dict)
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
        graph = self._graph(args.schema)
        if graph is None or not self.work.spend(count_nodes(value, self.work.steps_left)):
            return None
        coerced = coerce({key: value}, args.schema)
        if not isinstance(coerced, dict) or key not in coerced:
            return None  # An optional text that is empty is left out.
        if self._visits_for(graph, depth_of(coerced[key], DEPTH_MAX)) > _VISITS_MAX:
            return None
        validator = self._validator(args, key)
        error = None if validator is None else first_error(validator, coerced[key])
        return None if error is None else _describe(error)

    def _graph(self, schema: dict[str, Any]) -> SchemaGraph | None:
        if id(schema) not in self._graphs:
            self._graphs[id(schema)] = self._read_graph(schema)
        return self._graphs[id(schema)]

    def _read_graph(self, schema: dict[str, Any]) -> SchemaGraph | None:
        nodes = count_nodes(schema, _SCHEMA_NODES_MAX)
        if nodes > _SCHEMA_NODES_MAX or depth_of(schema, DEPTH_MAX * 2) > DEPTH_MAX * 2 or not self.work.spend(nodes):
            return None
        self.patterns_left -= sum(1 for _ in _patterns(schema))
        if self.patterns_left < 0 or sum(map(estimate_cost, _patterns(schema))) > _PATTERNS_COST_MAX:
            return None
        graph = SchemaGraph(schema)
        is_sound = not graph.bad_references and graph.endless() is None and not graph.is_too_complex()
        return graph if is_sound else None

    def _visits_for(self, graph: SchemaGraph, depth: int) -> int:
        memory = (id(graph), depth)
        if memory not in self._visits:
            self._visits[memory] = graph.visits(depth)
        return self._visits[memory]

    def _validator(self, args: ArgsSchema, key: str) -> jsonschema_rs.Validator | None:
        memory = (id(args.schema), key)
        if memory not in self._validators:
            self._validators[memory] = _compile(args.schema, key)
        return self._validators[memory]


def _compile(schema: dict[str, Any], key: str) -> jsonschema_rs.Validator | None:
    """Compile one property. The whole document is at hand for references, but only what is used is compiled.

    None where the schema is invalid or needs a stronger regular expression engine: that is reported for tools.json.
    """
    # All drafts are read as 2020-12 (docs/contract.md 1.3), and an own $id would move the references.
    document = {name: value for name, value in schema.items() if name not in ("$schema", "$id")}
    pointer = build_pointer(("properties", key)).replace("%", "%25")
    try:
        registry = jsonschema_rs.Registry([(_ROOT_URI, document)])
        return jsonschema_rs.Draft202012Validator(
            {"$ref": f"{_ROOT_URI}#{pointer}"},
            registry=registry,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES_MAX),
            offline=True,
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


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


def _patterns(schema: object) -> Iterator[str]:
    for node in map(dict_or_empty, iterate_values(schema)):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        yield from dict_or_empty(node.get("patternProperties"))
