"""The safety net: what a2ui-core refuses though we found nothing (`UI_A2UI_REJECTED`).

a2ui-core is the official validator, and other A2UI clients use it: a form that it refuses cannot be published, right or
wrong. Asking it each time costs too much of the two seconds that a check may take: measured on a calm machine with two
cores, 0.8 s (twice that on a busy one) and 24 MiB to import and use it first, then 0.1 to 0.5 ms a component, so up to
5 s for fifty forms of two hundred components, where our own checks take 0.4 s. Therefore:

- Component schemas come from its own models (`catalog/`), and run in microseconds.
- What is left, known from its source and from mutating forms by the ten thousand, are places where it takes plain data
  for something else. Those rules are written here, cost nothing and need no import: the verdict is the same in every
  process.
- Where a process has loaded a2ui-core (`load()`, as a server or worker may in the background), small files go through
  the real one, too. So far nothing is known that only this would find; a test keeps that so.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from agent_client.bundles.forms import surface_messages
from registry.bundles.problem import Path, RawFinding
from registry.validation.a2ui import limits
from registry.validation.a2ui.budget import build_finding, component_name, quote_value
from registry.validation.a2ui.catalog import references
from registry.validation.a2ui.data_paths import is_well_formed
from registry.validation.a2ui.surface import Component, Surface, dict_or_empty
from registry.validation.a2ui.tree import map_children
from registry.validation.a2ui.walk import iterate_sites

# In the measure of Component.cost, 64 bytes each; about a quarter of a second.
CORE_COST_MAX = 1600

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
            message = (
                f"The validator a2ui-core takes every key 'path' for a binding, and {quote_value(value)} is not a path"
            )
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


def load() -> None:
    """Import a2ui-core and its catalogue, so that `is_loaded`. Takes a second or more; safe to call again."""
    _processor_parts()


def is_loaded() -> bool:
    """Whether a2ui-core can be used without a wait."""
    return "a2ui.core" in sys.modules and _processor_parts.cache_info().currsize > 0


def check_with_core(surface: Surface) -> Iterator[RawFinding]:
    """Validate with the real a2ui-core, strictly. Only for a surface without any error, and once `load` has run."""
    reason = refusal(surface.entry["definition"])
    if reason is not None:
        message = f"The validator a2ui-core refuses this form: {reason[:300]}"
        hint = "Change what the message names; our own checks found nothing."
        yield _refused(surface.path, message, hint)


def refusal(definition: dict[str, Any]) -> str | None:
    """Say why a2ui-core refuses a definition, in its own words; None where it takes it.

    a2ui-core has raised bare TypeErrors and RecursionErrors on junk, so that these count as refusals, too.
    """
    make_processor, refusals = _processor_parts()
    data = dict_or_empty(definition.get("dataModel"))
    messages = surface_messages({"catalogId": None, "components": None, **definition, "dataModel": data}, "check")
    try:
        processor = make_processor()
        for message in messages:
            processor.process_messages(message)
    except refusals as error:
        return str(error) or type(error).__name__
    return None


@cache
def _processor_parts() -> tuple[Any, tuple[type[Exception], ...]]:
    from a2ui.core import STRICT_VALIDATION, A2uiError, MessageProcessor, MessageProcessorOptions
    from a2ui.core.basic_catalog import BasicCatalog

    catalog = BasicCatalog("v0.9.1")

    def make_processor() -> Any:
        return MessageProcessor([catalog], options=MessageProcessorOptions(validation_config=STRICT_VALIDATION))

    return make_processor, (A2uiError, TypeError, RecursionError, ValueError)
