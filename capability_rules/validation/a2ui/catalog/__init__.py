"""The A2UI basic catalogue: which components and functions exist, and what each takes.

`basic.json` is derived from the a2ui-core that we pin, by `generate.py`, and committed: reading it takes a millisecond,
where a2ui-core needs more than a second to import. Validators are compiled on first use and kept for the process.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property
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


@dataclass(frozen=True)
class CatalogSchema:
    """A JSON Schema of the catalogue, complete with its `$defs`, and its validator."""

    schema: JsonObject

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        return jsonschema_rs.Draft202012Validator(self.schema, offline=True)


def _complete(schema: JsonObject) -> CatalogSchema:
    return CatalogSchema({**schema, "$defs": document()["$defs"]})


@cache
def component_schema(name: str) -> CatalogSchema:
    """Return what one component type takes."""
    return _complete(document()["components"][name])


@cache
def function_schema(name: str) -> CatalogSchema:
    """Return what one whole call takes, `{"call", "args", "returnType"}`."""
    return _complete(document()["functions"][name])


@cache
def theme_schema() -> CatalogSchema:
    """Return what `definition.theme` takes."""
    return _complete(document()["theme"])
