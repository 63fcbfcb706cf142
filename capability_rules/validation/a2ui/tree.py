"""Group 3: do the components form a tree from `root`, with nothing missing, circular or left over?

A cycle must never reach a renderer: the web renderer draws it until the browser's tab hangs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui import limits
from capability_rules.validation.a2ui.budget import Budget, build_finding, component_name, join_words
from capability_rules.validation.a2ui.catalog import references
from capability_rules.validation.a2ui.surface import Component, Surface

ROOT = "root"


@dataclass(frozen=True, slots=True)
class ComponentReference:
    """A place where a component names another: where, which id, and the data path where it is a list's template."""

    path: Path
    id: str
    template: str | None = None


def find_references(component: Component) -> Iterator[ComponentReference]:
    """Yield the children, triggers, contents, tabs and templates of one component, in the catalogue's order."""
    body, path, kinds = component.body, component.path, references(component.type)
    for key in kinds["single"]:
        if isinstance(body.get(key), str):
            yield ComponentReference((*path, key), body[key])
    for key in kinds["list"]:
        yield from _from_list((*path, key), body.get(key))
    for key, inner_keys in kinds["nested"].items():
        for index, item in enumerate(body.get(key) or []):
            for inner in inner_keys:
                yield ComponentReference((*path, key, index, inner), item[inner])


def _from_list(path: Path, value: Any) -> Iterator[ComponentReference]:
    if isinstance(value, dict):
        yield ComponentReference((*path, "componentId"), value["componentId"], template=value["path"])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield ComponentReference((*path, index), item)


def map_children(surface: Surface) -> dict[str, list[str]]:
    """Map each id to the ids it refers to, unknown ones left out; two components of one id count as one."""
    ids = surface.by_id
    return {
        name: [found.id for component in ids[name] for found in find_references(component) if found.id in ids]
        for name in ids
    }


def check_topology(surface: Surface, work: Budget) -> Iterator[RawFinding]:
    """Check the whole graph of one surface."""
    graph = map_children(surface)
    yield from _check_ids(surface)
    yield from _check_references(surface, work)
    cycles = list(_check_cycles(surface, graph))
    yield from cycles
    if ROOT in graph:
        yield from _check_orphans(surface, graph)
        if not cycles:
            yield from _check_extent(surface, graph)


def _check_ids(surface: Surface) -> Iterator[RawFinding]:
    seen: set[str] = set()
    for component in surface.components:
        if component.id in seen:
            message = f"the id '{component.id[:60]}' is used by an earlier component"
            hint = "Give one of them another id."
            yield build_finding("UI_COMPONENT_ID_DUPLICATE", (*component.path, "id"), message, hint)
        seen.add(component.id)
    if ROOT not in seen:
        message = "no component has the id 'root', where drawing begins"
        hint = 'Give the outermost component the id "root".'
        yield build_finding("UI_ROOT_MISSING", (*surface.path, "components"), message, hint)


def _check_references(surface: Surface, work: Budget) -> Iterator[RawFinding]:
    for component in surface.components:
        for reference in find_references(component):
            if reference.id not in surface.by_id:
                message = f"{component_name(component.body)} refers to '{reference.id[:60]}', which does not exist"
                otherwise = f"Add a component with that id, or use one of: {join_words(surface.by_id)}."
                hint = work.did_you_mean(reference.id, surface.by_id, otherwise)
                yield build_finding("UI_CHILD_REF_UNKNOWN", reference.path, message, hint)


def _check_cycles(surface: Surface, graph: dict[str, list[str]]) -> Iterator[RawFinding]:
    """Find each component that is entered a second time below itself, from `root` first, then from what is left."""
    finished: set[str] = set()
    told: set[str] = set()
    for start in [ROOT, *graph] if ROOT in graph else list(graph):
        trail: dict[str, None] = {}
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            name, is_done = stack.pop()
            if is_done:
                finished.add(trail.popitem()[0])
            elif name in trail:
                if name not in told:
                    told.add(name)
                    way = list(trail)
                    yield _cycle(surface, [*way[way.index(name) :], name])
            elif name not in finished:
                trail[name] = None
                stack.append((name, True))
                stack.extend((child, False) for child in reversed(graph[name]))


def _cycle(surface: Surface, names: list[str]) -> RawFinding:
    component = surface.by_id[names[0]][0]
    way = " > ".join(name[:40] for name in (names if len(names) < 8 else [*names[:6], "...", names[-1]]))
    message = f"{component_name(component.body)} contains itself: {way}"
    hint = f"Take '{names[0][:40]}' out of '{names[-2][:40]}'."
    return build_finding("UI_COMPONENT_CYCLE", component.path, message, hint)


def _check_orphans(surface: Surface, graph: dict[str, list[str]]) -> Iterator[RawFinding]:
    reached = {ROOT}
    waiting = [ROOT]
    while waiting:
        for child in graph[waiting.pop()]:
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    for component in surface.components:
        if component.id not in reached:
            message = f"{component_name(component.body)} is never shown: nothing below 'root' refers to it"
            hint = f"List '{component.id[:60]}' as a child of another component, or remove it."
            yield build_finding("UI_COMPONENT_ORPHAN", component.path, message, hint)


def _check_extent(surface: Surface, graph: dict[str, list[str]]) -> Iterator[RawFinding]:
    """Compare depth and number of what would be drawn with the limits; the graph is known to have no cycle."""
    depth, count = dict.fromkeys(graph, 0), dict.fromkeys(graph, 0)
    count[ROOT] = 1
    too_deep: str | None = None
    for name in _parents_first(graph):
        for child in graph[name]:
            depth[child] = max(depth[child], depth[name] + 1)
            count[child] += count[name]
            if depth[child] > limits.DEPTH_MAX and too_deep is None:
                too_deep = child
    if too_deep is not None:
        component = surface.by_id[too_deep][0]
        message = f"{component_name(component.body)} stands more than {limits.DEPTH_MAX} levels below 'root'"
        yield build_finding("UI_LIMIT_EXCEEDED", component.path, message, "Use fewer containers inside containers.")
    if sum(count.values()) > limits.DRAWN_COMPONENTS_MAX:
        message = "components that stand in several places add up to more than "
        message += f"{limits.DRAWN_COMPONENTS_MAX:,} drawn ones"
        hint = "Refer to a component from fewer places."
        yield build_finding("UI_LIMIT_EXCEEDED", (*surface.path, "components"), message, hint)


def _parents_first(graph: dict[str, list[str]]) -> list[str]:
    """Order what hangs from `root` so that a component comes after all that refer to it."""
    order: list[str] = []
    seen: set[str] = set()
    stack: list[tuple[str, bool]] = [(ROOT, False)]
    while stack:
        name, is_done = stack.pop()
        if is_done:
            order.append(name)
        elif name not in seen:
            seen.add(name)
            stack.append((name, True))
            stack.extend((child, False) for child in graph[name])
    return order[::-1]
