"""Group 5, the options: would the tool take each option of a ChoicePicker that a button sends to it?

Each option is put into the sample data in the place of what is selected there, and judged as the button would send it
(arguments.py). Where the sample itself is refused, that is said elsewhere, and the options say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from capability_kit.json_text import as_mapping
from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui.actions import is_action
from capability_rules.validation.a2ui.arguments import ArgsSchema, Arguments, evaluate
from capability_rules.validation.a2ui.budget import build_finding, component_name, quote_value
from capability_rules.validation.a2ui.data_paths import MISSING, is_relative, is_well_formed, parse_path, resolve
from capability_rules.validation.a2ui.samples import with_samples
from capability_rules.validation.a2ui.scopes import ComponentVisit, DataScope
from capability_rules.validation.a2ui.surface import Component, Surface

# Of one form; a form with more options has shown its trouble by then.
_OPTIONS_MAX: Final = 500
Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sent:
    """An argument that a button sends, in one scope."""

    key: str
    value: Any
    scope: DataScope
    tool: str
    args: ArgsSchema


def check_choices(
    surface: Surface, seen: Sequence[ComponentVisit], tools: Mapping[str, dict[str, Any]], arguments: Arguments
) -> Iterator[RawFinding]:
    """Warn of options that the tool would refuse which their form feeds; each option once."""
    pickers = _list_pickers(seen)
    if not pickers:
        return
    left, told = _OPTIONS_MAX, set[Path]()
    for sent in _list_sent(surface, seen, tools):
        for steps in dict.fromkeys(_steps_in(sent.value, sent.scope)):
            component = pickers.get(steps)
            if component is None or _refusal(surface, sent, arguments) is not None:
                continue
            for place, option in _options(component)[:left]:
                left -= 1
                verdict = None if place in told else _refusal(_chosen(surface, steps, option), sent, arguments)
                if verdict is not None:
                    told.add(place)
                    yield _refused(component, place, option, sent, verdict)


def _list_pickers(seen: Sequence[ComponentVisit]) -> dict[Steps, Component]:
    """The ChoicePickers by the place in the data that each writes to."""
    found: dict[Steps, Component] = {}
    for visit in seen:
        path = as_mapping(visit.component.body.get("value")).get("path")
        if visit.component.type == "ChoicePicker" and isinstance(path, str):
            for steps in _absolute(path, visit.scope):
                found.setdefault(steps, visit.component)
    return found


def _list_sent(
    surface: Surface, seen: Sequence[ComponentVisit], tools: Mapping[str, dict[str, Any]]
) -> Iterator[_Sent]:
    events = {component.id: event for component, event in surface.events()}
    for visit in seen:
        event = events.get(visit.component.id)
        action = surface.actions.get(event["name"]) if event is not None else None
        tool = tools.get(action.get("tool", "")) if isinstance(action, dict) and is_action(action) else None
        if event is None or tool is None or not isinstance(tool.get("args_schema"), dict):
            continue
        args = ArgsSchema(tool["args_schema"])
        for key, value in as_mapping(event.get("context")).items():
            if key in args.properties:
                yield _Sent(key, value, visit.scope, tool["name"], args)


def _absolute(path: str, scope: DataScope) -> Iterator[Steps]:
    """The place of a path in the whole data; none where that is not known."""
    if is_well_formed(path) and (not is_relative(path) or scope.kind == "item"):
        yield (*scope.steps, *parse_path(path)) if is_relative(path) else parse_path(path)


def _steps_in(value: Any, scope: DataScope) -> Iterator[Steps]:
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict) and isinstance(found.get("path"), str) and len(found) == 1:
            yield from _absolute(found["path"], scope)
        elif isinstance(found, dict | list):
            stack += found.values() if isinstance(found, dict) else found


def _refusal(surface: Surface, sent: _Sent, arguments: Arguments) -> str | None:
    """Why the tool would refuse what is sent by the sample data of the surface, where nothing is left to be entered."""
    scope = sent.scope
    if scope.kind == "item":
        scope = replace(scope, value=resolve(surface.data_model, scope.steps)[0])
    sample = evaluate(surface, scope, sent.value)
    if sample is MISSING:
        return None
    return arguments.judge(sent.args, sent.key, with_samples(sent.args.properties.get(sent.key), sample))


def _options(component: Component) -> list[tuple[Path, str]]:
    return [
        ((*component.path, "options", index, "value"), option["value"])
        for index, option in enumerate(component.body["options"])
        if isinstance(option["value"], str)
    ]


def _chosen(surface: Surface, steps: Steps, option: str) -> Surface:
    """The surface whose sample data has this option selected."""
    definition = surface.entry["definition"]
    data = _with(surface.data_model, steps, [option])
    return replace(surface, entry={**surface.entry, "definition": {**definition, "dataModel": data}})


def _with(data: Any, steps: Steps, value: Any) -> Any:
    if not steps:
        return value
    if isinstance(data, list):
        index = int(steps[0]) if steps[0].isdecimal() else -1
        return [_with(item, steps[1:], value) if place == index else item for place, item in enumerate(data)]
    known = data if isinstance(data, dict) else {}
    return {**known, steps[0]: _with(known.get(steps[0]), steps[1:], value)}


def _refused(component: Component, place: Path, option: str, sent: _Sent, verdict: str) -> RawFinding:
    message = (
        f"{component_name(component.body)}: the tool {quote_value(sent.tool)} would refuse the option "
        f"{quote_value(option)} for its argument {quote_value(sent.key)}: {verdict}"
    )
    hint = "Give the option a value that the tool takes, or allow it in the tool's args_schema."
    return build_finding("UI_CHOICE_OPTION_REFUSED", place, message, hint)
