"""Group 4: does every path lead to sample data, and does that suit the widget that shows it?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from capability_rules.bundles.problem import Path, RawFinding, Severity
from capability_rules.validation.a2ui.budget import Budget, build_finding, component_name, json_type, quote_value
from capability_rules.validation.a2ui.data_paths import (
    MISSING,
    is_relative,
    is_well_formed,
    join_paths,
    parse_path,
    resolve,
    step_into,
)
from capability_rules.validation.a2ui.entry import find_expression
from capability_rules.validation.a2ui.expressions import ExpressionError, read_expressions
from capability_rules.validation.a2ui.inputs import check_literal_input, check_options, check_sample
from capability_rules.validation.a2ui.scopes import ComponentVisit, DataScope
from capability_rules.validation.a2ui.surface import INPUTS, Component, Surface
from capability_rules.validation.a2ui.tree import find_references


@dataclass(frozen=True, slots=True)
class Binding:
    """One path that a component reads, with its steps. `offset` is set where it is in the `${...}` of a text."""

    place: Path
    path: str
    steps: tuple[str, ...]
    is_relative: bool
    use: Literal["value", "template", "input"] = "value"
    offset: int | None = None


def check_bindings(
    surface: Surface, seen: list[ComponentVisit], work: Budget, refused: Collection[int] = ()
) -> Iterator[RawFinding]:
    """Check each path once for its form, and in every scope where its component is drawn.

    `refused` holds the identity of sample values that a tool would refuse: that a choice among them is none of the
    options is the same error, reported there.
    """
    bindings: dict[str, list[Binding]] = {}
    for component in surface.components:
        yield from _check_syntax(component)
        bindings[component.id] = list(_bindings_of(component))
        if component.type in INPUTS:
            yield from check_literal_input(component)
        if component.type == "ChoicePicker":
            yield from check_options(component)
    told: set[tuple[str, Path, int | None]] = set()
    for found in _check_visits(surface, seen, bindings, work, refused):
        # The same error shows in each item of a list; it is one error of the form.
        if (found.code, found.path, found.offset) not in told:
            told.add((found.code, found.path, found.offset))
            yield found


def _check_visits(
    surface: Surface,
    seen: list[ComponentVisit],
    bindings: dict[str, list[Binding]],
    work: Budget,
    refused: Collection[int],
) -> Iterator[RawFinding]:
    data = surface.data_model
    for visit in seen:
        scope = visit.scope
        for binding in bindings[visit.component.id]:
            if binding.is_relative and scope.kind != "item":
                if scope.kind == "outside":
                    yield _outside(surface, visit, binding)
                continue
            start = scope.value if binding.is_relative else data
            value, taken = resolve(start, binding.steps)
            if value is MISSING:
                yield _unresolved(surface, visit, binding, taken, work)
            elif binding.use == "template":
                yield from _check_template(visit.component, binding, value)
            elif binding.use == "input":
                for found in check_sample(visit.component, binding.place, value):
                    if found.code == "UI_BINDING_TYPE" or not _is_part_of(surface, scope, binding, refused):
                        yield found


def _is_part_of(surface: Surface, scope: DataScope, binding: Binding, values: Collection[int]) -> bool:
    """Whether the way to a sample leads through one of `values`, given by identity."""
    value: object = surface.data_model
    for step in (*(scope.steps if binding.is_relative else ()), *binding.steps):
        value = step_into(value, step)
        if id(value) in values:
            return True
    return False


def _check_syntax(component: Component) -> Iterator[RawFinding]:
    for site in component.sites:
        path = site.node.get("path")
        if isinstance(path, str) and not is_well_formed(path):
            message = f"{component_name(component.body)}: {quote_value(path)} is not a path that A2UI can read"
            hint = "Write steps with / between them; a ~ in a name is written ~0, a / is written ~1."
            yield build_finding("UI_PATH_SYNTAX", (*site.path, "path"), message, hint)


def _bindings_of(component: Component) -> Iterator[Binding]:
    for reference in find_references(component):
        path = reference.template
        if path is not None and is_well_formed(path):
            place = (*reference.path[:-1], "path")
            yield Binding(place, path, parse_path(path), is_relative(path), "template")
    for site in component.sites:
        path = site.node.get("path")
        if isinstance(path, str) and len(site.node) == 1 and is_well_formed(path):
            is_input = component.type in INPUTS and site.path == (*component.path, "value")
            use: Literal["value", "input"] = "input" if is_input else "value"
            yield Binding((*site.path, "path"), path, parse_path(path), is_relative(path), use)
        text = find_expression(site.node)
        if text is not None:
            yield from _bindings_in_text((*site.path, "args", "value"), text)


def _bindings_in_text(place: Path, text: str) -> Iterator[Binding]:
    try:
        found = read_expressions(text)
    except ExpressionError:
        return  # Group 2 has reported it.
    first: dict[str, int] = {}
    for use in found.paths:
        first.setdefault(use.path, use.offset)
    for path, offset in first.items():
        yield Binding(place, path, parse_path(path), is_relative(path), offset=offset)


def _outside(surface: Surface, visit: ComponentVisit, binding: Binding) -> RawFinding:
    owner, path = component_name(visit.component.body), quote_value(binding.path)
    message = f"{owner}: the path {path} needs a list item to start from, and no list is drawn here"
    absolute = quote_value(join_paths(binding.steps, is_absolute=True))
    hint = f"Begin the path with /, as in {absolute}, or move the component into a list's template."
    if resolve(surface.data_model, binding.steps)[0] is not MISSING:
        hint = f"Write {absolute}."
    return build_finding("UI_PATH_RELATIVE_OUTSIDE_TEMPLATE", binding.place, message, hint, offset=binding.offset)


def _unresolved(surface: Surface, visit: ComponentVisit, binding: Binding, taken: int, work: Budget) -> RawFinding:
    severity: Severity | None = None
    owner = component_name(visit.component.body)
    message = f"{owner}: the path {quote_value(binding.path)} leads to nothing in 'dataModel'"
    hint = _hint_for_path(surface, visit.scope, binding, taken, work)
    if not surface.has_data_model:
        severity = "warning"
        message = f"{owner}: the path {quote_value(binding.path)} cannot be checked, for 'dataModel' is left out"
        hint = "Add a 'dataModel' with a sample value for every path."
    return build_finding("UI_PATH_UNRESOLVED", binding.place, message, hint, offset=binding.offset, severity=severity)


def _hint_for_path(surface: Surface, scope: DataScope, binding: Binding, taken: int, work: Budget) -> str:
    """Suggest the path without its /, where it is meant in a list item, or with its first wrong step fixed."""
    steps = binding.steps
    if not binding.is_relative and scope.kind == "item" and resolve(scope.value, steps)[0] is not MISSING:
        return f"Inside a list's template, write {quote_value(join_paths(steps, is_absolute=False))}."
    holder, _ = resolve(scope.value if binding.is_relative else surface.data_model, steps[:taken])
    meant = work.nearest(steps[taken], holder if isinstance(holder, dict) else ())
    if not meant:
        return f"Add a sample value for {quote_value(binding.path)} to 'dataModel', or correct the path."
    corrected = [*steps[:taken], meant, *steps[taken + 1 :]]
    return f"Did you mean {quote_value(join_paths(corrected, is_absolute=not binding.is_relative))}?"


def _check_template(component: Component, binding: Binding, value: object) -> Iterator[RawFinding]:
    owner, path = component_name(component.body), quote_value(binding.path)
    if not isinstance(value, list):
        message = f"{owner}: a template needs an array; {path} holds {json_type(value)}"
        hint = "Bind the template to an array in 'dataModel'."
        yield build_finding("UI_TEMPLATE_NOT_ARRAY", binding.place, message, hint)
    elif not value:
        message = f"{owner}: the list at {path} has no sample item, so paths inside it are unchecked"
        yield build_finding("UI_TEMPLATE_NO_SAMPLE", binding.place, message, "Add one sample item to the list.")
