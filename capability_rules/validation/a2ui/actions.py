"""Group 5: does every button lead to a tool, a reply or a dismissal, with the arguments that are needed?

`actions` maps the name of an event to what it does. The `context` of the event has the arguments: their names are the
tool's, and their sample values must be such as the tool would take (docs/ui-schemas.md 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from capability_kit.json_text import as_mapping
from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui.arguments import ArgsSchema, Arguments, evaluate
from capability_rules.validation.a2ui.budget import Budget, build_finding, component_name, join_words, quote_value
from capability_rules.validation.a2ui.data_paths import MISSING
from capability_rules.validation.a2ui.samples import with_samples
from capability_rules.validation.a2ui.scopes import ComponentVisit, DataScope
from capability_rules.validation.a2ui.surface import Component, Surface

_ACTION_HINT = 'Write exactly one of {"tool": "tool_name"}, {"reply": true} or {"dismiss": true}.'


def tools_by_name(tools: object) -> dict[str, dict[str, Any]]:
    """Index what can be read of tools.json; the first of two tools with one name counts."""
    found: dict[str, dict[str, Any]] = {}
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            found.setdefault(tool["name"], tool)
    return found


def is_action(action: object) -> bool:
    """Whether an action is one of the three kinds."""
    if not isinstance(action, dict) or len(action) != 1:
        return False
    return isinstance(action.get("tool"), str) or action.get("reply") is True or action.get("dismiss") is True


def has_reply(actions: object) -> bool:
    """Whether any event is sent back to the agent as a reply."""
    return any(as_mapping(action).get("reply") is True for action in as_mapping(actions).values())


def find_called_tools(actions: object) -> set[str]:
    """Name the tools that any event calls."""
    named = (as_mapping(action).get("tool") for action in as_mapping(actions).values())
    return {name for name in named if isinstance(name, str)}


def check_actions(
    surface: Surface,
    seen: list[ComponentVisit],
    tools: Mapping[str, dict[str, Any]],
    arguments: Arguments,
    work: Budget,
) -> Iterator[RawFinding]:
    """Check the `actions` of one entry and every event that its components raise."""
    yield from _check_declared(surface, tools, work)
    raised: set[str] = set()
    scopes: dict[str, list[DataScope]] = {}
    for visit in seen:
        scopes.setdefault(visit.component.id, []).append(visit.scope)
    for component, event in surface.events():
        name = event["name"]
        raised.add(name)
        if name not in surface.actions:
            yield _unbound(surface, component, name, work)
        elif is_action(surface.actions[name]):
            drawn = scopes.get(component.id, [])
            yield from _check_event(surface, component, event, drawn, tools, arguments, work)
    for name in surface.actions:
        if name not in raised:
            message = f"no component raises the event {quote_value(name)}"
            hint = "Remove the action, or give a Button an event of that name."
            yield build_finding("UI_ACTION_UNUSED", (surface.index, "actions", name), message, hint, at_key=True)


def _check_declared(surface: Surface, tools: Mapping[str, dict[str, Any]], work: Budget) -> Iterator[RawFinding]:
    for name, action in surface.actions.items():
        path: Path = (surface.index, "actions", name)
        if not is_action(action):
            found = quote_value(action)
            message = f"the action {quote_value(name)} must be one of tool, reply and dismiss; found {found}"
            yield build_finding("UI_ACTION_SHAPE", path, message, _ACTION_HINT)
        elif "tool" in action and action["tool"] not in tools:
            message = f"the tool {quote_value(action['tool'])} is not in tools.json"
            otherwise = f"The tools are: {join_words(tools)}." if tools else "Add the tool to tools.json."
            hint = work.did_you_mean(action["tool"], tools, otherwise)
            yield build_finding("UI_ACTION_TOOL_UNKNOWN", (*path, "tool"), message, hint)


def _unbound(surface: Surface, component: Component, name: str, work: Budget) -> RawFinding:
    message = f"{component_name(component.body)} raises the event {quote_value(name)}, which 'actions' does not name"
    hint = work.did_you_mean(name, surface.actions, f"Add it to 'actions': {quote_value(name)}: {{\"dismiss\": true}}.")
    if surface.map_form:
        hint = "Write ui_schemas.json as an array of entries: only there can 'actions' be given."
    return build_finding("UI_ACTION_UNBOUND", (*component.path, "action", "event", "name"), message, hint)


def _check_event(
    surface: Surface,
    component: Component,
    event: dict[str, Any],
    scopes: list[DataScope],
    tools: Mapping[str, dict[str, Any]],
    arguments: Arguments,
    work: Budget,
) -> Iterator[RawFinding]:
    action = surface.actions[event["name"]]
    path: Path = (*component.path, "action", "event")
    place = (*path, "context") if "context" in event else path
    context, owner = as_mapping(event.get("context")), component_name(component.body)
    if action.get("reply") is True and "value" not in context:
        message = f"{owner} answers the agent without a 'value' in its 'context'"
        yield build_finding("UI_REPLY_VALUE_MISSING", place, message, 'Add "value" with what the user chose.')
    tool = tools.get(action.get("tool", ""))
    if tool is None or not isinstance(tool.get("args_schema"), dict):
        return
    args = ArgsSchema(tool["args_schema"])
    yield from _check_names(place, context, args, f"{owner}, tool '{tool['name'][:64]}'", work)
    for key, value in context.items():
        if key in args.properties:
            for verdict in _refusals(surface, scopes, key, value, args, arguments):
                message = f"{owner}: the sample value does not suit the tool's argument {quote_value(key)}: {verdict}"
                hint = "Change the sample in 'dataModel', the widget that fills it, or the tool's args_schema."
                yield build_finding("UI_ACTION_ARG_TYPE", (*place, key), message, hint)


def _check_names(
    place: Path, context: dict[str, Any], args: ArgsSchema, owner: str, work: Budget
) -> Iterator[RawFinding]:
    for key in context:
        if key not in args.properties and args.is_closed:
            otherwise = f"It takes: {join_words(args.properties)}." if args.properties else "It takes no arguments."
            hint = work.did_you_mean(key, args.properties, otherwise)
            message = f"{owner}: there is no argument {quote_value(key)}"
            yield build_finding("UI_ACTION_ARG_UNKNOWN", (*place, key), message, hint)
    for name in args.required:
        if name not in context:
            message = f"{owner}: the required argument {quote_value(name)} is not sent"
            hint = f'Add {quote_value(name)} to \'context\', such as {{"path": "/{name[:64]}"}}.'
            yield build_finding("UI_ACTION_ARG_MISSING", place, message, hint)


def _refusals(
    surface: Surface, scopes: list[DataScope], key: str, value: Any, args: ArgsSchema, arguments: Arguments
) -> Iterator[str]:
    """Yield why the tool would refuse a context value, for the first list item where it would."""
    for scope in scopes:
        sample = evaluate(surface, scope, value)
        verdict = None if sample is MISSING else arguments.judge(args, key, sample)
        if verdict is not None:
            # What the user has yet to enter says nothing about what would be sent.
            entered = with_samples(args.properties.get(key), sample)
            verdict = verdict if entered == sample else arguments.judge(args, key, entered)
        if verdict is not None:
            yield verdict
            return
