"""Group 4: does every path lead to sample data, and does that suit the widget that shows it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from registry.validation.problems import Path, Problem, Severity
from registry.validation.ui.expressions import ExpressionFaultError, read_expressions
from registry.validation.ui.inputs import check_literal_input, check_options, check_sample
from registry.validation.ui.pointer import (
    MISSING,
    is_relative,
    is_well_formed,
    join,
    resolve,
    steps_of,
)
from registry.validation.ui.scopes import Scope, Visit, lookup
from registry.validation.ui.shape import expression_of
from registry.validation.ui.surface import INPUTS, Component, Surface
from registry.validation.ui.topology import references_of
from registry.validation.ui.work import Work, component_name, kind_of, problem, show


@dataclass(frozen=True, slots=True)
class Binding:
    """One path that a component reads. `offset` is set where it stands inside the `${...}` of a text."""

    place: Path
    path: str
    offset: int | None = None
    is_template: bool = False


def check_bindings(surface: Surface, seen: list[Visit], work: Work) -> Iterator[Problem]:
    """Check each path once for its form, and in every scope where its component is drawn."""
    bindings: dict[str, list[Binding]] = {}
    for component in surface.components:
        yield from _check_syntax(component)
        bindings[component.id] = list(_bindings_of(component))
        if component.type in INPUTS:
            yield from check_literal_input(component)
        if component.type == "ChoicePicker":
            yield from check_options(component)
    told: set[tuple[str, Path, int | None]] = set()
    for visit in seen:
        for binding in bindings[visit.component.id]:
            for found in _check_binding(surface, visit, binding, work):
                # The same fault shows in each item of a list; it is one fault of the form.
                if (found.code, found.path, found.offset) not in told:
                    told.add((found.code, found.path, found.offset))
                    yield found


def _check_syntax(component: Component) -> Iterator[Problem]:
    for site in component.sites:
        path = site.node.get("path")
        if isinstance(path, str) and not is_well_formed(path):
            message = f"{component_name(component.body)}: {show(path)} is not a path that A2UI can read"
            hint = "Write steps with / between them; a ~ in a name is written ~0, a / is written ~1."
            yield problem("UI_PATH_SYNTAX", (*site.path, "path"), message, hint)


def _bindings_of(component: Component) -> Iterator[Binding]:
    for reference in references_of(component):
        if reference.template is not None and is_well_formed(reference.template):
            yield Binding((*reference.path[:-1], "path"), reference.template, is_template=True)
    for site in component.sites:
        path = site.node.get("path")
        if isinstance(path, str) and len(site.node) == 1 and is_well_formed(path):
            yield Binding((*site.path, "path"), path)
        text = expression_of(site.node)
        if text is not None:
            yield from _bindings_in_text((*site.path, "args", "value"), text)


def _bindings_in_text(place: Path, text: str) -> Iterator[Binding]:
    try:
        found = read_expressions(text)
    except ExpressionFaultError:
        return  # Group 2 has told it.
    for use in found.paths:
        yield Binding(place, use.path, use.offset)


def _check_binding(surface: Surface, visit: Visit, binding: Binding, work: Work) -> Iterator[Problem]:
    scope, owner = visit.scope, component_name(visit.component.body)
    if is_relative(binding.path) and scope.kind == "outside":
        message = f"{owner}: the path {show(binding.path)} needs a list item to start from, and no list is drawn here"
        code = "UI_PATH_RELATIVE_OUTSIDE_TEMPLATE"
        yield problem(code, binding.place, message, _absolute_hint(surface, binding.path), offset=binding.offset)
        return
    if is_relative(binding.path) and scope.kind == "unknown":
        return
    value, taken = lookup(surface, scope, binding.path)
    if value is MISSING:
        yield _unresolved(surface, scope, binding, owner, taken, work)
    elif binding.is_template:
        yield from _check_template(binding, value, owner)
    elif visit.component.type in INPUTS and binding.place == (*visit.component.path, "value", "path"):
        yield from check_sample(visit.component, binding.place, value)


def _absolute_hint(surface: Surface, path: str) -> str:
    absolute = join(steps_of(path), is_absolute=True)
    if resolve(surface.data_model, steps_of(path))[0] is not MISSING:
        return f'Write "{absolute}".'
    return f'Begin the path with /, as in "{absolute}", or move the component into a list\'s template.'


def _unresolved(surface: Surface, scope: Scope, binding: Binding, owner: str, taken: int, work: Work) -> Problem:
    severity: Severity | None = None
    message = f"{owner}: the path {show(binding.path)} leads to nothing in 'dataModel'"
    hint = _nearest_path(surface, scope, binding.path, taken, work)
    if not surface.has_data_model:
        severity = "warning"
        message = f"{owner}: the path {show(binding.path)} cannot be checked, for 'dataModel' is left out"
        hint = "Add a 'dataModel' with a sample value for every path."
    return problem("UI_PATH_UNRESOLVED", binding.place, message, hint, offset=binding.offset, severity=severity)


def _nearest_path(surface: Surface, scope: Scope, path: str, taken: int, work: Work) -> str:
    """Suggest the path with its first wrong step mended, where the data has a step of a similar name there."""
    steps = steps_of(path)
    holder, _ = lookup(surface, scope, join(steps[:taken], is_absolute=path.startswith("/")))
    names = list(holder) if isinstance(holder, dict) else []
    meant = work.nearest(steps[taken], names)
    if not meant:
        return f"Add a sample value for {show(path)} to 'dataModel', or correct the path."
    mended = [*steps[:taken], meant, *steps[taken + 1 :]]
    return f'Did you mean "{join(mended, is_absolute=path.startswith("/"))}"?'


def _check_template(binding: Binding, value: object, owner: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        message = f"{owner}: a template needs a list; {show(binding.path)} holds {kind_of(value)}"
        hint = "Bind the template to a list in 'dataModel'."
        yield problem("UI_TEMPLATE_NOT_ARRAY", binding.place, message, hint)
    elif not value:
        message = f"{owner}: the list at {show(binding.path)} has no sample item, so paths inside it are unchecked"
        yield problem("UI_TEMPLATE_NO_SAMPLE", binding.place, message, "Add one sample item to the list.")
