"""One-click fixes: for the findings whose hint leaves nothing to decide, the exact edit that resolves them.

A fix is offered only where it is sure: it never chooses between two meanings, and never writes what only the author
can know. Texts that are put in as a beginning say so by their words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.json_text import as_mapping, parse_json
from capability_rules.bundles.json_edits import (
    TextEdit,
    add_key,
    path_of,
    remove_value,
    rename_key,
    replace_value,
    to_json,
    value_at,
)
from capability_rules.bundles.markdown_outline import Heading
from capability_rules.bundles.problem import Path
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.bundles.vendor_tools import convert_tools, find_tool_list
from capability_rules.validation import Finding, Report
from capability_rules.validation.rules.sections import list_sections

# More than anyone clicks; the next check returns the next ones.
QUICK_FIXES_MAX: Final = 60
# Each fix reads its file again: larger ones are fixed by hand.
CHARACTERS_MAX: Final = 200_000


@dataclass(frozen=True, slots=True)
class QuickFix:
    """`edits` of one file, in code points of its normalized text; `label` is what the button says."""

    label: str
    file: str
    edits: tuple[TextEdit, ...]


@dataclass(frozen=True)
class _FixContext:
    finding: Finding
    text: str
    files: dict[str, str]
    capability_id: str

    @property
    def path(self) -> Path:
        return path_of(self.text, self.finding.pointer)

    def fix(self, label: str, *edits: TextEdit, file: str = "") -> QuickFix:
        return QuickFix(label, file or self.finding.file, edits)

    @property
    def capability(self) -> dict[str, Any]:
        return as_mapping(parse_json(self.files.get("capability.json", "")))


def quick_fixes_for(report: Report, capability_id: str) -> dict[Finding, QuickFix]:
    """A fix for each finding that has one."""
    found: dict[Finding, QuickFix] = {}
    for finding in report.findings:
        make = _FIXERS.get(finding.code)
        text = report.files.get(finding.file)
        if make is None or text is None or len(text) > CHARACTERS_MAX:
            continue
        if len(found) >= QUICK_FIXES_MAX:
            break
        fix = make(_FixContext(finding, text, dict(report.files), capability_id))
        if fix is not None:
            found[finding] = fix
    return found


def combine_fixes(fixes: Iterable[QuickFix]) -> tuple[list[QuickFix], int]:
    """One fix for each file that does what all of these do, and how many of them are in it.

    One whose edits meet those of an earlier one is left out: the next check returns it again.
    """
    edits: dict[str, list[TextEdit]] = {}
    count = 0
    for fix in fixes:
        taken = edits.setdefault(fix.file, [])
        if any(_meet(one, other) for one in fix.edits for other in taken):
            continue
        taken.extend(fix.edits)
        count += 1
    return [QuickFix("", file, tuple(all_of)) for file, all_of in edits.items()], count


def _meet(one: TextEdit, other: TextEdit) -> bool:
    return one.start <= other.end and other.start <= one.end


def _trailing_comma(case: _FixContext) -> QuickFix | None:
    line, column = case.finding.line or 1, case.finding.column or 1
    rows = case.text.split("\n")
    at = sum(len(row) + 1 for row in rows[: line - 1]) + column - 1
    # The error is seen at the bracket behind the comma, or at the comma itself.
    while at < len(case.text) and case.text[at] in ", \t\n" and case.text[at:].lstrip(", \t\n")[:1] in ("]", "}"):
        at += 1
    comma = len(case.text[:at].rstrip()) - 1
    if case.text[at : at + 1] not in ("]", "}") or comma < 0 or case.text[comma] != ",":
        return None
    return case.fix("Remove the comma", TextEdit(comma, comma + 1, ""))


def _missing_key(case: _FixContext) -> QuickFix | None:
    key, path = case.finding.subject, case.path
    holder = value_at(case.text, path)
    if not isinstance(holder, dict) or key in holder:
        return None
    value = _default(case, key, holder, path)
    return None if value is None else case.fix(f"Add {key}", add_key(case.text, path, key, value))


def _default(case: _FixContext, key: str, holder: dict[str, Any], path: Path) -> Any:
    name = str(holder.get("name") or case.capability_id.replace("_", " ").capitalize())
    if case.finding.file == "capability.json" and not path:
        return {"capability_id": case.capability_id, "name": name, "intent_triggers": [name.lower()[:80]]}.get(key)
    if case.finding.file == "capability.json":
        return [] if key in ("conditions", "keywords") else None
    if case.finding.file == "tools.json" and key == "args_schema":
        return {"type": "object", "properties": {}, "additionalProperties": False}
    return None


def _unknown_key(case: _FixContext) -> QuickFix | None:
    path, known = case.path, case.finding.subject
    holder = value_at(case.text, path[:-1])
    if not isinstance(holder, dict) or path[-1] not in holder:
        return None
    if known and known not in holder:
        return case.fix(f"Rename it to {known}", rename_key(case.text, path, known))
    # What the author wrote there may belong somewhere else: only what says nothing goes.
    is_empty = holder[path[-1]] in (None, "", [], {})
    return case.fix("Remove the key", remove_value(case.text, path)) if is_empty else None


def _convert_tools(case: _FixContext) -> QuickFix | None:
    found = find_tool_list(parse_json(case.text))
    converted = convert_tools(found[1]) if found is not None else None
    if converted is None:
        return None
    label = f"Convert from {' and '.join(converted.vendors)}"
    return case.fix(label, TextEdit(0, len(case.text), to_json(converted.tools)))


def _wrong_id(case: _FixContext) -> QuickFix | None:
    if case.finding.file != "capability.json" or case.finding.pointer != "/capability_id":
        return None
    return case.fix(f"Write {case.capability_id}", replace_value(case.text, ("capability_id",), case.capability_id))


def _remove_it(label: str) -> Callable[[_FixContext], QuickFix | None]:
    def make(case: _FixContext) -> QuickFix | None:
        return case.fix(label, remove_value(case.text, case.path))

    return make


def _ask_approval(case: _FixContext) -> QuickFix | None:
    return case.fix("Ask a person first", add_key(case.text, case.path, "requires_approval", value=True))


def _title(case: _FixContext) -> QuickFix | None:
    at = SkillDocument(case.text).front_matter.body_offset
    name = str(case.capability.get("name") or case.capability_id)
    return case.fix("Add the title", TextEdit(at, at, f"# {' '.join(name.split())}\n\n"))


def _second_title(case: _FixContext) -> QuickFix | None:
    row = case.text.split("\n")[(case.finding.line or 1) - 1]
    if not row.lstrip().startswith("# "):
        return None
    at = _line_start(case.text, case.finding.line or 1) + len(row) - len(row.lstrip())
    return case.fix("Make it an H2", TextEdit(at, at, "#"))


def _section(case: _FixContext) -> QuickFix | None:
    profile = case.capability.get("skill_profile", "capability")
    wanted = list_sections(profile if isinstance(profile, str) else "capability")
    place = next((at for at, one in enumerate(wanted) if one.name == case.finding.subject), None)
    skill = SkillDocument(case.text)
    if place is None or skill.headings_named(*wanted[place].names):
        # There is one of another level: which of the two the author meant is theirs to say.
        return None
    later = [heading.line for one in wanted[place + 1 :] for heading in skill.sections(*one.names)]
    at = skill.offset(min(later)) if later else len(case.text)
    body = _steps() if wanted[place].name == "Steps" else wanted[place].hint
    return case.fix(f"Add {wanted[place].name}", _inserted(case.text, at, f"## {wanted[place].name}\n\n{body}\n"))


def _steps() -> str:
    parts = ("**Do:** What the agent does.", "**Check:** What must be true.", "**Say:** What to tell the customer.")
    return "### 1. The first step\n\n" + "\n".join(parts)


def _inserted(text: str, at: int, words: str) -> TextEdit:
    before = text[:at]
    lead = "" if not before or before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
    return TextEdit(at, at, lead + words + ("\n" if at < len(text) else ""))


def _document_tool(case: _FixContext) -> QuickFix | None:
    skill_md, tool = case.files.get("skill.md"), value_at(case.text, case.path[:-1])
    if skill_md is None or not isinstance(tool, dict):
        return None
    skill = SkillDocument(skill_md)
    section = next(iter(skill.sections("Tools")), None)
    description = " ".join(str(tool.get("description") or "say when to call it").split())
    line = f"- `{tool.get('name')}`: {description}"
    if section is None:
        return None
    kind = as_mapping(tool.get("policy")).get("kind")
    parts = [one for one in skill.outline.inside(section) if one.level == 3]
    under = next((one for one in parts if one.key == kind), None)
    if parts and under is None:
        return None
    at = len(skill_md[: _end_of(skill, under or section)].rstrip())
    gap = "\n" if skill_md[:at].rsplit("\n", 1)[-1].lstrip().startswith(("- ", "* ")) else "\n\n"
    return case.fix("Name it in skill.md", TextEdit(at, at, gap + line), file="skill.md")


def _end_of(skill: SkillDocument, heading: Heading) -> int:
    """Where the section ends, in the whole file."""
    after = [one.line for one in skill.outline.headings if one.line > heading.line and one.level <= heading.level]
    return skill.offset(min(after)) if after else len(skill.text)


def _number_step(case: _FixContext) -> QuickFix | None:
    skill = SkillDocument(case.text)
    line = (case.finding.line or 1) - case.text[: skill.front_matter.body_offset].count("\n")
    section = next(iter(skill.sections("Steps")), None)
    row = case.text.split("\n")[(case.finding.line or 1) - 1]
    if section is None or not row.startswith("### "):
        return None
    steps = [one.line for one in skill.outline.inside(section) if one.level == 3]
    if line not in steps:
        return None
    at = _line_start(case.text, case.finding.line or 1) + 4
    return case.fix("Number it", TextEdit(at, at, f"{steps.index(line) + 1}. "))


def _remove_line(case: _FixContext) -> QuickFix | None:
    line = case.finding.line or 1
    start = _line_start(case.text, line)
    end = min(len(case.text), _line_start(case.text, line + 1))
    return case.fix("Remove the line", TextEdit(start, end, ""))


def _line_start(text: str, line: int) -> int:
    return sum(len(row) + 1 for row in text.split("\n")[: line - 1])


_FIXERS: Final[dict[str, Callable[[_FixContext], QuickFix | None]]] = {
    "JSON_INVALID": _trailing_comma,
    "UI_FILE_NOT_JSON": _trailing_comma,
    "FIELD_MISSING": _missing_key,
    "FIELD_UNKNOWN": _unknown_key,
    "TOOL_FORM_OTHER": _convert_tools,
    "FIELD_INVALID": _wrong_id,
    "TRIGGER_DUPLICATE": _remove_it("Remove the second one"),
    "VERSION_IGNORED": _remove_it("Remove it"),
    "TOOL_APPROVAL_UNSET": _ask_approval,
    "TITLE_MISSING": _title,
    "TITLE_DUPLICATE": _second_title,
    "SECTION_MISSING": _section,
    "TOOL_NOT_DOCUMENTED": _document_tool,
    "STEP_NOT_NUMBERED": _number_step,
    "CONFIDENCE_STATED": _remove_line,
}
