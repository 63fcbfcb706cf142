"""The outline of a draft: its four parts with their sections, tools and forms, and what is wrong where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_kit.json_text import parse_json
from capability_rules.bundles.json_locations import build_pointer, locate_pointers
from capability_rules.bundles.problem import Path
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.bundles.text import Lines
from capability_rules.validation import BUNDLE_FILES, Finding, Report

LABELS: Final = {
    "capability.json": gettext_lazy("Details"),
    "skill.md": gettext_lazy("Instructions"),
    "tools.json": gettext_lazy("Tools"),
    "ui_schemas.json": gettext_lazy("Forms"),
}
_ICONS: Final = {
    "capability.json": "sliders-horizontal",
    "skill.md": "file-text",
    "tools.json": "wrench",
    "ui_schemas.json": "layout-template",
}
# The sections of the form of capability.json: what the editor calls each, and the keys that it writes.
_DETAILS: Final = (
    ("basics", gettext_lazy("Basics"), ("name", "description", "skill_profile")),
    ("matching", gettext_lazy("Matching"), ("intent_triggers", "utterances", "skill_groups")),
    ("problem", gettext_lazy("Problem and conditions"), ("playbook",)),
    ("computer", gettext_lazy("Runs on a computer"), ("os", "dependency_level", "dependencies")),
)
# A list that is longer is not an outline any more.
ITEMS_MAX: Final = 100


@dataclass(frozen=True)
class OutlineItem:
    """A section, a tool or a form. `part` names it in the editor: the JSON pointer of its entry, `/n` for section
    number n, `+NAME` for one that is missing, or the section of the form of capability.json, which covers `keys`. It
    covers the lines from `line` to `last_line` of its file. `policy` is `read` or `write` for tools."""

    label: str
    part: str
    line: int
    last_line: int
    policy: str = ""
    keys: tuple[str, ...] = ()
    errors: int = 0
    warnings: int = 0
    is_missing: bool = False


@dataclass(frozen=True)
class OutlineGroup:
    """One of the four parts; its counts include those of its items."""

    file: str
    label: str
    icon: str
    items: tuple[OutlineItem, ...]
    errors: int = 0
    warnings: int = 0

    def item_of(self, finding: Finding) -> OutlineItem | None:
        """Return the item that a finding of this file is about."""
        for item in self.items:
            pointers = [f"/{key}" for key in item.keys] or [item.part]
            is_inside = any(finding.pointer == one or finding.pointer.startswith(f"{one}/") for one in pointers)
            if self.file != "skill.md" and is_inside:
                return item
            if self.file == "skill.md" and item.line <= (finding.line or 0) <= item.last_line:
                return item
        return None


def build_outline(report: Report) -> tuple[OutlineGroup, ...]:
    """Build the outline of the texts that were checked, with the findings counted where they are."""
    return tuple(_counted(_group(name, report.files.get(name, "")), report) for name in BUNDLE_FILES)


def _group(name: str, text: str) -> OutlineGroup:
    return OutlineGroup(name, str(LABELS[name]), _ICONS[name], tuple(_READ[name](text))[:ITEMS_MAX])


def _counted(group: OutlineGroup, report: Report) -> OutlineGroup:
    errors = [finding for finding in report.errors if finding.file == group.file]
    warnings = [finding for finding in report.warnings if finding.file == group.file]
    failing, doubtful = [group.item_of(one) for one in errors], [group.item_of(one) for one in warnings]
    items = (replace(one, errors=failing.count(one), warnings=doubtful.count(one)) for one in group.items)
    missing = (one.subject for one in [*errors, *warnings] if one.code == "SECTION_MISSING")
    absent = [OutlineItem(name, f"+{name}", 1, 0, is_missing=True) for name in missing]
    return replace(group, items=(*items, *absent), errors=len(errors), warnings=len(warnings))


def _details(text: str) -> Iterator[OutlineItem]:
    written = parse_json(text)
    if not isinstance(written, dict):
        return
    for part, label, keys in _DETAILS:
        there: list[Path] = [(key,) for key in keys if key in written]
        if there or part != "problem":
            found = [(line, last) for _path, line, last in _places(text, there)]
            first, last = min(found, default=(1, 1)), max(found, default=(1, 1))
            yield OutlineItem(str(label), part, first[0], last[1], keys=keys)


def _sections(text: str) -> Iterator[OutlineItem]:
    skill = SkillDocument(text)
    above = text[: skill.front_matter.body_offset].count("\n")
    headings = [heading for heading in skill.outline.headings if heading.level == 2]
    starts = [heading.line for heading in headings] + [len(skill.outline.texts) + 1]
    for number, (heading, following) in enumerate(zip(headings, starts[1:], strict=True)):
        end = following - 1
        yield OutlineItem(heading.text or _("Unnamed"), f"/{number}", heading.line + above, end + above)


def _tools(text: str) -> Iterator[OutlineItem]:
    written = parse_json(text)
    base: Path = ("tools",) if isinstance(written, dict) else ()
    tools = written.get("tools") if isinstance(written, dict) else written
    named = [(one.get("name"), one.get("policy")) if isinstance(one, dict) else (None, None) for one in _listed(tools)]
    paths: list[Path] = [(*base, index) for index in range(len(named))]
    for (name, policy), (path, line, last_line) in zip(named, _places(text, paths), strict=True):
        kind = policy.get("kind") if isinstance(policy, dict) else ""
        label = name if isinstance(name, str) and name else _("Unnamed")
        yield OutlineItem(label, build_pointer(path), line, last_line, kind if kind in ("read", "write") else "")


def _forms(text: str) -> Iterator[OutlineItem]:
    written = parse_json(text)
    paths: list[Path]
    if isinstance(written, dict):
        names: list[Any] = list(written)[:ITEMS_MAX]
        paths = [(name,) for name in names]
    else:
        entries = [one if isinstance(one, dict) else {} for one in _listed(written)]
        names = [one.get("title") or one.get("schema_id") for one in entries]
        paths = [(index,) for index in range(len(names))]
    for name, (path, line, last_line) in zip(names, _places(text, paths), strict=True):
        yield OutlineItem(name if isinstance(name, str) and name else _("No ID"), build_pointer(path), line, last_line)


_READ: Final = {"capability.json": _details, "skill.md": _sections, "tools.json": _tools, "ui_schemas.json": _forms}


def _listed(value: Any) -> list[Any]:
    return value[:ITEMS_MAX] if isinstance(value, list) else []


def _places(text: str, paths: list[Path]) -> Iterator[tuple[Path, int, int]]:
    """Each path with its first and last line."""
    if not paths:
        return
    spans, lines = locate_pointers(text, paths), Lines(text)
    starts = [lines.place(spans[path].start)[0] for path in paths] + [text.count("\n") + 2]
    for path, (line, following) in zip(paths, pairwise(starts), strict=True):
        yield path, line, max(line, following - 1)


def describe_place(finding: Finding, outline: tuple[OutlineGroup, ...]) -> str:
    """Name the part of the outline that a finding is about, such as "Tools · weight_list"."""
    group = next((one for one in outline if one.file == finding.file), None)
    if group is None:
        return ""
    item = group.item_of(finding)
    return f"{group.label} · {item.label}" if item else group.label
