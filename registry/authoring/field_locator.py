"""Where the Studio's forms write what a finding is about: from its JSON pointer to the field or the row of the form.

The forms over the JSON files (frontend/editor/*-form.js) mark each control with the pointer that it writes, and each
row with the pointer that it represents, as `data-field`. The tables below name the same places; everything else
follows from one rule. skill.md has no pointers: its fields are stretches of the text, found by line and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from capability_rules.bundles import json_locations
from capability_rules.bundles.json_edits import path_of, value_at
from capability_rules.validation import Finding

# `*` is any one step, `#` a tool, `@` an argument or a value of the result, however deep its groups go.
_SIGNS: Final = {
    "*": "[^/]+",
    "#": r"(?:/tools)?/\d+",
    "@": r"(?:/tools)?/\d+/(?:args|result)_schema(?:(?:/items)?/properties/[^/]+)+",
}
# The fields of each form, in the order in which they are drawn.
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "capability.json": (
        *("/name", "/description", "/skill_profile", "/intent_triggers"),
        *("/utterances/should_match", "/utterances/should_not_match", "/skill_groups"),
        *("/playbook/problem", "/playbook/conditions", "/playbook/keywords"),
        *("/playbook/product_area", "/playbook/issue_type", "/os", "/dependency_level"),
        *("/dependencies/bins", "/dependencies/python", "/dependencies/apps"),
        *("/dependencies/env", "/dependencies/permissions", "/dependencies/mcp_servers", "/dependencies/skills"),
        *(
            "/priority",
            "/max_turns",
            "/language",
            "/emoji",
            "/license",
            "/compatibility",
            "/allowed_tools",
            "/metadata/*",
        ),
    ),
    "tools.json": (
        *("#/name", "#/description", "#/policy/kind", "#/policy/requires_approval", "#/policy/allowed_roles"),
        *("@/type", "@/required", "@/description", "@/enum", "@/examples"),
        *("#/ui/form", "#/ui/editor", "#/ui/result"),
    ),
    "ui_schemas.json": ("/*/title", "/*/description"),
}
# What represents a whole entry; a finding inside it that no field writes is shown there.
ROWS: Final[dict[str, tuple[str, ...]]] = {"tools.json": ("#", "@"), "ui_schemas.json": ("/*",)}
# Further keys that the field for an argument's type writes.
_OF_TYPE: Final = re.compile(rf"({_SIGNS['@']})/(?:format|items(?!/properties/)(?:/.*)?)")
_REQUIRED: Final = re.compile(rf"(({_SIGNS['#']}/.*?_schema(?:/.*)?)/required)/\d+")
_ENTRY: Final = re.compile(r"(?:/\d+)?")
# Findings about a key that is not there.
_MISSING: Final = ("FIELD_MISSING", "TOOL_APPROVAL_UNSET", "TOOL_PROPERTY_UNDESCRIBED")


@dataclass(frozen=True, slots=True)
class FormLocation:
    """`pointer` names a field or a row of a form; `is_written` is true where the finding can be fixed there."""

    pointer: str
    is_written: bool


def locate_field(finding: Finding, text: str) -> FormLocation | None:
    """The field that edits the place of a finding; else the row that contains it; None where the form shows neither.

    `text` is the file that was checked. A field writes its own value and the entries of its list, nothing else.
    """
    pointer = _written_at(finding, text)
    for group, first in _GROUPS.get(finding.file, {}).items():
        if group.fullmatch(pointer):
            return FormLocation(f"{pointer}/{first}", is_written=True)
    for place, rest in _upwards(pointer):
        if _is_among(FIELDS, finding.file, place) and _ENTRY.fullmatch(rest):
            return FormLocation(place, is_written=True)
        if _is_among(ROWS, finding.file, place):
            return FormLocation(place, is_written=not rest)
    return None


def _upwards(pointer: str) -> Iterator[tuple[str, str]]:
    """The pointer and all that contain it, each with what leads from there to it; the whole file is left out."""
    place = pointer
    while place:
        yield place, pointer[len(place) :]
        place = place.rpartition("/")[0]


def _written_at(finding: Finding, text: str) -> str:
    """Where the value that fixes it belongs: a missing key has its field, and a type is one field."""
    if finding.subject and finding.code in _MISSING:
        return f"{finding.pointer}/{finding.subject}"
    of_type = _OF_TYPE.fullmatch(finding.pointer)
    if of_type:
        return f"{of_type[1]}/type"
    required = _REQUIRED.fullmatch(finding.pointer)
    name = _value(text, finding.pointer) if required else None
    if required and isinstance(name, str):
        return f"{required[2]}{json_locations.build_pointer(('properties', name, 'required'))}"
    return finding.pointer


def _value(text: str, pointer: str) -> Any:
    try:
        return value_at(text, path_of(text, pointer))
    except (ValueError, RecursionError):
        return None


def is_valid_location(pattern: str, pointer: str) -> bool:
    """Whether a pattern of the tables above is the whole of a pointer."""
    return _compiled(pattern).fullmatch(pointer) is not None


def _is_among(table: dict[str, tuple[str, ...]], file: str, pointer: str) -> bool:
    return any(is_valid_location(pattern, pointer) for pattern in table.get(file, ()))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_SIGNS.get(letter, re.escape(letter)) for letter in pattern))


def _groups(file: str) -> dict[re.Pattern[str], str]:
    """What contains fields and is neither a row nor the whole file, with the name of the first of them."""
    found: dict[str, str] = {}
    for field in FIELDS[file]:
        holder, _, name = field.rpartition("/")
        if holder and holder not in ROWS.get(file, ()) and name not in _SIGNS:
            found.setdefault(holder, name)
    return {_compiled(holder): name for holder, name in found.items()}


_GROUPS: Final = {file: _groups(file) for file in FIELDS}
