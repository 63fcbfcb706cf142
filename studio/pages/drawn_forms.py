"""The forms of a published capability as the overview draws them: empty, for nobody to fill in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.bundles.forms import VERSION, surface_messages
from capability_rules.bundles.bundle import SkillBundle
from studio.pages.html_forms import HtmlForm, build_html_form

FORMS_MAX: Final = 12
# A list of sample rows is drawn with one.
_ROWS: Final = 1


@dataclass(frozen=True)
class DrawnForm:
    """`messages` draw it, `plain` has its fields for a browser without scripts; `is_wide` has rows of a list in it."""

    schema_id: str
    title: str
    is_wide: bool
    messages: list[dict[str, Any]]
    plain: HtmlForm


def draw_forms(bundle: SkillBundle) -> Iterator[DrawnForm]:
    """What is published has passed: its forms can be drawn."""
    for entry in bundle.ui_schemas[:FORMS_MAX]:
        yield draw_form(entry, without_samples(entry["definition"].get("dataModel", {})))


def draw_form(entry: Mapping[str, Any], data: Any, *, has_buttons: bool = True) -> DrawnForm:
    """An entry of ui_schemas.json with this data in its fields."""
    schema_id, definition = str(entry.get("schema_id", "")), entry["definition"]
    # Nothing is filled in: what the checks say about that would be in red on every form.
    components = [_without_checks(one) for one in definition["components"]]
    if not has_buttons:
        components = [_without_button(one) for one in components]
    shown = {**definition, "components": components}
    messages = surface_messages(shown, schema_id, data=data, version=str(entry.get("a2ui_version") or VERSION))
    is_wide = any(isinstance(one.get("children"), dict) for one in definition["components"])
    return DrawnForm(schema_id, str(entry.get("title") or schema_id), is_wide, messages, build_html_form(shown, data))


def _without_button(component: dict[str, Any]) -> dict[str, Any]:
    is_button = component.get("component") == "Button"
    return {"id": component["id"], "component": "Text", "text": ""} if is_button else component


def _without_checks(component: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in component.items() if key != "checks"}


def without_samples(data: Any) -> Any:
    """The same structure with nothing filled in: one row of each list, no ticks, no texts."""
    if isinstance(data, Mapping):
        return {key: without_samples(value) for key, value in data.items()}
    if isinstance(data, list):
        # A list of plain values is what somebody has chosen.
        return [without_samples(one) for one in data[:_ROWS] if isinstance(one, (Mapping, list))]
    return False if isinstance(data, bool) else ""
