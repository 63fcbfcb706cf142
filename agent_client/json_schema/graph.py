"""An author's JSON Schema as a graph: where its subschemas are, where its references lead, how far it unfolds.

Nothing here evaluates the schema. The graph is what decides whether evaluating it is safe: a schema of 1 KB can make a
validator work for hours (`allOf` of two references to the next level, and so on), and even the fastest one doubles its
work with each such level. So the expansions are counted first, each node once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

PathStep = str | int
Path = tuple[PathStep, ...]

EXPANSIONS_MAX: Final = 10_000
CHAIN_MAX: Final = 400

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

_ONE: Final = IN_PLACE_ONE | CHILD_ONE
_LIST: Final = IN_PLACE_LIST | CHILD_LIST
_MAP: Final = IN_PLACE_MAP | CHILD_MAP | STORED_MAP


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A `$ref` or `$dynamicRef`: where it is written, and what it says."""

    keyword: str
    target: str
    path: Path


@dataclass(slots=True)
class Node:
    """One subschema. `path` leads to it from the root; `base` is the URI that its references are resolved against."""

    schema: dict[str, Any]
    path: Path
    base: str
    in_place: list[Node] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    references: list[SchemaReference] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BadReference:
    """`external` where the reference leaves the document; otherwise it points at nothing in it."""

    reference: SchemaReference
    external: bool


class SchemaGraph:
    """All subschemas of one document, with every reference resolved inside it; nothing is ever fetched."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.nodes: list[Node] = []
        self.bad_references: list[BadReference] = []
        # More branches are written than may be unfolded: the rest is not read, and nothing is resolved.
        self.is_overfull = False
        # Without a reference it is a tree: nothing in it is met twice, and it ends.
        self._is_linked = False
        self._branches = 0
        self._visits: dict[tuple[int, int], int] = {}
        self._by_identity: dict[int, Node] = {}
        self._resources: dict[str, Node] = {}
        self._anchors: dict[tuple[str, str], Node] = {}
        self.root = self._collect(schema)
        index = 0
        # Resolving can add nodes: a pointer may lead into a keyword that no vocabulary knows.
        while index < len(self.nodes) and not self.is_overfull:
            self._connect(self.nodes[index])
            index += 1

    def _collect(self, schema: dict[str, Any], path: Path = (), base: str = "") -> Node:
        """Add a subschema and everything below it; an explicit stack, since a chain can be long."""
        root = self._add(schema, path, base)
        stack = [root]
        while stack:
            node = stack.pop()
            self._branches += _branch_count(node.schema)
            if self._branches > EXPANSIONS_MAX:
                self.is_overfull = True
                break
            for steps, subschema, in_place, applied in _subschemas(node.schema):
                child = self._add(subschema, (*node.path, *steps), node.base)
                if applied:
                    (node.in_place if in_place else node.children).append(child)
                stack.append(child)
        return root

    def _add(self, schema: dict[str, Any], path: Path, base: str) -> Node:
        identifier = schema.get("$id")
        if isinstance(identifier, str):
            base = urldefrag(_join(base, identifier))[0]
        node = Node(schema, path, base)
        self.nodes.append(node)
        self._by_identity[id(schema)] = node
        if not path or isinstance(identifier, str):
            self._resources.setdefault(base, node)
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(keyword)
            if isinstance(anchor, str):
                self._anchors.setdefault((base, anchor), node)
        return node

    def _connect(self, node: Node) -> None:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            target = node.schema.get(keyword)
            if not isinstance(target, str):
                continue
            reference = SchemaReference(keyword, target, (*node.path, keyword))
            node.references.append(reference)
            resolved = self._resolve(node, reference)
            if resolved is not None:
                self._is_linked = True
                node.in_place.append(resolved)

    def _resolve(self, node: Node, reference: SchemaReference) -> Node | None:
        address, fragment = urldefrag(_join(node.base, reference.target))
        resource = self._resources.get(address)
        if resource is None:
            self.bad_references.append(BadReference(reference, external=True))
            return None
        found = self._anchors.get((address, fragment)) if fragment else resource
        if found is None and fragment.startswith("/"):
            found = self._at_pointer(resource, fragment)
        if found is None:
            self.bad_references.append(BadReference(reference, external=False))
        return found

    def _at_pointer(self, resource: Node, fragment: str) -> Node | None:
        value: Any = resource.schema
        path: list[PathStep] = list(resource.path)
        for part in unquote(fragment).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
                path.append(key)
            elif isinstance(value, list) and key.isdecimal() and int(key[:9]) < len(value):
                value = value[int(key)]
                path.append(int(key))
            else:
                return None
        if isinstance(value, bool):
            return Node({}, tuple(path), resource.base)
        if not isinstance(value, dict):
            return None
        return self._by_identity.get(id(value)) or self._collect(value, tuple(path), resource.base)

    def expansions(self) -> int:
        """How many subschemas a validator visits when every reference is unfolded once around; a cycle counts as one.

        Not more than the document holds where no part is used twice.
        """
        return _Measure().of(self.root).expansions

    def visits(self, depth: int, node: Node | None = None) -> int:
        """An upper bound for the subschemas visited on a value of at most `depth` levels, recursion included.

        Counted from `node`, or from the root.
        """
        return _visits(node or self.root, depth, self._visits)

    def is_too_complex(self) -> bool:
        """Whether references and combinators unfold to more than EXPANSIONS_MAX, or further than a stack can go.

        Properties and entries of an `enum` alone are no combinators, however many there are.
        """
        if self.is_overfull:
            return True
        if not self._is_linked and all(len(node.path) < CHAIN_MAX for node in self.nodes):
            return False
        measured = _Measure().of(self.root)
        shared = measured.expansions > EXPANSIONS_MAX and measured.expansions > len(self.nodes)
        return shared or measured.branches > EXPANSIONS_MAX or measured.chain > CHAIN_MAX

    def endless(self) -> Node | None:
        """A subschema that leads back to itself on the same value: validating with it would never end."""
        if not self._is_linked:
            return None
        state: dict[int, int] = {}
        for start in self.nodes:
            found = _in_place_cycle(start, state)
            if found is not None:
                return found
        return None


def _join(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _subschemas(schema: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any], bool, bool]]:
    """`(steps, subschema, in_place, applied)` of each subschema directly below."""
    for keyword, value in schema.items():
        in_place = keyword in IN_PLACE_ONE or keyword in IN_PLACE_LIST or keyword in IN_PLACE_MAP
        applied = keyword not in STORED_MAP
        if keyword in _ONE and isinstance(value, dict):
            yield (keyword,), value, in_place, applied
        elif (keyword in _LIST or keyword == "items") and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield (keyword, index), item, in_place, applied
        elif keyword in _MAP and isinstance(value, dict):
            for name, item in value.items():
                if isinstance(item, dict):
                    yield (keyword, name), item, in_place, applied


def _branch_count(schema: dict[str, Any]) -> int:
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


class _Size(NamedTuple):
    """What a subschema unfolds to: subschemas in all, those of them that combinators bring, and how deep they stand."""

    expansions: int = 1
    branches: int = 0
    chain: int = 1


# What a cycle counts as where it closes.
_CYCLE: Final = _Size()


class _Measure:
    """The size of a node, each node measured once."""

    def __init__(self) -> None:
        self.done: dict[int, _Size] = {}
        self.seen: set[int] = set()

    def of(self, root: Node) -> _Size:
        stack = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            key = id(node)
            if leaving:
                below = [self.done.get(id(n), _CYCLE) for n in (*node.in_place, *node.children)]
                self.done[key] = _Size(
                    1 + sum(size.expansions for size in below),
                    _branch_count(node.schema) + sum(size.branches for size in below),
                    1 + max((size.chain for size in below), default=0),
                )
            elif key not in self.seen:
                self.seen.add(key)
                stack.append((node, True))
                stack.extend((n, False) for n in (*node.in_place, *node.children) if id(n) not in self.done)
        return self.done[id(root)]


def _visits(node: Node, depth: int, memo: dict[tuple[int, int], int]) -> int:
    """Bounded by CHAIN_MAX in place times 64 levels; ask only for graphs that are neither endless nor too complex."""
    key = (id(node), depth)
    if key in memo:
        return memo[key]
    total = 1 + sum(_visits(inner, depth, memo) for inner in node.in_place)
    if depth > 0:
        total += sum(_visits(child, depth - 1, memo) for child in node.children)
    memo[key] = total
    return total


def _in_place_cycle(start: Node, state: dict[int, int]) -> Node | None:
    """Depth-first over in-place edges alone; state 1 is open, 2 is done."""
    if state.get(id(start)):
        return None
    stack = [(start, False)]
    while stack:
        node, leaving = stack.pop()
        if leaving:
            state[id(node)] = 2
            continue
        if state.get(id(node)) == 2:
            continue
        if state.get(id(node)) == 1:
            return node
        state[id(node)] = 1
        stack.append((node, True))
        for inner in node.in_place:
            if state.get(id(inner)) == 1:
                return inner
            if state.get(id(inner)) is None:
                stack.append((inner, False))
    return None
