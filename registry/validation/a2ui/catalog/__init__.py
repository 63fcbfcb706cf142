"""The A2UI basic catalogue: which components and functions exist, and what each takes.

`basic.json` is derived from the a2ui-core that we pin, by `generate.py`, and committed: reading it takes a millisecond,
where a2ui-core needs more than a second to import. Validators are compiled on first use and kept for the process.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

JsonObject = dict[str, Any]


@cache
def document() -> JsonObject:
    """Read the whole catalogue; shared, so never change it."""
    return dict(json.loads(Path(__file__).with_name("basic.json").read_text(encoding="utf-8")))


def component_names() -> list[str]:
    """List the component types, in the catalogue's order."""
    return list(document()["components"])


def function_names() -> list[str]:
    """List the functions that a definition may call."""
    return list(document()["functions"])


def references(component: str) -> JsonObject:
    """The properties that contain ids of other components: `{"single": [..], "list": [..], "nested": {name: [..]}}`."""
    found: JsonObject = document()["references"].get(component, {"single": [], "list": [], "nested": {}})
    return found


@cache
def component_schema(name: str) -> JsonObject:
    """Return the JSON Schema of one component type, complete with its `$defs`."""
    return {**document()["components"][name], "$defs": document()["$defs"]}


@cache
def function_schema(name: str) -> JsonObject:
    """Return the JSON Schema of one whole call, `{"call", "args", "returnType"}`."""
    return {**document()["functions"][name], "$defs": document()["$defs"]}


@cache
def theme_schema() -> JsonObject:
    """Return the JSON Schema of `definition.theme`."""
    return {**document()["theme"], "$defs": document()["$defs"]}


@cache
def component_validator(name: str) -> jsonschema_rs.Validator:
    """Compile the schema of one component type."""
    return jsonschema_rs.Draft202012Validator(component_schema(name), offline=True)


@cache
def function_validator(name: str) -> jsonschema_rs.Validator:
    """Compile the schema of one function's calls."""
    return jsonschema_rs.Draft202012Validator(function_schema(name), offline=True)


@cache
def theme_validator() -> jsonschema_rs.Validator:
    """Compile the schema of a theme."""
    return jsonschema_rs.Draft202012Validator(theme_schema(), offline=True)
