"""One entry of ui_schemas.json whose shape is sound: what the later checks work on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from capability_kit.json_text import as_mapping
from capability_rules.bundles.problem import Path
from capability_rules.validation.a2ui.walk import ComponentSite, iterate_sites

INPUTS = ("TextField", "CheckBox", "ChoicePicker", "Slider", "DateTimeInput")


@dataclass(frozen=True, slots=True)
class Component:
    """One member of `definition.components`, with every object inside it, paths counted from the file's root.

    `cost` is what reading it once takes from the budget, by its size.
    """

    path: Path
    body: dict[str, Any]
    sites: list[ComponentSite]
    cost: int

    @property
    def id(self) -> str:
        """Return the id; "" where the author left it out or wrote something else."""
        value = self.body.get("id")
        return value if isinstance(value, str) else ""

    @property
    def type(self) -> str:
        """Return the component type; "" where it is left out or no text."""
        value = self.body.get("component")
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Surface:
    """A definition with its actions. `data_model` is {} where the author left it out; `has_data_model` says so."""

    index: int
    entry: dict[str, Any]
    components: list[Component]
    map_form: bool = False
    by_id: dict[str, list[Component]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Return the place of the definition."""
        return (self.index, "definition")

    @property
    def has_data_model(self) -> bool:
        """Whether sample data was given; without it, a path cannot be checked."""
        return "dataModel" in self.entry["definition"]

    @property
    def data_model(self) -> dict[str, Any]:
        """Return the sample data."""
        return as_mapping(self.entry["definition"].get("dataModel"))

    @property
    def actions(self) -> dict[str, Any]:
        """Return event name to action, {} where left out."""
        return as_mapping(self.entry.get("actions"))

    def events(self) -> Iterator[tuple[Component, dict[str, Any]]]:
        """Yield each component that raises an event, with `{"name", "context"}`."""
        for component in self.components:
            event = as_mapping(component.body.get("action")).get("event")
            if isinstance(event, dict):
                yield component, event


def read_surface(index: int, entry: dict[str, Any], *, map_form: bool) -> Surface:
    """Build a surface from an entry whose definition is an object with a list of objects as components."""
    base: Path = (index, "definition", "components")
    components = [
        Component((*base, i), body, list(iterate_sites(body, (*base, i))), 1 + len(json.dumps(body, default=str)) // 64)
        for i, body in enumerate(entry["definition"]["components"])
    ]
    by_id: dict[str, list[Component]] = {}
    for component in components:
        by_id.setdefault(component.id, []).append(component)
    return Surface(index, entry, components, map_form, by_id)
