"""Where each component is drawn: outside every list, or for an item of the sample data.

A template is drawn once for each item of a list, and a path without `/` inside it starts at that item. One component
can stand in several places, so it can have several scopes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from registry.validation.ui.limits import SAMPLE_ITEMS_READ_MAX
from registry.validation.ui.pointer import MISSING, is_relative, is_well_formed, resolve, steps_of
from registry.validation.ui.surface import Component, Surface
from registry.validation.ui.topology import ROOT, Reference, references_of
from registry.validation.ui.work import Work


@dataclass(frozen=True, slots=True)
class Scope:
    """The place in the data that relative paths start from.

    `kind`: "outside" every list; an "item", `steps` from the root with its `value`; or "unknown": inside a template
    whose list has no sample, so that relative paths cannot be held against anything.
    """

    kind: Literal["outside", "item", "unknown"]
    steps: tuple[str, ...] = ()
    value: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Visit:
    """One component, drawn in one scope."""

    component: Component
    scope: Scope


OUTSIDE = Scope("outside")
UNKNOWN = Scope("unknown")


def lookup(surface: Surface, scope: Scope, path: str) -> tuple[Any, int]:
    """Resolve a path in a scope: the value, or `MISSING` and the number of steps that were found."""
    start = scope.value if scope.kind == "item" and not path.startswith("/") else surface.data_model
    return resolve(start, steps_of(path))


def visits(surface: Surface, work: Work) -> Iterator[Visit | None]:
    """Yield every component in every scope it is drawn in, from `root` down; None once the budget is spent.

    Of a sample list the first items are entered. The graph is known to have no cycle and nothing unknown.
    """
    seen: set[tuple[str, Scope]] = set()
    stack = [(ROOT, OUTSIDE)]
    while stack:
        name, scope = stack.pop()
        if (name, scope) in seen:
            continue
        seen.add((name, scope))
        component = surface.by_id[name][0]
        references = list(references_of(component))
        if not work.spend(1 + len(component.sites) + len(references)):
            yield None
            return
        yield Visit(component, scope)
        for reference in references:
            stack.extend((reference.id, inner) for inner in inner_scopes(surface, scope, reference))


def inner_scopes(surface: Surface, scope: Scope, reference: Reference) -> Iterator[Scope]:
    """Yield the scopes in which a referred component is drawn: its parent's, or one for each item of a list."""
    path = reference.template
    if path is None:
        yield scope
        return
    is_lost = scope.kind != "item" and is_relative(path)
    items = MISSING if is_lost or not is_well_formed(path) else lookup(surface, scope, path)[0]
    if not isinstance(items, list) or not items:
        yield UNKNOWN
        return
    base = (scope.steps if scope.kind == "item" and not path.startswith("/") else ()) + steps_of(path)
    for index, item in enumerate(items[:SAMPLE_ITEMS_READ_MAX]):
        yield Scope("item", (*base, str(index)), item)
