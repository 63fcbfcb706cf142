"""Who uses which UI schema: the `ui` of a tool in tools.json, a mention in skill.md, or the form's own reply."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from capability_kit.json_text import as_mapping
from capability_rules.bundles.problem import Path, RawFinding
from capability_rules.validation.a2ui.actions import find_called_tools, has_reply
from capability_rules.validation.a2ui.budget import Budget, build_finding, join_words, quote_value
from capability_rules.validation.a2ui.entry_schema import is_schema_id

# A form takes one item and an editor several: both end in a call of the tool. A result only shows.
CALLING_ROLES = ("form", "editor")


def check_tool_ui(tools: object, ui_schemas: object) -> list[RawFinding]:
    """Check what each tool names as its form, editor and result; the problems are in tools.json.

    Both are the parsed, normalized documents, and may hold anything. What is not of the right type is passed over:
    other checks report it.
    """
    work, forms = Budget(), _Forms(entries_by_id(ui_schemas))
    return [found for place, tool in _tools(tools) for found in _check_tool(place, tool, forms, work)]


def _tools(tools: object) -> Iterator[tuple[int, dict[str, object]]]:
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        if isinstance(tool, dict):
            yield index, tool


def _check_tool(index: int, tool: dict[str, object], forms: _Forms, work: Budget) -> Iterator[RawFinding]:
    for role, schema_id in as_mapping(tool.get("ui")).items():
        path: Path = (index, "ui", role)
        if not isinstance(schema_id, str):
            continue
        if schema_id not in forms.entries:
            otherwise = f"There are: {join_words(forms.entries)}." if forms.entries else "Add it to ui_schemas.json."
            hint = work.did_you_mean(schema_id, forms.entries, otherwise)
            message = f"There is no {quote_value(schema_id)} in ui_schemas.json"
            yield RawFinding("UI_TOOL_REF_UNKNOWN", "tools.json", path, message, hint)
        elif role in CALLING_ROLES and not forms.calls(schema_id, tool.get("name")):
            name = quote_value(tool.get("name"))
            message = f"The form {quote_value(schema_id)} has no action that calls the tool {name}"
            hint = f'Add {{"tool": {name}}} to the actions of {schema_id[:80]}, or name another form.'
            yield RawFinding("UI_TOOL_REF_MISMATCH", "tools.json", path, message, hint)


@dataclass(slots=True)
class _Forms:
    """The entries by id, each read only once for the tools that it calls."""

    entries: dict[str, list[dict[str, object]]]
    _called: dict[str, set[str] | None] = field(default_factory=dict)

    def calls(self, schema_id: str, tool: object) -> bool:
        """Whether any action of a form calls `tool`; also True where its actions cannot be read."""
        if schema_id not in self._called:
            self._called[schema_id] = self._tools_of(schema_id)
        called = self._called[schema_id]
        return called is None or (isinstance(tool, str) and tool in called)

    def _tools_of(self, schema_id: str) -> set[str] | None:
        """Name the called tools; None where actions are of another type, which is a separate error."""
        actions = [entry.get("actions", {}) for entry in self.entries[schema_id]]
        if not all(isinstance(action, dict) for action in actions):
            return None
        return {name for action in actions for name in find_called_tools(action)}


def entries_by_id(ui_schemas: object) -> dict[str, list[dict[str, object]]]:
    """Index what can be read of ui_schemas.json; several entries may bear one id by mistake."""
    found: dict[str, list[dict[str, object]]] = {}
    for entry in ui_schemas if isinstance(ui_schemas, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("schema_id"), str):
            found.setdefault(entry["schema_id"], []).append(entry)
    return found


def ids_named_by_tools(tools: object) -> set[str]:
    """Name every schema_id that any tool's `ui` mentions."""
    named = (value for _, tool in _tools(tools) for value in as_mapping(tool.get("ui")).values())
    return {value for value in named if isinstance(value, str)}


def check_is_referenced(index: int, entry: object, used: Collection[str]) -> Iterator[RawFinding]:
    """Warn where nothing would ever open a form: no tool, no mention in skill.md, and no reply to the agent."""
    schema_id = as_mapping(entry).get("schema_id")
    # What refers to a malformed id cannot be known; its own finding comes first.
    if not isinstance(schema_id, str) or not is_schema_id(schema_id):
        return
    if schema_id not in used and not has_reply(as_mapping(entry).get("actions")):
        message = f"no tool and no line of skill.md mentions {schema_id}"
        hint = f'Mention it in skill.md, or add "ui": {{"form": "{schema_id}"}} to a tool.'
        yield build_finding("UI_SCHEMA_UNREFERENCED", (index,), message, hint)
