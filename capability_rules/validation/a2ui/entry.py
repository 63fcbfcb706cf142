"""Group 1: does an entry of ui_schemas.json have the right shape and size? (docs/ui-schemas.md 1)"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui import entry_schema, limits
from capability_rules.validation.a2ui.budget import (
    Budget,
    build_finding,
    component_name,
    join_words,
    json_type,
    quote_value,
)
from capability_rules.validation.a2ui.catalog import theme_schema
from capability_rules.validation.a2ui.schema_errors import find_schema_errors
from capability_rules.validation.a2ui.surface import Surface
from capability_rules.validation.a2ui.urls import check_url
from capability_rules.validation.a2ui.walk import depth_of


def check_entry(index: int, entry: object, work: Budget) -> Iterator[RawFinding]:
    """Check one entry alone, except what is inside its components."""
    here: Path = (index,)
    if not isinstance(entry, dict):
        yield build_finding("UI_ENTRY_SHAPE", here, f"expected an object; found {json_type(entry)}", _ENTRY_FIX)
        return
    if depth_of(entry, limits.DEPTH_MAX + 1) > limits.DEPTH_MAX + 1:
        yield _too_deep(here, entry)
        return
    yield from _unknown_keys("UI_ENTRY_SHAPE", "an entry", here, entry, entry_schema.ENTRY_PROPERTIES, work)
    yield from _check_schema_id(here, entry)
    yield from _check_texts(here, entry)
    yield from _check_size(here, entry)
    if "actions" in entry and not isinstance(entry["actions"], dict):
        message = f"'actions' must be an object; found {json_type(entry['actions'])}"
        yield build_finding("UI_ENTRY_SHAPE", (*here, "actions"), message, 'Write {"save": {"tool": "tool_name"}}.')
    wrong_version = list(_check_version(here, entry))
    yield from wrong_version
    # Another version has another definition: one finding says more than thirty that follow from it.
    if not wrong_version:
        yield from _check_definition(here, entry, work)


_ENTRY_FIX = 'Write {"schema_id": "WeightEntryForm.v1", "definition": {...}}.'


def _too_deep(here: Path, entry: dict[str, Any]) -> RawFinding:
    in_definition = depth_of(entry.get("definition"), limits.DEPTH_MAX) > limits.DEPTH_MAX
    path = (*here, "definition") if in_definition else here
    message = f"nested more than {limits.DEPTH_MAX} levels deep; A2UI refuses that"
    return build_finding("UI_LIMIT_EXCEEDED", path, message, "Use fewer levels of lists and objects.")


def _unknown_keys(
    code: str, owner: str, path: Path, value: dict[str, Any], known: Collection[str], work: Budget
) -> Iterator[RawFinding]:
    for key in value:
        if key not in known:
            hint = work.did_you_mean(key, known, f"Remove it. The keys of {owner} are: {join_words(known)}.")
            yield build_finding(code, (*path, key), f"{owner} has no key {quote_value(key)}", hint, at_key=True)


def _check_schema_id(here: Path, entry: dict[str, Any]) -> Iterator[RawFinding]:
    if "schema_id" not in entry:
        yield build_finding("UI_ENTRY_SHAPE", here, "the required 'schema_id' is missing", _ENTRY_FIX)
    elif not isinstance(entry["schema_id"], str):
        message = f"'schema_id' must be a string; found {quote_value(entry['schema_id'])}"
        hint = 'Write a string such as "WeightEntryForm.v1".'
        yield build_finding("UI_ENTRY_SHAPE", (*here, "schema_id"), message, hint)
    elif not entry_schema.is_schema_id(entry["schema_id"]):
        message = f"expected a name such as WeightEntryForm.v1; found {quote_value(entry['schema_id'])}"
        yield build_finding("UI_SCHEMA_ID_FORMAT", (*here, "schema_id"), message, _id_hint(entry["schema_id"]))


def _id_hint(schema_id: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", schema_id[:60])
    version = words.pop()[1:] if words and re.fullmatch(r"v[1-9][0-9]{0,3}", words[-1]) else "1"
    suggestion = "".join(word[0].upper() + word[1:] for word in words)[:64] + f".v{version}"
    rule = "Begin with a capital letter, use letters and digits, and end with .v and a number"
    return f"{rule}: {suggestion}" if entry_schema.is_schema_id(suggestion) else f"{rule}."


def _check_texts(here: Path, entry: dict[str, Any]) -> Iterator[RawFinding]:
    for key in ("title", "description"):
        if key not in entry:
            continue
        value, most = entry[key], entry_schema.ENTRY_PROPERTIES[key]["maxLength"]
        if not isinstance(value, str):
            message = f"'{key}' must be a string; found {json_type(value)}"
            yield build_finding("UI_ENTRY_SHAPE", (*here, key), message, "Write it in quotes, or leave it out.")
        elif len(value) > most:
            message = f"'{key}' has {len(value)} characters; at most {most} are allowed"
            yield build_finding("UI_ENTRY_SHAPE", (*here, key), message, "Shorten it.")


def _check_size(here: Path, entry: dict[str, Any]) -> Iterator[RawFinding]:
    size = len(json.dumps(entry, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace"))
    if size > limits.ENTRY_BYTES_MAX:
        message = f"this entry takes {size:,} bytes; at most {limits.ENTRY_BYTES_MAX:,} are allowed"
        yield build_finding("UI_LIMIT_EXCEEDED", here, message, "Split the form, or shorten its sample data.")


def _check_version(here: Path, entry: dict[str, Any]) -> Iterator[RawFinding]:
    first = entry_schema.VERSIONS[0]
    version = entry.get("a2ui_version", first)
    if version not in entry_schema.VERSIONS:
        message = f"expected A2UI {' or '.join(entry_schema.VERSIONS)}; found {quote_value(version)}"
        hint = f'Write the form for A2UI {first} and set "a2ui_version": "{first}".'
        yield build_finding("UI_VERSION_UNSUPPORTED", (*here, "a2ui_version"), message, hint)


def _check_definition(here: Path, entry: dict[str, Any], work: Budget) -> Iterator[RawFinding]:
    if "definition" not in entry:
        yield build_finding("UI_ENTRY_SHAPE", here, "the required 'definition' is missing", _ENTRY_FIX)
        return
    definition, path = entry["definition"], (*here, "definition")
    if not isinstance(definition, dict):
        message = f"'definition' must be an object; found {json_type(definition)}"
        yield build_finding("UI_DEFINITION_SHAPE", path, message, 'Write {"catalogId": "...", "components": [...]}.')
        return
    known = entry_schema.DEFINITION_PROPERTIES
    yield from _unknown_keys("UI_DEFINITION_SHAPE", "a definition", path, definition, known, work)
    yield from _check_catalog(path, definition)
    yield from _check_components(path, definition)
    yield from _check_data_model(path, definition)
    yield from _check_theme(path, definition, work)


def _check_catalog(path: Path, definition: dict[str, Any]) -> Iterator[RawFinding]:
    hint = f'Write "catalogId": "{entry_schema.CATALOG_ID}".'
    if "catalogId" not in definition:
        yield build_finding("UI_DEFINITION_SHAPE", path, "the required 'catalogId' is missing", hint)
    elif definition["catalogId"] != entry_schema.CATALOG_ID:
        message = f"only the A2UI basic catalogue can be used; found {quote_value(definition['catalogId'])}"
        yield build_finding("UI_CATALOG_UNSUPPORTED", (*path, "catalogId"), message, hint)


def _check_components(path: Path, definition: dict[str, Any]) -> Iterator[RawFinding]:
    hint = 'Write a list of objects, the first {"id": "root", "component": "Column", "children": [...]}.'
    if "components" not in definition:
        yield build_finding("UI_DEFINITION_SHAPE", path, "the required 'components' is missing", hint)
        return
    components, place = definition["components"], (*path, "components")
    if not isinstance(components, list) or not components:
        came = "an empty list" if components == [] else json_type(components)
        yield build_finding("UI_DEFINITION_SHAPE", place, f"expected an array of components; found {came}", hint)
    elif len(components) > entry_schema.COMPONENTS_MAX:
        message = f"{len(components)} components; at most {entry_schema.COMPONENTS_MAX} are allowed"
        yield build_finding("UI_LIMIT_EXCEEDED", place, message, "Split the form into two.")
    else:
        for index, component in enumerate(components):
            if not isinstance(component, dict):
                message = f"a component must be an object; found {quote_value(component)}"
                hint = 'Write {"id": "...", "component": ...}.'
                yield build_finding("UI_DEFINITION_SHAPE", (*place, index), message, hint)


def _check_data_model(path: Path, definition: dict[str, Any]) -> Iterator[RawFinding]:
    if not isinstance(definition.get("dataModel", {}), dict):
        message = f"'dataModel' must be an object; found {json_type(definition['dataModel'])}"
        yield build_finding("UI_DEFINITION_SHAPE", (*path, "dataModel"), message, "Write an object with sample values.")
    if not isinstance(definition.get("sendDataModel", False), bool):
        message = f"'sendDataModel' must be true or false; found {quote_value(definition['sendDataModel'])}"
        hint = "Write true or false, or leave it out."
        yield build_finding("UI_DEFINITION_SHAPE", (*path, "sendDataModel"), message, hint)


def _check_theme(path: Path, definition: dict[str, Any], work: Budget) -> Iterator[RawFinding]:
    if "theme" not in definition:
        return
    theme, place = definition["theme"], (*path, "theme")
    for fault in find_schema_errors(theme_schema(), theme, work):
        yield build_finding("UI_DEFINITION_SHAPE", (*place, *fault.path), f"the theme: {fault.message}", fault.hint)
    if isinstance(theme, dict) and isinstance(theme.get("iconUrl"), str):
        yield from check_url((*place, "iconUrl"), theme["iconUrl"], "the theme's icon")


def check_inner_limits(surface: Surface) -> Iterator[RawFinding]:
    """Look for calls and expressions past A2UI's limits: the part of group 1 that needs to look inside."""
    for component in surface.components:
        for site in component.sites:
            if site.is_call and site.calls >= limits.NESTED_CALLS_MAX:
                message = f"{component_name(component.body)}: function calls are nested more than "
                message += f"{limits.NESTED_CALLS_MAX} deep; A2UI refuses that"
                yield build_finding("UI_LIMIT_EXCEEDED", site.path, message, "Use fewer calls inside calls.")
            text = find_expression(site.node)
            if text is not None and len(text) > limits.EXPRESSION_CHARACTERS_MAX:
                message = f"{component_name(component.body)}: an expression of {len(text):,} characters; "
                message += f"at most {limits.EXPRESSION_CHARACTERS_MAX:,} are allowed"
                yield build_finding("UI_LIMIT_EXCEEDED", (*site.path, "args", "value"), message, "Shorten the text.")


def find_expression(node: dict[str, Any]) -> str | None:
    """Return the text that a formatString call would read for `${...}`, or None."""
    args = node.get("args")
    if node.get("call") != "formatString" or not isinstance(args, dict):
        return None
    return args["value"] if isinstance(args.get("value"), str) else None
