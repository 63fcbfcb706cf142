"""Forms of a bundle: shown as A2UI messages; what the user did in one as a tool call (docs/ui-schemas.md 1 to 4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from capability_kit.bundles.bundle import Bundle

VERSION: Final = "v0.9.1"
Json = dict[str, Any]


class FormError(ValueError):
    """There is no such form, or it has no such action; the sentence says which there are."""


@dataclass(frozen=True, slots=True)
class FormAction:
    """What an event of a form means: call `tool` with `arguments` (`Session.call(..., from_form=True)`), give
    `arguments["value"]` back as a reply, or close the form."""

    kind: Literal["tool", "reply", "dismiss"]
    tool: str
    arguments: dict[str, object]


def parse_form(bundle: Bundle, schema_id: str) -> Json:
    """The entry of ui_schemas.json. Raises `FormError`."""
    found = next((entry for entry in bundle.ui_schemas if entry.get("schema_id") == schema_id), None)
    if found is None:
        there = ", ".join(str(entry.get("schema_id")) for entry in bundle.ui_schemas) or "none"
        raise FormError(f"{bundle.capability_id} has no form {schema_id[:80]!r}; there are: {there}")
    return dict(found)


def surface_messages(
    definition: Mapping[str, Any], surface_id: str, *, data: object = None, version: str = VERSION
) -> list[Json]:
    """The three messages that show a definition; `data` replaces its sample data."""
    create = {key: definition[key] for key in ("catalogId", "theme", "sendDataModel") if key in definition}
    value = definition.get("dataModel", {}) if data is None else data
    return [
        {"version": version, "createSurface": {"surfaceId": surface_id, **create}},
        {"version": version, "updateDataModel": {"surfaceId": surface_id, "path": "/", "value": value}},
        {"version": version, "updateComponents": {"surfaceId": surface_id, "components": definition["components"]}},
    ]


def form_messages(
    bundle: Bundle, schema_id: str, *, surface_id: str | None = None, data: object = None
) -> list[dict[str, object]]:
    """For an A2UI v0.9 renderer. Without `data` the form begins with its sample data. Raises `FormError`."""
    return surface_messages(parse_form(bundle, schema_id)["definition"], surface_id or schema_id, data=data)


def form_action(bundle: Bundle, schema_id: str, event: Mapping[str, object]) -> FormAction:
    """What an event that a renderer delivered means; its texts are coerced by the session's gate, not here.

    `event` is `{"name", "context", ...}`, from a browser: only these two are read. Raises `FormError`.
    """
    entry = parse_form(bundle, schema_id)
    written = entry.get("actions")
    actions = written if isinstance(written, Mapping) else {}
    name = event.get("name")
    bound = actions.get(name) if isinstance(name, str) else None
    if not isinstance(bound, Mapping):
        there = ", ".join(map(str, actions)) or "none"
        raise FormError(f"{schema_id} has no action {str(name)[:80]!r}; there are: {there}")
    context = event.get("context")
    arguments = json.loads(json.dumps(context)) if isinstance(context, Mapping) else {}
    if isinstance(bound.get("tool"), str):
        return FormAction("tool", bound["tool"], arguments)
    return FormAction("reply" if bound.get("reply") else "dismiss", "", arguments)
