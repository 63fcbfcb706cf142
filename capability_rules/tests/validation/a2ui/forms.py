"""A small sound form, ways to change it, and a check that shows codes, places and severities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from capability_rules.bundles.problem import RawFinding
from capability_rules.validation.a2ui import check_tool_ui, check_ui_schemas
from capability_rules.validation.codes import severity_by_code

CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
REPOSITORY = Path(__file__).parents[4]
SAMPLES = REPOSITORY / "tests" / "data" / "a2ui"
SEVERITIES = severity_by_code()
# Where `add` puts its first component: the form itself has five.
ADDED = "/0/definition/components/5"

Entry = dict[str, Any]
Found = tuple[str, str, str]


def note_form() -> Entry:
    """Return a form with a text field, a choice and a button, in which nothing is wrong."""
    context = {"text": {"path": "/text"}, "kind": {"path": "/kind"}}
    options = [{"label": "Task", "value": "task"}, {"label": "Idea", "value": "idea"}]
    components = [
        {"id": "root", "component": "Column", "children": ["text", "kind", "save"]},
        {"id": "text", "component": "TextField", "label": "Note", "value": {"path": "/text"}},
        {"id": "kind", "component": "ChoicePicker", "options": options, "value": {"path": "/kind"}},
        {"id": "save", **button("save", context)},
        {"id": "save_label", "component": "Text", "text": "Save"},
    ]
    return {
        "schema_id": "NoteForm.v1",
        "definition": {
            "catalogId": CATALOG,
            "components": components,
            "dataModel": {"text": "Buy milk", "kind": ["task"]},
        },
        "actions": {"save": {"tool": "note_save"}},
    }


def note_tools(**properties: Any) -> list[dict[str, Any]]:
    """Return the tool that the form calls, with further arguments where wanted."""
    known = {"text": {"type": "string", "minLength": 1}, "kind": {"type": "string", "enum": ["task", "idea"]}}
    args = {"type": "object", "properties": {**known, **properties}, "required": ["text"]}
    return [{"name": "note_save", "args_schema": args, "ui": {"form": "NoteForm.v1"}}]


def button(event: str, context: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a button, its id left to the caller."""
    raised = {"name": event} if context is None else {"name": event, "context": context}
    return {"component": "Button", "child": "save_label", "action": {"event": raised}}


def components(form: Entry) -> list[dict[str, Any]]:
    """Return a form's components, to be changed."""
    found: list[dict[str, Any]] = form["definition"]["components"]
    return found


def data(form: Entry) -> dict[str, Any]:
    """Return a form's sample data, to be changed."""
    found: dict[str, Any] = form["definition"]["dataModel"]
    return found


def add(form: Entry, *added: dict[str, Any]) -> Entry:
    """Add components; the first of them becomes a child of root."""
    components(form).extend(added)
    components(form)[0]["children"].append(added[0]["id"])
    return form


def with_text(text: Any, **samples: Any) -> Entry:
    """Return the form with one Text more, and samples for it."""
    form = add(note_form(), {"id": "more", "component": "Text", "text": text})
    data(form).update(samples)
    return form


def with_list(path: str, *inner: dict[str, Any], **samples: Any) -> Entry:
    """Return the form with a List whose template is the first of `inner`, and samples for it."""
    rows = {"id": "rows", "component": "List", "children": {"componentId": inner[0]["id"], "path": path}}
    form = add(note_form(), rows, *inner)
    data(form).update(samples)
    return form


def formatted(text: str) -> dict[str, Any]:
    """Return a formatString call."""
    return {"call": "formatString", "args": {"value": text}, "returnType": "string"}


def problems(entries: Any, tools: Any = None, **options: Any) -> list[RawFinding]:
    """Run both checks of the package on one form, or on whatever is given in place of the list."""
    entries = [entries] if isinstance(entries, dict) else entries
    tools = note_tools() if tools is None else tools
    options.setdefault("mentioned_schema_ids", frozenset({"NoteForm.v1"}))
    return check_ui_schemas(entries, tools, **options) + check_tool_ui(tools, entries)


def check(entries: Any, tools: Any = None, **options: Any) -> list[Found]:
    """Give code, JSON Pointer and severity of each problem, sorted."""
    return sorted(
        (each.code, "".join(f"/{step}" for step in each.path), each.severity or SEVERITIES[each.code])
        for each in problems(entries, tools, **options)
    )


def errors(entries: Any, tools: Any = None, **options: Any) -> list[tuple[str, str]]:
    """Give code and JSON Pointer of each problem that is an error, sorted."""
    return [(code, place) for code, place, severity in check(entries, tools, **options) if severity == "error"]


def sample(name: str) -> Any:
    """Read one file of the sample data."""
    return json.loads((SAMPLES / name).read_text(encoding="utf-8"))
