"""A small sound form, and a way to check it that shows codes, places and severities."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.validation.problems import Problem
from registry.validation.ui import CODES, check_tool_ui, check_ui_schemas

CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
DATA = Path(__file__).parents[4] / "data" / "a2ui"
SEVERITIES = {code.code: code.severity for code in CODES}

Entry = dict[str, Any]
Found = tuple[str, str, str]
Check = Callable[..., list[Found]]


def summary(problems: list[Problem]) -> list[Found]:
    """Give code, JSON Pointer and severity of each problem, sorted."""
    return sorted(
        (each.code, "".join(f"/{step}" for step in each.path), each.severity or SEVERITIES[each.code])
        for each in problems
    )


@pytest.fixture
def tools() -> list[dict[str, Any]]:
    """Return one tool that takes a text, and optionally a kind and a number."""
    properties = {
        "text": {"type": "string", "minLength": 1},
        "kind": {"type": "string", "enum": ["task", "idea"]},
        "count": {"type": "integer"},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}},
    }
    args = {"type": "object", "properties": properties, "required": ["text"], "additionalProperties": False}
    return [{"name": "note_save", "args_schema": args, "ui": {"form": "NoteForm.v1"}}]


@pytest.fixture
def form() -> Entry:
    """Return a form with a text field, a choice and a button, in which nothing is wrong."""
    context = {"text": {"path": "/text"}, "kind": {"path": "/kind"}}
    options = [{"label": "Task", "value": "task"}, {"label": "Idea", "value": "idea"}]
    components = [
        {"id": "root", "component": "Column", "children": ["text", "kind", "save"]},
        {"id": "text", "component": "TextField", "label": "Note", "value": {"path": "/text"}},
        {"id": "kind", "component": "ChoicePicker", "options": options, "value": {"path": "/kind"}},
        {
            "id": "save",
            "component": "Button",
            "child": "save_label",
            "action": {"event": {"name": "save", "context": context}},
        },
        {"id": "save_label", "component": "Text", "text": "Save"},
    ]
    data = {"text": "Buy milk", "kind": ["task"]}
    return {
        "schema_id": "NoteForm.v1",
        "definition": {"catalogId": CATALOG, "components": components, "dataModel": data},
        "actions": {"save": {"tool": "note_save"}},
    }


@pytest.fixture
def components(form: Entry) -> list[dict[str, Any]]:
    """Return the form's components, to be changed."""
    found: list[dict[str, Any]] = form["definition"]["components"]
    return found


@pytest.fixture
def data(form: Entry) -> dict[str, Any]:
    """Return the form's sample data, to be changed."""
    found: dict[str, Any] = form["definition"]["dataModel"]
    return found


@pytest.fixture
def add(components: list[dict[str, Any]]) -> Callable[..., None]:
    """Return a function that adds components; the first of them becomes a child of root."""

    def add_components(*added: dict[str, Any]) -> None:
        components.extend(added)
        components[0]["children"].append(added[0]["id"])

    return add_components


@pytest.fixture
def check(form: Entry, tools: list[dict[str, Any]]) -> Check:
    """Return a function that checks the form, or whatever entries it is given."""

    def run(entries: Any = None, **options: Any) -> list[Found]:
        return summary(problems([form] if entries is None else entries, options.pop("tools", tools), **options))

    return run


def problems(entries: Any, tools: Any, **options: Any) -> list[Problem]:
    """Run both checks of the package."""
    options.setdefault("mentioned_schema_ids", frozenset())
    return check_ui_schemas(entries, tools, **options) + check_tool_ui(tools, entries)


@pytest.fixture
def explain(form: Entry, tools: list[dict[str, Any]]) -> Callable[[], list[Problem]]:
    """Return a function that checks the form and gives the whole problems, with their words."""
    return lambda: problems([form], tools)


@pytest.fixture
def sample() -> Callable[[str], Any]:
    """Return a function that reads one file of the sample data."""
    return lambda name: json.loads((DATA / name).read_text(encoding="utf-8"))
