"""The tools by which a model uses the session itself: list, search, load, read a file, open a form, ask the user ..."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from capability_kit.bundles.bundle import Bundle, ListingEntry, ToolContract, is_capability_id
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import check_readiness
from capability_kit.text.sanitize import one_line
from capability_kit.ui.ask import OPTIONS_MAX, WIDGETS, AskForm, ask

LIST: Final = "capability_registry_list"
SEARCH: Final = "capability_search"
LOAD: Final = "capability_skill_load"
RELOAD: Final = "capability_skill_reload"
FILE: Final = "capability_file_load"
FEEDBACK: Final = "capability_feedback"
INSTALL: Final = "capability_install"
FORM: Final = "form_open"
ASK: Final = "ask_user"
OWN_TOOLS: Final = frozenset({LIST, SEARCH, LOAD, RELOAD, FILE, INSTALL, FORM, FEEDBACK, ASK})
# An application that wants these names them: a model that grades its own work is not evidence, and few hand out codes.
DEFAULT_OWN_TOOLS: Final = OWN_TOOLS - {FEEDBACK, INSTALL}
# By the method of a source that answers it; not each source has them.
ASKED_OF_SOURCE: Final = {SEARCH: "search", INSTALL: "install", FEEDBACK: "feedback", FILE: "file"}
# Of the layout "append" alone.
CALL: Final = "capability_tool_call"
LISTED_MAX: Final = 100
FOUND_MAX: Final = 20
FILES_LISTED_MAX: Final = 50
FILE_CHARACTERS: Final = 16_000
QUESTIONS_MAX: Final = 5
Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
# What is confirmed, people and programs confirm.
_OUTCOMES: Final = ("likely_success", "likely_failure", "used")
_QUESTION: Final[Json] = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "prompt": _TEXT,
        "widget": {"type": "string", "enum": list(WIDGETS)},
        "options": {"type": "array", "items": _TEXT, "maxItems": OPTIONS_MAX},
        "default": _TEXT,
    },
    "required": ["name", "prompt", "widget"],
    "additionalProperties": False,
}
_LIMITS: Final = frozenset({"additionalProperties", "minimum", "maximum", "minItems", "maxItems"})
# name: (what it does, its arguments, those of them that are required). Each request has them: no word too many.
_DESCRIBED: Final[Mapping[str, tuple[str, Json, tuple[str, ...]]]] = {
    LIST: ("List the skills.", {"group": _TEXT}, ()),
    SEARCH: (
        "Search skills and playbooks by what a problem is about.",
        {"query": _TEXT, "limit": {"type": "integer", "minimum": 1, "maximum": 20}},
        ("query",),
    ),
    LOAD: (
        "Load a skill: its instructions and tools are there next. arguments: what the user wants of it.",
        {"capability_id": _TEXT, "arguments": _TEXT},
        ("capability_id",),
    ),
    RELOAD: ("Load the newest release of a skill, if asked to.", {"capability_id": _TEXT}, ("capability_id",)),
    FILE: (
        "Read a file that a loaded skill names; offset: the next_offset before.",
        {"capability_id": _TEXT, "path": _TEXT, "offset": {"type": "integer", "minimum": 0}},
        ("capability_id", "path"),
    ),
    INSTALL: ("Redeem an install code that the user gave, SKILL-....", {"code": _TEXT}, ("code",)),
    FORM: (
        "Show the user a form of a loaded skill, with the data that is known; the result is what they sent.",
        {"schema_id": _TEXT, "data": {"type": "object"}},
        ("schema_id",),
    ),
    FEEDBACK: (
        "Report how it went with a skill, once the user's task is over.",
        {
            "capability_id": _TEXT,
            "outcome": {"type": "string", "enum": list(_OUTCOMES)},
            "reason": {"type": "string", "maxLength": 500, "description": "Why it failed, in a sentence."},
        },
        ("capability_id", "outcome"),
    ),
    ASK: (
        "Ask the user, at most five questions; each answer comes back by its name.",
        {"questions": {"type": "array", "items": _QUESTION, "minItems": 1, "maxItems": QUESTIONS_MAX}},
        ("questions",),
    ),
}
CALL_CONTRACT: Final[ToolContract] = {
    "name": CALL,
    "description": "Call a tool of a loaded skill. The result of loading a skill says which tools there are.",
    # As each of them does.
    "policy": {"kind": "write"},
    "args_schema": {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "description": "The tool's name, such as weights__weight_entry_list."},
            "arguments": {"type": "object", "description": "By the args_schema of that tool."},
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    },
}


def build_own_tools(names: Collection[str]) -> dict[str, ToolContract]:
    """These tools by name, in the form of a bundle's: the same ones in each turn, whatever fits its message."""
    return {
        name: {
            "name": name,
            "description": words,
            "policy": {"kind": "write" if name in (FEEDBACK, INSTALL) else "read"},
            "args_schema": {
                "type": "object",
                "properties": properties,
                "required": list(required),
                "additionalProperties": False,
            },
        }
        for name, (words, properties, required) in _DESCRIBED.items()
        if name in names
    }


def shown_contract(contract: ToolContract) -> ToolContract:
    """The tool as a model is shown it: its limits, and that it takes nothing else, the gate says where it matters."""
    return {**contract, "args_schema": _without_limits(contract["args_schema"])}


def _without_limits(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _without_limits(each) for key, each in schema.items() if key not in _LIMITS}
    return schema


def list_result(entries: Iterable[ListingEntry], environment: Environment, group: str | None) -> Json:
    """What `capability_registry_list` returns to the model: those that work on this system, the first hundred; not
    what the user alone starts."""
    rows = []
    for entry in (each for each in entries if not each.is_closed_to_model):
        judged = check_readiness(entry, environment)
        if judged.status == "UNAVAILABLE" or (group is not None and group not in entry.skill_groups):
            continue
        row = {"capability_id": entry.capability_id, "name": one_line(entry.name, most=80)}
        row["description"] = one_line(entry.description)
        if entry.status == "deprecated":
            row |= {"status": "deprecated"} | ({"replaced_by": entry.replaced_by} if entry.replaced_by else {})
        if not judged.is_ready:
            row["readiness"] = f"{judged.status}: {judged.user_message()}"
        rows.append(row)
    return {"capabilities": rows[:LISTED_MAX], "total": len(rows)}


def load_result(bundle: Bundle, environment: Environment) -> Json:
    """What `capability_skill_load` returns to the model: whether the skill can be used, and its supporting files."""
    judged = check_readiness(bundle, environment)
    found = {"loaded": bundle.capability_id, "status": judged.status, "missing": judged.user_message()}
    return found | files_of(bundle)


def files_of(bundle: Bundle) -> Json:
    """`{"files": [{"path", "size"}], "files_total"}`, the first fifty, sizes in bytes; nothing without files."""
    if not bundle.files:
        return {}
    rows = [{"path": one_line(each.path, most=120), "size": each.size} for each in bundle.files[:FILES_LISTED_MAX]]
    return {"files": rows, "files_total": len(bundle.files)}


def search_result(answer: Mapping[str, Any]) -> Json:
    """What `capability_search` returns to the model: the first twenty, and of each only what has the right shape; not
    what the user alone starts."""
    found = answer.get("results")
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    rows = [row for row in rows if row.get("disable_model_invocation") is not True]
    return {"results": [_found(row) for row in rows if is_capability_id(row.get("capability_id"))][:FOUND_MAX]}


def _found(row: Json) -> Json:
    kept: Json = {"capability_id": row["capability_id"], "name": one_line(str(row.get("name", "")), most=80)}
    if isinstance(row.get("score"), int | float):
        kept["score"] = row["score"]
    confidence = row.get("confidence")
    if isinstance(confidence, dict):
        numbers = ("score", "uses", "confirmed")
        kept["confidence"] = {key: confidence[key] for key in numbers if isinstance(confidence.get(key), int | float)}
        kept["confidence"] |= {"single_key": True} if confidence.get("single_key") is True else {}
    if row.get("status") == "deprecated":
        replaced_by = row.get("replaced_by")
        kept |= {"status": "deprecated", "replaced_by": replaced_by if is_capability_id(replaced_by) else None}
    return kept


def file_result(path: str, text: str, offset: int) -> Json:
    """One part of a file; `next_offset` is None at its end."""
    end = offset + FILE_CHARACTERS
    return {"path": path, "text": text[offset:end], "next_offset": end if end < len(text) else None}


def questions_of(questions: Sequence[Mapping[str, Any]], request_id: str) -> AskForm:
    """The form of `ask_user`. Raises `ValueError` with what is wrong, such as options where the widget takes none."""
    return AskForm(
        {
            str(each["name"]): ask(each["prompt"], each["widget"], each.get("options", ()), default=each.get("default"))
            for each in questions
        },
        request_id,
    )
