"""Group 4, the inputs: is the value bound, does the sample suit the widget, and are the options in order?

What each widget writes was tried in the web renderer (docs/ui-schemas.md 2): a form whose sample has another type shows
the sample wrong, or overwrites it with a value that its readers do not expect.
"""

from __future__ import annotations

from collections.abc import Iterator

from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui.budget import build_finding, component_name, join_words, json_type, quote_value
from capability_rules.validation.a2ui.surface import Component

_EXPECTED = {
    "TextField": "a string",
    "DateTimeInput": "a string",
    "CheckBox": "true or false",
    "Slider": "a number",
    "ChoicePicker": "an array of strings",
}
_BIND_HINT = 'Write "value": {"path": "/name"}, and add a sample value to the data model.'
_NUMBER_HINT = ' A TextField writes text, also with "variant": "number".'


def check_literal_input(component: Component) -> Iterator[RawFinding]:
    """Warn where what the user enters would be kept nowhere."""
    value = component.body.get("value")
    if isinstance(value, dict) and "path" in value:
        return
    path = (*component.path, "value") if "value" in component.body else component.path
    message = f"{component_name(component.body)}: 'value' is bound to no path, so what the user enters is lost"
    yield build_finding("UI_INPUT_NOT_BOUND", path, message, _BIND_HINT)
    if component.type == "ChoicePicker" and isinstance(value, list):
        yield from _check_selected(component, (*component.path, "value"), value)


def check_options(component: Component) -> Iterator[RawFinding]:
    """Check that no two options of a ChoicePicker have the same value."""
    seen: set[str] = set()
    for index, option in enumerate(component.body["options"]):
        value = option["value"]
        if value in seen:
            message = f"{component_name(component.body)}: an earlier option has the value {quote_value(value)}, too"
            path = (*component.path, "options", index, "value")
            yield build_finding("UI_CHOICE_OPTION_DUPLICATE", path, message, "Give each option a value of its own.")
        seen.add(value)


def check_sample(component: Component, path: Path, sample: object) -> Iterator[RawFinding]:
    """Compare the sample that an input is bound to with what its widget reads and writes."""
    if not _suits(component.type, sample):
        expected = _EXPECTED[component.type]
        message = f"{component_name(component.body)} needs {expected}; the sample is {_described(sample)}"
        hint = f"Change the sample in 'dataModel' to {expected}, or use another component."
        if component.type == "TextField" and isinstance(sample, int | float):
            hint = f'Write the sample as text: "{quote_value(sample)}".' + _NUMBER_HINT
        yield build_finding("UI_BINDING_TYPE", path, message, hint)
    elif component.type == "ChoicePicker" and isinstance(sample, list):
        yield from _check_selected(component, path, sample)


def _suits(kind: str, sample: object) -> bool:
    if kind == "CheckBox":
        # null: nobody has set it.
        return sample is None or isinstance(sample, bool)
    if kind == "Slider":
        return isinstance(sample, int | float) and not isinstance(sample, bool)
    if kind == "ChoicePicker":
        return isinstance(sample, list) and all(isinstance(item, str) for item in sample)
    return isinstance(sample, str)


def _described(sample: object) -> str:
    return json_type(sample) if isinstance(sample, dict | list) else quote_value(sample)


def _check_selected(component: Component, path: Path, selected: list[object]) -> Iterator[RawFinding]:
    values = [option["value"] for option in component.body["options"]]
    known = set(values)
    unknown = next((item for item in selected if item not in known), None)
    if unknown is not None:
        message = (
            f"{component_name(component.body)}: {quote_value(unknown)} is selected in the sample but is not an option"
        )
        hint = f"The options are: {join_words(map(quote_value, values))}."
        yield build_finding("UI_CHOICE_VALUE_UNKNOWN", path, message, hint)
