"""What a2ui-core refuses though our other checks found nothing (`UI_A2UI_REJECTED`).

a2ui-core is the official validator, and other A2UI clients use it: a form that it refuses cannot be published, right or
wrong. It takes too long to be asked each time (0.8 s to import, up to 5 s for fifty forms of two hundred components; a
check may take two seconds), so the product never loads it:

- Component schemas come from its own models (`catalog/`), and run in microseconds.
- What is left, known from its source and from mutating forms by the ten thousand, are places where it takes plain data
  for something else. Those rules are written here.

The tests compare both verdicts, on the samples and on mutated forms.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui import limits
from capability_rules.validation.a2ui.budget import build_finding, component_name, quote_value
from capability_rules.validation.a2ui.catalog import references
from capability_rules.validation.a2ui.data_paths import is_well_formed
from capability_rules.validation.a2ui.surface import Component, Surface
from capability_rules.validation.a2ui.tree import map_children
from capability_rules.validation.a2ui.walk import iterate_sites

# Of what a2ui-core never takes for a child's id (state/component_model.py, version 0.4.0), the keys of our catalogue.
_NEVER_CHILDREN = frozenset({"id", "component", "text", "label", "description", "url", "value", "variant", "weight"})


def check_known_refusals(surface: Surface) -> Iterator[RawFinding]:
    """Find what a2ui-core takes for something that it is not. Only for a surface without any error."""
    definition = surface.entry["definition"]
    for key in ("dataModel", "theme"):
        yield from _check_data((*surface.path, key), definition.get(key))
    for component in surface.components:
        yield from _check_function_keys(component)
    yield from _check_words_taken_for_ids(surface)


def _check_data(path: Path, data: object) -> Iterator[RawFinding]:
    text = json.dumps(data, default=str)
    if not any(word in text for word in ('"path"', '"call"', '"functionCall"')):
        return  # Sample data can be large, and hardly any has one of these keys.
    for site in iterate_sites(data, path):
        value = site.node.get("path")
        if isinstance(value, str) and not is_well_formed(value):
            found = quote_value(value)
            message = f"The validator a2ui-core takes every key 'path' for a binding, and {found} is not a path"
            yield _refused((*site.path, "path"), message, "Rename the key, or write a ~ as ~0.")
        if site.is_call and site.calls >= limits.NESTED_CALLS_MAX:
            message = "The validator a2ui-core takes keys 'call' with 'args' for function calls, nested too deep here"
            yield _refused(site.path, message, "Rename these keys.")


def _check_function_keys(component: Component) -> Iterator[RawFinding]:
    for site in component.sites:
        name = site.node.get("function")
        if isinstance(name, str) and name and not site.node.get("call"):
            who = component_name(component.body)
            message = f"{who}: a2ui-core takes the key 'function' for a call of {quote_value(name)}"
            yield _refused((*site.path, "function"), message, "Rename the key.")


def _check_words_taken_for_ids(surface: Surface) -> Iterator[RawFinding]:
    """Find texts that equal a component's id, in components that have no children.

    For those types a2ui-core falls back to a guess from v0.8: any text that is some component's id is a child. An Icon
    with the id "mail" and the name "mail" is then its own child.
    """
    graph = map_children(surface)
    guesses = [
        (component, key, value)
        for component in surface.components
        if not any(references(component.type).values())
        for key, value in _guessed_children(component, surface)
    ]
    for component, _, value in guesses:
        if value in graph:
            graph[component.id].append(value)
    circular = _peeled(_reversed(_peeled(graph))) if guesses else {}
    for component, key, value in guesses:
        if value not in graph or (value in circular and component.id in circular):
            owner = component_name(component.body)
            message = f"{owner}: a2ui-core takes {quote_value(value)} in '{key[:40]}' for a child's id"
            hint = "Give the component of that id another id." if value in graph else f"Remove '{key[:40]}'."
            yield _refused((*component.path, key), message, hint)


def _guessed_children(component: Component, surface: Surface) -> Iterator[tuple[str, str]]:
    for key, value in component.body.items():
        if key.lower() in _NEVER_CHILDREN:
            continue
        if isinstance(value, str) and value in surface.by_id:
            yield key, value
        elif isinstance(value, dict) and ("child" in value or "componentId" in value):
            yield from ((key, name) for name in _names_in(value))


def _names_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from [value] if value else []
    elif isinstance(value, list):
        for item in value:
            yield from _names_in(item)
    elif isinstance(value, dict):
        named = [value[key] for key in ("componentId", "child") if isinstance(value.get(key), str) and value[key]]
        for item in named[:1] or value.values():
            yield from _names_in(item)


def _peeled(graph: dict[str, list[str]]) -> dict[str, list[str]]:
    """Remove, repeatedly, what nothing refers to. What is left lies on a cycle or is reached from one."""
    referred = Counter(child for children in graph.values() for child in children)
    free = [name for name in graph if not referred[name]]
    left = dict(graph)
    while free:
        for child in left.pop(free.pop()):
            referred[child] -= 1
            if not referred[child]:
                free.append(child)
    return left


def _reversed(graph: dict[str, list[str]]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {name: [] for name in graph}
    for name, children in graph.items():
        for child in children:
            if child in result:
                result[child].append(name)
    return result


def _refused(path: Path, message: str, hint: str) -> RawFinding:
    return build_finding("UI_A2UI_REJECTED", path, message, hint)
