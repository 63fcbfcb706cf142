"""A schema as a validator gets it: one document of 2020-12 in which every reference is a pointer into `$defs`.

No `$id`, `$anchor`, `$dynamicRef` or `$schema` reaches a validator, so that it has nothing to resolve. Keywords that
assert nothing are left out, and so are patterns that are not to be run. An export to a vendor keeps
what the author says of a value (portable.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from capability_kit.json_schema.graph import EXPANSIONS_MAX, Link, Node, Resource, SchemaGraph

_ASSERTIONS: Final = frozenset(
    {"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"}
    | {"maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains"}
    | {"maxProperties", "minProperties", "required", "dependentRequired"}
)
_APPLICATORS: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "prefixItems", "items"}
    | {"contains", "properties", "patternProperties", "additionalProperties", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
_WRITTEN: Final = _ASSERTIONS | _APPLICATORS
_WRITTEN_MAX: Final = 10 * EXPANSIONS_MAX

# The resources on the way from the root, each by the dynamic anchor for which it is the outermost one.
Scope = tuple[tuple[str, Resource], ...]


class TooManyForms(ValueError):
    """Dynamic references give the schema more forms than may be unfolded."""


class SchemaRewriter:
    """Writes the subschemas of one document, each as a document of its own.

    The graph must be resolved. `is_unwanted` names patterns that are left out, `keeps` says which other keywords are
    kept with their values, and `wished_name` what a target is called in `$defs` (empty: a number).
    """

    def __init__(
        self,
        graph: SchemaGraph,
        *,
        is_unwanted: Callable[[str], bool] = lambda _: False,
        keeps: Callable[[str, Any], bool] = lambda *_: False,
        wished_name: Callable[[Node], str] = lambda _: "",
    ) -> None:
        self._graph = graph
        self._is_unwanted = is_unwanted
        self._keeps = keeps
        self._wished_name = wished_name
        # The name in $defs of each target, by its node and the scope in which it is met.
        self._names: dict[tuple[Node, Scope], str] = {}
        self._definitions: dict[str, dict[str, Any]] = {}
        self._named_in: dict[str, set[str]] = {}
        self._waiting: list[tuple[Node, Scope]] = []
        self._written = 0

    def document(self, node: Node) -> dict[str, Any]:
        """The whole schema by its root, or one subschema of it. Raises `TooManyForms`."""
        named: set[str] = set()
        whole = self._write(node, self._scope_at(node), named)
        while self._waiting:
            target = self._waiting.pop()
            name = self._names[target]
            self._named_in[name] = set()
            self._definitions[name] = self._write(*target, self._named_in[name])
        needed: dict[str, dict[str, Any]] = {}
        while named:
            name = named.pop()
            needed[name] = self._definitions[name]
            named |= self._named_in[name] - needed.keys()
        return whole | {"$defs": needed} if needed else whole

    def _scope_at(self, node: Node) -> Scope:
        """The scope of a subschema that is reached from the root by the way that is written."""
        if not self._graph.dynamic_names:
            return ()
        around = [one for one in self._graph.nodes if one.path == node.path[: len(one.path)]]
        scope: Scope = ()
        for outer in sorted(around, key=lambda one: len(one.path)):
            scope = self._entered(scope, outer.resource)
        return scope

    def _entered(self, scope: Scope, resource: Resource) -> Scope:
        if not self._graph.dynamic_names:
            return scope
        new = self._graph.dynamic_names & resource.dynamic_anchors.keys() - {name for name, _ in scope}
        return (*scope, *((name, resource) for name in sorted(new))) if new else scope

    def _write(self, node: Node, scope: Scope, named: set[str]) -> dict[str, Any]:
        """One subschema and everything below it; as deep as the author's JSON, which has a bound of its own."""
        self._written += 1
        if self._written > _WRITTEN_MAX:
            raise TooManyForms("its dynamic references unfold to too many forms")
        schema = {key: value for key, value in node.schema.items() if key in _WRITTEN or self._keeps(key, value)}
        for edge in node.edges:
            if edge.keyword not in _APPLICATORS:
                continue
            inner = self._write(edge.node, self._entered(scope, edge.node.resource), named)
            if edge.key is None:
                schema[edge.keyword] = inner
                continue
            if schema[edge.keyword] is node.schema[edge.keyword]:
                schema[edge.keyword] = node.schema[edge.keyword].copy()
            schema[edge.keyword][edge.key] = inner
        self._leave_patterns_out(schema)
        pointers = [self._pointer(link, scope, named) for link in node.links]
        if len(pointers) > 1:
            return schema | {"allOf": [*schema.get("allOf", []), *pointers]}
        return schema | pointers[0] if pointers else schema

    def _leave_patterns_out(self, schema: dict[str, Any]) -> None:
        """Which properties an unwanted key of patternProperties names is not known: nothing is said of all others."""
        pattern, keyed = schema.get("pattern"), schema.get("patternProperties")
        if isinstance(pattern, str) and self._is_unwanted(pattern):
            del schema["pattern"]
        if isinstance(keyed, dict) and any(map(self._is_unwanted, keyed)):
            schema["patternProperties"] = {key: item for key, item in keyed.items() if not self._is_unwanted(key)}
            schema.pop("additionalProperties", None)
            schema.pop("unevaluatedProperties", None)

    def _pointer(self, link: Link, scope: Scope, named: set[str]) -> dict[str, str]:
        target = link.target
        if link.dynamic_name:
            outermost = dict(scope).get(link.dynamic_name)
            target = outermost.dynamic_anchors[link.dynamic_name] if outermost is not None else target
        key = (target, self._entered(scope, target.resource))
        if key not in self._names:
            self._names[key] = self._free_name(target)
            self._waiting.append(key)
        named.add(self._names[key])
        return {"$ref": f"#/$defs/{self._names[key]}"}

    def _free_name(self, target: Node) -> str:
        number = len(self._names)
        wished = self._wished_name(target)
        taken = self._names.values()
        return wished if wished and wished not in taken else f"{wished}_{number}" if wished else str(number)
