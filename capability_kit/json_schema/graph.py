"""An author's JSON Schema as a graph: where its subschemas are, and where its references lead.

This is the only place that resolves a reference. What decides whether a schema is safe (measure.py) and what is given
to a validator (rewriter.py) both stand on it, so that they cannot read one document in two ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from capability_kit.json_pointer import decode_step
from capability_kit.json_schema.uri import resolve_uri

PathStep = str | int
Path = tuple[PathStep, ...]

EXPANSIONS_MAX: Final = 10_000

# Which keywords hold subschemas (JSON Schema 2020-12 core and applicator vocabularies, and what older drafts had).
# In-place: applied to the same value. Child: applied to a part of it.
IN_PLACE_ONE: Final = frozenset({"not", "if", "then", "else"})
IN_PLACE_LIST: Final = frozenset({"allOf", "anyOf", "oneOf"})
IN_PLACE_MAP: Final = frozenset({"dependentSchemas", "dependencies"})
CHILD_ONE: Final = frozenset(
    {"items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
    | {"additionalItems", "contentSchema"}
)
CHILD_LIST: Final = frozenset({"prefixItems"})
CHILD_MAP: Final = frozenset({"properties", "patternProperties"})
# Held, but applied only through a reference.
STORED_MAP: Final = frozenset({"$defs", "definitions"})
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")

_ONE: Final = IN_PLACE_ONE | CHILD_ONE
_LIST: Final = IN_PLACE_LIST | CHILD_LIST
_MAP: Final = IN_PLACE_MAP | CHILD_MAP | STORED_MAP
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")
# What 2019-09 had in the place of a dynamic anchor: one, without a name, of a whole resource.
_RECURSIVE: Final = "$recursiveAnchor"


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A `$ref`, `$dynamicRef` or `$recursiveRef`: where it is written, and what it says."""

    keyword: str
    target: str
    path: Path


@dataclass(frozen=True, slots=True)
class BadReference:
    """`external` where the reference leaves the document; otherwise it points at nothing in it."""

    reference: SchemaReference
    external: bool


@dataclass(slots=True, eq=False)
class Resource:
    """A part of the document with an address of its own: the root, and each subschema with an `$id`."""

    uri: str
    schema: dict[str, Any]
    path: Path
    anchors: dict[str, Node] = field(default_factory=dict)
    dynamic_anchors: dict[str, Node] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Edge:
    """A subschema that `keyword` applies; `key` is its place in a list or map, None where the keyword has one."""

    keyword: str
    key: PathStep | None
    node: Node


@dataclass(slots=True, eq=False)
class Link:
    """A reference and its target. `dynamic_name` is the anchor of which the outermost one counts, empty otherwise."""

    reference: SchemaReference
    target: Node
    dynamic_name: str = ""


@dataclass(slots=True, eq=False)
class Node:
    """One subschema; `path` leads to it from the root."""

    schema: dict[str, Any]
    path: Path
    resource: Resource
    edges: list[Edge] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    # All that is applied to the same value, and to parts of it; a dynamic reference leads to every anchor of its name.
    in_place: list[Node] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    @property
    def is_bound(self) -> bool:
        """Whether it means something else, or nothing, apart from its document."""
        return bool(self.links) or "$id" in self.schema or any(name in self.schema for name in REFERENCES)


class SchemaGraph:
    """All subschemas of one document, with every reference resolved inside it; nothing is ever fetched."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.nodes: list[Node] = []
        self.bad_references: list[BadReference] = []
        # The places of a second `$id` or anchor of one name: which of the two is meant depends on the reader.
        self.ambiguous_names: list[Path] = []
        # More branches are written than may be unfolded: the rest is not read, and nothing is resolved.
        self.is_overfull = False
        # Without a reference it is a tree: nothing in it is met twice, and it ends.
        self.is_linked = False
        self.dynamic_names: set[str] = set()
        self._branches = 0
        self._by_identity: dict[int, Node] = {}
        self._resources: dict[str, Resource] = {}
        self.root = self._collect(schema)
        index = 0
        # Resolving can add nodes: a pointer may lead into a keyword that no vocabulary knows.
        while index < len(self.nodes) and not self.is_overfull:
            self._connect(self.nodes[index])
            index += 1

    @property
    def is_resolved(self) -> bool:
        """Whether every reference has exactly one meaning inside the document."""
        return not (self.bad_references or self.ambiguous_names or self.is_overfull)

    def _collect(self, schema: dict[str, Any], path: Path = (), inside: Resource | None = None) -> Node:
        """Add a subschema and everything below it; an explicit stack, since a chain can be long.

        `inside` is the resource of what no vocabulary knows: it has references, and no addresses of its own.
        """
        root = self._add(schema, path, inside, is_named=inside is None)
        stack = [root]
        while stack:
            node = stack.pop()
            self._branches += branch_count(node.schema)
            if self._branches > EXPANSIONS_MAX:
                self.is_overfull = True
                break
            for keyword, key, subschema in _subschemas(node.schema):
                steps = (keyword,) if key is None else (keyword, key)
                child = self._add(subschema, (*node.path, *steps), node.resource, is_named=inside is None)
                node.edges.append(Edge(keyword, key, child))
                if keyword not in STORED_MAP:
                    (node.in_place if _is_in_place(keyword) else node.children).append(child)
                stack.append(child)
        return root

    def _add(self, schema: dict[str, Any], path: Path, outer: Resource | None, *, is_named: bool) -> Node:
        has_address = is_named and isinstance(schema.get("$id"), str)
        resource = self._resource_of(schema, path, outer) if outer is None or has_address else outer
        node = Node(schema, path, resource)
        self.nodes.append(node)
        self._by_identity[id(schema)] = node
        if is_named:
            self._add_anchors(node)
        return node

    def _resource_of(self, schema: dict[str, Any], path: Path, outer: Resource | None) -> Resource:
        """The resource that a schema begins, or the one around it where both have one address."""
        own = schema.get("$id")
        uri = resolve_uri(outer.uri if outer else "", own if isinstance(own, str) else "")[0]
        if outer is not None and uri == outer.uri:
            return outer
        made = Resource(uri, schema, path)
        if self._resources.setdefault(uri, made) is not made:
            self.ambiguous_names.append((*path, "$id"))
        return made

    def _add_anchors(self, node: Node) -> None:
        for keyword in _ANCHORS:
            name = node.schema.get(keyword)
            if not isinstance(name, str):
                continue
            if node.resource.anchors.setdefault(name, node) is not node:
                self.ambiguous_names.append((*node.path, keyword))
            if keyword == "$dynamicAnchor":
                node.resource.dynamic_anchors[name] = node
        if node.schema is node.resource.schema and node.schema.get(_RECURSIVE) is True:
            node.resource.dynamic_anchors[_RECURSIVE] = node

    def _connect(self, node: Node) -> None:
        for keyword in REFERENCES:
            target = node.schema.get(keyword)
            if not isinstance(target, str):
                continue
            link = self._resolve(node, SchemaReference(keyword, target, (*node.path, keyword)))
            if link is None:
                continue
            self.is_linked = True
            node.links.append(link)
            node.in_place.append(link.target)
            if link.dynamic_name:
                self.dynamic_names.add(link.dynamic_name)
                anchors = [one.dynamic_anchors.get(link.dynamic_name) for one in self._resources.values()]
                node.in_place += [one for one in anchors if one is not None and one is not link.target]

    def _resolve(self, node: Node, reference: SchemaReference) -> Link | None:
        address, fragment = resolve_uri(node.resource.uri, reference.target)
        resource = self._resources.get(address)
        if resource is None:
            self.bad_references.append(BadReference(reference, external=True))
            return None
        name = unquote(fragment)
        found = resource.anchors.get(name) if name else self._by_identity[id(resource.schema)]
        if found is None and name.startswith("/"):
            found = self._at_pointer(resource, name)
        if found is None:
            self.bad_references.append(BadReference(reference, external=False))
            return None
        anchor = {"$dynamicRef": name, "$recursiveRef": _RECURSIVE}.get(reference.keyword, "")
        return Link(reference, found, anchor if resource.dynamic_anchors.get(anchor) is found else "")

    def _at_pointer(self, resource: Resource, pointer: str) -> Node | None:
        value: Any = resource.schema
        path: list[PathStep] = list(resource.path)
        for part in pointer.split("/")[1:]:
            key = decode_step(part)
            if isinstance(value, dict) and key in value:
                value = value[key]
                path.append(key)
            elif isinstance(value, list) and key.isdecimal() and int(key[:9]) < len(value):
                value = value[int(key)]
                path.append(int(key))
            else:
                return None
        if isinstance(value, bool):
            # An empty enum is what `false` is, without a subschema of its own.
            return Node({} if value else {"enum": []}, tuple(path), resource)
        if not isinstance(value, dict):
            return None
        return self._by_identity.get(id(value)) or self._collect(value, tuple(path), resource)


def _subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, PathStep | None, dict[str, Any]]]:
    """`(keyword, key, subschema)` of each subschema directly below; `true` and `false` hold nothing."""
    for keyword, value in schema.items():
        if keyword in _ONE and isinstance(value, dict):
            yield keyword, None, value
        elif (keyword in _LIST or keyword == "items") and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield keyword, index, item
        elif keyword in _MAP and isinstance(value, dict):
            for name, item in value.items():
                if isinstance(item, dict):
                    yield keyword, name, item


def iterate_schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and every one below it, in the order in which they are written; no reference is followed."""
    left = [schema]
    while left:
        found = left.pop()
        yield found
        left += reversed([below for _, _, below in _subschemas(found)])


def copy_changed(schema: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """A copy of a schema in which `change` has had each subschema to change it, the outer ones first.

    Without recursion: how deep it is, is the author's choice.
    """
    whole: dict[str, Any] = dict(schema)
    left = [whole]
    while left:
        found = left.pop()
        change(found)
        found |= {keyword: value.copy() for keyword, value in found.items() if isinstance(value, dict | list)}
        for keyword, key, subschema in list(_subschemas(found)):
            copied = subschema
            if key is not None:
                copied = found[keyword][key] = dict(subschema)
            left.append(copied)
    return whole


def _is_in_place(keyword: str) -> bool:
    return keyword in IN_PLACE_ONE or keyword in IN_PLACE_LIST or keyword in IN_PLACE_MAP


def branch_count(schema: dict[str, Any]) -> int:
    """How many branches the combinators of one subschema have; `true` and `false` are branches too."""
    count = 0
    for keyword, value in schema.items():
        if keyword in IN_PLACE_ONE:
            count += 1
        elif (keyword in IN_PLACE_LIST and isinstance(value, list)) or (
            keyword in IN_PLACE_MAP and isinstance(value, dict)
        ):
            count += len(value)
    return count
