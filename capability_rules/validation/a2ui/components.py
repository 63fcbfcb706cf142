"""Group 2: is every component one of the catalogue's, with the properties that its type takes?"""

from __future__ import annotations

from collections.abc import Iterator

from capability_rules.bundles.problem import RawFinding
from capability_rules.validation.a2ui.budget import Budget, build_finding, component_name, join_words, quote_value
from capability_rules.validation.a2ui.catalog import component_names, component_schema
from capability_rules.validation.a2ui.entry import find_expression
from capability_rules.validation.a2ui.functions import check_functions, is_regular_expression
from capability_rules.validation.a2ui.schema_errors import find_schema_errors
from capability_rules.validation.a2ui.surface import Component, Surface
from capability_rules.validation.a2ui.urls import MEDIA, check_url, check_url_expression

# What people write for what the catalogue calls otherwise; spelling alone would not find these.
_MEANT = {
    "ChoicePicker": "dropdown select multiplechoice radio radiogroup",
    "TextField": "input textinput textarea",
    "Text": "label heading paragraph markdown",
    "CheckBox": "switch toggle",
    "DateTimeInput": "datepicker dateinput timepicker",
    "Slider": "range",
    "Column": "container stack",
    "Modal": "dialog",
    "Divider": "separator",
    "AudioPlayer": "audio",
    "Button": "link",
}
_OTHER_NAMES = {word: name for name, words in _MEANT.items() for word in words.split()}


def check_components(surface: Surface, work: Budget) -> Iterator[RawFinding]:
    """Check each component alone, and the functions that it calls."""
    for component in surface.components:
        yield from _check_type(component, work)
        yield from check_functions(component, work)
        if component.type in MEDIA:
            yield from _check_media(component)


def _check_type(component: Component, work: Budget) -> Iterator[RawFinding]:
    body, owner = component.body, component_name(component.body)
    if component.type in component_names():
        for fault in find_schema_errors(component_schema(component.type), body, work):
            path, message = (*component.path, *fault.path), f"{owner}: {fault.message}"
            yield build_finding("UI_COMPONENT_INVALID", path, message, fault.hint)
        yield from _check_texts(component)
        return
    if "component" in body:
        message = f"{owner}: {_no_such_type(body['component'])}"
        hint = _hint_for_type(body["component"], work)
        yield build_finding("UI_COMPONENT_UNKNOWN", (*component.path, "component"), message, hint)
    else:
        hint = 'Add "component" with the type, such as "Text".'
        message = f"{owner}: the required 'component' is missing"
        yield build_finding("UI_COMPONENT_INVALID", component.path, message, hint)
    if not component.id:
        message = f"{owner}: 'id' must be a non-empty string"
        yield build_finding("UI_COMPONENT_INVALID", component.path, message, 'Add "id" with a name of your choice.')


def _check_texts(component: Component) -> Iterator[RawFinding]:
    """Check what the schema does not: an id is not empty, and a pattern can be compiled."""
    if component.body.get("id") == "":
        hint = "Give every component a name of its own."
        yield build_finding("UI_COMPONENT_INVALID", (*component.path, "id"), "a component's 'id' is empty", hint)
    pattern = component.body.get("validationRegexp")
    if isinstance(pattern, str) and not is_regular_expression(pattern):
        owner = component_name(component.body)
        message = f"{owner}: {quote_value(pattern)} is not a regular expression that a browser can read"
        hint = "Check brackets and backslashes; in JSON a backslash is written twice."
        yield build_finding("UI_COMPONENT_INVALID", (*component.path, "validationRegexp"), message, hint)


def _no_such_type(value: object) -> str:
    if isinstance(value, dict):
        return "the type must be a string; an object here is the form of A2UI v0.8"
    return f"there is no component type {quote_value(value)}"


def _hint_for_type(value: object, work: Budget) -> str:
    if isinstance(value, dict):
        return 'Write "component": "Text" with the properties beside it.'
    other = _OTHER_NAMES.get(value.lower()) if isinstance(value, str) else None
    if other:
        return f"Use '{other}'."
    return work.did_you_mean(value, component_names(), f"The types are: {join_words(component_names(), 20)}.")


def _check_media(component: Component) -> Iterator[RawFinding]:
    url, owner, path = component.body.get("url"), component_name(component.body), (*component.path, "url")
    if isinstance(url, str):
        yield from check_url(path, url, owner)
    elif isinstance(url, dict) and (text := find_expression(url)) is not None:
        yield from check_url_expression((*path, "args", "value"), text, owner)
