"""How much a validator has to do for a schema: beforehand, and for one value.

A schema of 1 KB can make a validator work for hours: `allOf` of two references to the next level, and so on, or
`unevaluatedProperties` at each of twenty levels. So the work is counted first, each subschema once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from capability_kit.json_schema.graph import EXPANSIONS_MAX, Edge, Node, SchemaGraph, branch_count

CHAIN_MAX: Final = 400
EVALUATIONS_MAX: Final = 10 * EXPANSIONS_MAX
# `unevaluatedProperties` and `unevaluatedItems` ask everything that is applied to the same value once more, to learn
# what it looked at. jsonschema-rs 0.60 takes up to 2.7 times as long for each such level (bench/json_schema_cost.py).
UNEVALUATED_FACTOR: Final = 4
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
_OF_ANY_PROPERTY: Final = ("patternProperties", "additionalProperties", "unevaluatedProperties")
_OF_ANY_ITEM: Final = ("items", "contains", "unevaluatedItems")
# A step takes one to two nanoseconds; a subschema that meets a value takes some hundred.
STEPS_MAX: Final = 100_000_000
_VISIT_STEPS: Final = 100
_ENTRY_STEPS: Final = 20
# Of subschemas with values, while counting.
_PAIRS_MAX: Final = 200_000

Item = TypeVar("Item", bound=Hashable)


class _Size(NamedTuple):
    """What a subschema unfolds to: subschemas in all, those of them that combinators bring, how deep they stand, and
    how many are evaluated where some are asked several times."""

    expansions: int = 1
    branches: int = 0
    chain: int = 1
    evaluations: int = 1


# What a cycle counts as where it closes.
_CYCLE: Final = _Size()


def is_too_complex(graph: SchemaGraph) -> bool:
    """Whether references and combinators unfold to more than EXPANSIONS_MAX, or further than a stack can go.

    Properties and entries of an `enum` alone are not combinators, however many there are.
    """
    if graph.is_overfull:
        return True
    is_plain = not graph.is_linked and not any(_asks_again(node) for node in graph.nodes)
    if is_plain and all(len(node.path) < CHAIN_MAX for node in graph.nodes):
        return False
    size = _measure(graph.root)
    is_shared = size.expansions > EXPANSIONS_MAX and size.expansions > len(graph.nodes)
    is_repeated = size.evaluations > EVALUATIONS_MAX and size.evaluations > size.expansions
    return is_shared or is_repeated or size.branches > EXPANSIONS_MAX or size.chain > CHAIN_MAX


def find_endless(graph: SchemaGraph) -> Node | None:
    """A subschema that leads back to itself on the same value: validating with it would never end."""
    if not graph.is_linked:
        return None
    state: dict[int, int] = {}
    for start in graph.nodes:
        found = _in_place_cycle(start, state)
        if found is not None:
            return found
    return None


def _asks_again(node: Node) -> bool:
    return any(keyword in node.schema for keyword in _UNEVALUATED)


def _measure(root: Node) -> _Size:
    """The size of a node, each node measured once."""
    done: dict[int, _Size] = {}
    for node in _post_order(root, key=id, below=lambda node: (*node.in_place, *node.children)):
        inside = [done.get(id(one), _CYCLE) for one in node.in_place]
        below = [done.get(id(one), _CYCLE) for one in node.children]
        times = UNEVALUATED_FACTOR if _asks_again(node) else 1
        done[id(node)] = _Size(
            1 + sum(size.expansions for size in (*inside, *below)),
            branch_count(node.schema) + sum(size.branches for size in (*inside, *below)),
            1 + max((size.chain for size in (*inside, *below)), default=0),
            1 + times * sum(size.evaluations for size in inside) + sum(size.evaluations for size in below),
        )
    return done[id(root)]


def _post_order(
    root: Item, *, key: Callable[[Item], Hashable], below: Callable[[Item], Iterable[Item]]
) -> Iterator[Item]:
    """Each item once, after what is below it; where a cycle closes, before."""
    seen = set()
    stack = [(root, False)]
    while stack:
        item, is_left = stack.pop()
        if is_left:
            yield item
        elif key(item) not in seen:
            seen.add(key(item))
            stack.append((item, True))
            # In the author's order: of patterns that cost too much together the first ones are kept.
            stack.extend((one, False) for one in reversed([*below(item)]) if key(one) not in seen)


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


# One value

Meeting = tuple[Node, Any]
# What a pattern takes for a text.
PatternSteps = Callable[[str, str], int]


def count_steps(node: Node, value: Any, pattern_steps: PatternSteps) -> int | None:
    """How many steps a validator takes at most for one value, or None where there are too many to count.

    Every subschema is counted with every value that it meets, as if none were skipped. The graph must be one that is
    neither endless nor too complex. What is above STEPS_MAX is not to be evaluated in place.
    """
    done: dict[tuple[int, int], int] = {}
    for meeting in _post_order((node, value), key=_identity, below=_meetings_below):
        if len(done) > _PAIRS_MAX:
            return None
        subschema, part = meeting
        times = UNEVALUATED_FACTOR if _asks_again(subschema) else 1
        inside = sum(done[id(one), id(part)] for one in subschema.in_place)
        below = sum(done[_identity(one)] for one in _parts(subschema, part))
        own = _own_steps(subschema.schema, part, pattern_steps)
        done[_identity(meeting)] = own + times * inside + below
    return done[_identity((node, value))]


def _identity(meeting: Meeting) -> tuple[int, int]:
    return id(meeting[0]), id(meeting[1])


def _meetings_below(meeting: Meeting) -> Iterator[Meeting]:
    node, value = meeting
    for one in node.in_place:
        yield one, value
    yield from _parts(node, value)


def _parts(node: Node, value: Any) -> Iterator[Meeting]:
    """Each child of a subschema with each part of the value that it may be applied to."""
    parts_of = _parts_of_object if isinstance(value, dict) else _parts_of_list if isinstance(value, list) else None
    if parts_of is not None:
        for edge in node.edges:
            for part in parts_of(edge, value):
                yield edge.node, part


def _parts_of_object(edge: Edge, value: dict[str, Any]) -> Iterable[Any]:
    if edge.keyword == "properties":
        return [value[str(edge.key)]] if edge.key in value else ()
    if edge.keyword == "propertyNames":
        return value
    return value.values() if edge.keyword in _OF_ANY_PROPERTY else ()


def _parts_of_list(edge: Edge, value: list[Any]) -> Iterable[Any]:
    if edge.keyword == "prefixItems":
        return value[int(edge.key or 0) :][:1]
    return value if edge.keyword in _OF_ANY_ITEM else ()


def _own_steps(schema: dict[str, Any], value: Any, pattern_steps: PatternSteps) -> int:
    """What the keywords of one subschema take, without the subschemas in it."""
    steps = _VISIT_STEPS
    for keyword in ("enum", "required"):
        entries = schema.get(keyword)
        if isinstance(entries, list):
            steps += _ENTRY_STEPS * len(entries)
    if isinstance(value, str):
        pattern = schema.get("pattern")
        return steps + len(value) + (pattern_steps(pattern, value) if isinstance(pattern, str) else 0)
    if isinstance(value, dict):
        keyed = schema.get("patternProperties")
        for pattern in keyed if isinstance(keyed, dict) else ():
            steps += sum(pattern_steps(pattern, name) for name in value)
    return steps + (_ENTRY_STEPS * len(value) if isinstance(value, dict | list) else 0)
