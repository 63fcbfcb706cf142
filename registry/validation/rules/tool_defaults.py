"""Checks that each default matches its property's schema, each against its own subschema, in bounded time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import jsonschema_rs

from agent_client.json_schema.graph import EXPANSIONS_MAX, Node, Path, SchemaGraph
from agent_client.json_schema.validation import LINEAR, first_error
from registry.bundles import json_locations
from registry.validation.rules.tool_patterns import Patterns
from registry.validation.rules.tool_schemas import shortened_names

# What one default may take: each of its values meets each subschema and each entry of an enum, and each of its letters
# what a pattern unfolds to. Some tenths of a second.
_STEPS_MAX: Final = 20_000_000
# Validators that are kept for the next property, and how long a schema may be for that: large ones take much memory.
_KEPT_MAX: Final = 200
_KEPT_CHARACTERS_MAX: Final = 2_000
_SAYS_NOTHING: Final = frozenset({"default", "title", "description", "examples", "$comment"})
_URI: Final = "urn:capability-studio:author"


def find_invalid_defaults(graph: SchemaGraph, patterns: Patterns) -> Iterator[tuple[Node, str]]:
    """Each subschema that refuses its own default, with the reason in words."""
    defaults = _Defaults(graph, patterns)
    for node in graph.nodes:
        if "default" in node.schema:
            patterns.deadline.check()
            reason = defaults.refusal(node, node.schema["default"])
            if reason is not None:
                yield node, reason


@dataclass
class _Defaults:
    graph: SchemaGraph
    patterns: Patterns
    # Properties are often alike but for their words: one validator serves them all.
    kept: dict[str, jsonschema_rs.Validator | None] = field(default_factory=dict)

    def refusal(self, node: Node, value: Any) -> str | None:
        """Why the subschema refuses a value; None where it takes it or where asking would cost too much."""
        if not self._is_affordable(node, _Extent.of(value)):
            return None
        validator = self._validator(node)
        error = None if validator is None else first_error(validator, value)
        return None if error is None else shortened_names(error.message)

    def _is_affordable(self, node: Node, extent: _Extent) -> bool:
        if max(self._pattern_cost * extent.characters, self._enum_entries * extent.values) > _STEPS_MAX:
            return False
        try:
            visits = self.graph.visits(extent.depth, node)
        except RecursionError:
            return False
        return visits <= EXPANSIONS_MAX * 10 and visits * extent.values <= _STEPS_MAX

    @cached_property
    def _pattern_cost(self) -> int:
        return self.patterns.cost_of_running(self.graph)

    @cached_property
    def _enum_entries(self) -> int:
        enums = (node.schema.get("enum") for node in self.graph.nodes)
        return sum(len(enum) for enum in enums if isinstance(enum, list))

    @cached_property
    def _bound_to_document(self) -> set[Path]:
        """The paths whose subschema contains a reference or an `$id`: they mean nothing apart from the document."""
        bound: set[Path] = set()
        for node in self.graph.nodes:
            path = node.path
            if node.references or "$id" in node.schema:
                while path not in bound:
                    bound.add(path)
                    path = path[:-1]
        return bound

    @cached_property
    def _document(self) -> tuple[str, jsonschema_rs.Registry]:
        """The whole schema under its own address: only what a reference leads to is compiled."""
        uri = self.graph.root.base or _URI
        whole = {key: value for key, value in self.graph.root.schema.items() if key != "$schema"} | {"$id": uri}
        return uri, jsonschema_rs.Registry([(uri, self.patterns.without_hard_ones(whole))])

    def _validator(self, node: Node) -> jsonschema_rs.Validator | None:
        if node.path in self._bound_to_document:
            try:
                uri, registry = self._document
                return _compile({"$ref": f"{uri}#{_pointer(node.path)}"}, registry)
            except (jsonschema_rs.ReferencingError, ValueError):
                return None
        schema = {key: value for key, value in node.schema.items() if key not in _SAYS_NOTHING}
        text = json.dumps(schema, sort_keys=True)
        if text in self.kept:
            return self.kept[text]
        validator = _compile(self.patterns.without_hard_ones(schema), None)
        if len(text) <= _KEPT_CHARACTERS_MAX and len(self.kept) < _KEPT_MAX:
            self.kept[text] = validator
        return validator


def _compile(schema: Any, registry: jsonschema_rs.Registry | None) -> jsonschema_rs.Validator | None:
    try:
        return jsonschema_rs.Draft202012Validator(schema, offline=True, pattern_options=LINEAR, registry=registry)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def _pointer(path: Path) -> str:
    return quote(json_locations.build_pointer(path), safe="/~$")


class _Extent(NamedTuple):
    """How many levels a value has, how many values there are in it, and how many characters its texts have together."""

    depth: int
    values: int
    characters: int

    @classmethod
    def of(cls, value: Any) -> _Extent:
        if isinstance(value, str):
            return cls(0, 1, len(value))
        if not isinstance(value, dict | list):
            return cls(0, 1, 0)
        inside = [cls.of(item) for item in (value.values() if isinstance(value, dict) else value)]
        keys = sum(map(len, value)) if isinstance(value, dict) else 0
        return cls(
            1 + max((one.depth for one in inside), default=0),
            1 + sum(one.values for one in inside),
            keys + sum(one.characters for one in inside),
        )
