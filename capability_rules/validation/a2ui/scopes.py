"""Where each component is drawn: outside every list, or for an item of the sample data.

A template is drawn once for each item of a list, and a path without `/` inside it starts at that item. One component
can occur in several places, so it can have several scopes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from capability_rules.validation.a2ui.budget import Budget
from capability_rules.validation.a2ui.data_paths import is_relative, is_well_formed, parse_path, resolve
from capability_rules.validation.a2ui.limits import SAMPLE_ITEMS_READ_MAX
from capability_rules.validation.a2ui.surface import Component, Surface
from capability_rules.validation.a2ui.tree import ROOT, find_references


@dataclass(frozen=True, slots=True)
class DataScope:
    """The place in the data that relative paths start from.

    `kind`: "outside" every list; an "item", `steps` from the root with its `value`; or "unknown": inside a template
    whose list has no sample, so that relative paths cannot be checked.
    """

    kind: Literal["outside", "item", "unknown"]
    steps: tuple[str, ...] = ()
    value: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ComponentVisit:
    """One component, drawn in one scope."""

    component: Component
    scope: DataScope


OUTSIDE = DataScope("outside")
UNKNOWN = DataScope("unknown")


@dataclass(frozen=True, slots=True)
class _Branch:
    """A child to go on to: in the same scope, or (`steps` set) for each item of the list that they lead to."""

    id: str
    steps: tuple[str, ...] | None
    is_relative: bool


def find_scope(surface: Surface, scope: DataScope, path: str) -> tuple[Any, int]:
    """Resolve a path in a scope: the value, or `MISSING` and the number of steps that were found."""
    start = scope.value if scope.kind == "item" and not path.startswith("/") else surface.data_model
    return resolve(start, parse_path(path))


def iterate_components(surface: Surface, work: Budget) -> Iterator[ComponentVisit]:
    """Yield every component in every scope it is drawn in, from `root` down, until the budget is spent.

    Of a sample list the first items are entered. The graph is known to have no cycle and nothing unknown.
    """
    branches = {component.id: list(_branches(component)) for component in surface.components}
    data = surface.data_model
    seen: set[tuple[str, DataScope]] = set()
    stack = [(ROOT, OUTSIDE)]
    while stack:
        place = stack.pop()
        if place in seen:
            continue
        seen.add(place)
        name, scope = place
        component = surface.by_id[name][0]
        if not work.spend(component.cost):
            return
        yield ComponentVisit(component, scope)
        for branch in branches[name]:
            if branch.steps is None:
                stack.append((branch.id, scope))
            else:
                stack.extend((branch.id, inner) for inner in _item_scopes(data, scope, branch.steps, branch))


def _branches(component: Component) -> Iterator[_Branch]:
    for reference in find_references(component):
        path = reference.template
        if path is None:
            yield _Branch(reference.id, None, is_relative=False)
        elif is_well_formed(path):
            yield _Branch(reference.id, parse_path(path), is_relative(path))
        else:
            # That this path cannot be read is reported elsewhere. The root is not a list, so that the scope is unknown.
            yield _Branch(reference.id, (), is_relative=False)


def _item_scopes(data: Any, scope: DataScope, steps: tuple[str, ...], branch: _Branch) -> Iterator[DataScope]:
    if branch.is_relative and scope.kind != "item":
        yield UNKNOWN
        return
    items, _ = resolve(scope.value if branch.is_relative else data, steps)
    if not isinstance(items, list) or not items:
        yield UNKNOWN
        return
    base = scope.steps + steps if branch.is_relative else steps
    for index, item in enumerate(items[:SAMPLE_ITEMS_READ_MAX]):
        yield DataScope("item", (*base, str(index)), item)
