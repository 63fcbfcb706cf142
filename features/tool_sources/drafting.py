"""Bundle files with tools of a source: a new capability, or more tools for one that there is. Nothing is stored."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from capability_rules.bundles.json_edits import add_item, apply_edits, to_json
from capability_rules.bundles.scaffolds import list_placeholders
from capability_rules.bundles.tool_list import read_tool_list
from capability_rules.errors import InvalidRequest
from features.tool_sources.operation import Json
from registry.authoring.capability_creation import CapabilitySpec, ToolSpec, add_tool_sections
from registry.authoring.capability_creation import build_files as build_capability_files
from registry.authoring.form_generator import generate_form

TOOLS_MAX: Final = 100
_TOOLS_SECTION: Final = re.compile(r"^## Tools[ \t]*$", re.MULTILINE)


def build_files(wish: CapabilitySpec, contracts: Sequence[Json], *, forms: Collection[str] = ()) -> dict[str, str]:
    """The four files of a new capability with these tools, and instructions that name each of them.

    `forms` are the names of tools that get a form; one whose arguments no form can have gets none.
    """
    files = build_capability_files(wish)
    files["tools.json"] = to_json(list(contracts))
    files, made = _with_forms(files, contracts, forms)
    files["skill.md"] = add_tool_sections(_scaffolded(files["skill.md"], contracts), _specs(contracts), made)
    return files


def add_contracts(
    files: Mapping[str, str], contracts: Sequence[Json], *, forms: Collection[str] = ()
) -> dict[str, str]:
    """The files with more tools, everything else as its author wrote it.

    Raises `InvalidRequest` where tools.json is not a list of tools, or has one of these names already.
    """
    text = files.get("tools.json", "").strip() or "[]\n"
    found = read_tool_list(text)
    if found is None:
        raise InvalidRequest("tools.json is not a list of tools: fix its findings first")
    path, listed = found
    names = {tool.get("name") for tool in listed if isinstance(tool, dict)}
    twice = next((one["name"] for one in contracts if one["name"] in names), None)
    if twice is not None:
        raise InvalidRequest(f"The capability has a tool '{twice}' already: choose another name")
    for contract in contracts:
        text = apply_edits(text, [add_item(text, path, contract)])
    changed = {**files, "tools.json": text}
    changed, made = _with_forms(changed, contracts, forms)
    changed["skill.md"] = _named(changed.get("skill.md", ""), contracts, made)
    return changed


def _with_forms(
    files: Mapping[str, str], contracts: Iterable[Json], wished: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The files with a form for each tool that is to have one, and the tools by the ids of their forms."""
    changed, made = dict(files), dict[str, str]()
    for name in (one["name"] for one in contracts if one["name"] in wished):
        try:
            form = generate_form(files=changed, tool_name=name)
        except InvalidRequest:
            continue
        changed |= form.texts
        made[form.schema_id] = name
    return changed, made


def explain_missing_form(contract: Json) -> str:
    """Why a tool gets no form; empty where it gets one."""
    try:
        generate_form(files={"tools.json": to_json([contract]), "ui_schemas.json": "[]\n"}, tool_name=contract["name"])
    except InvalidRequest as error:
        return error.message
    return ""


def _specs(contracts: Iterable[Json]) -> list[ToolSpec]:
    return [ToolSpec(one["name"], _first_sentence(one["description"]), one["policy"]["kind"]) for one in contracts]


def _first_sentence(text: str) -> str:
    found = re.match(r"(.{20,200}?[.!?])(?:\s|$)", text)
    return found.group(1) if found else text[:200]


def _named(skill: str, contracts: Sequence[Json], forms: Mapping[str, str]) -> str:
    """The instructions with the tools at the end of their section, or in a new one."""
    section = _TOOLS_SECTION.search(skill)
    if section is None:
        return add_tool_sections(skill, _specs(contracts), forms)
    following = re.search(r"^#{1,2} ", skill[section.end() :], re.MULTILINE)
    end = section.end() + following.start() if following else len(skill)
    within = skill[section.end() : end]
    for kind, title in (("read", "Read"), ("write", "Write")):
        lines = [f"- `{one.name}`: {one.does}" for one in _specs(contracts) if one.kind == kind]
        within = _with_lines(within, f"### {title}", lines) if lines else within
    lines = [f"- `{form}`: to fill in what `{tool}` needs." for form, tool in forms.items()]
    within = _with_lines(within, "### Forms", lines) if lines else within
    return f"{skill[: section.end()]}{within.rstrip()}\n\n{skill[end:]}".rstrip("\n") + "\n"


def _with_lines(section: str, heading: str, lines: Sequence[str]) -> str:
    """The section with lines at the end of its part of this heading, or in a new part at its end."""
    found = re.search(rf"^{heading}[ \t]*$", section, re.MULTILINE)
    if found is None:
        return f"{section.rstrip()}\n\n{heading}\n\n" + "\n".join(lines) + "\n"
    following = re.search(r"^### ", section[found.end() :], re.MULTILINE)
    end = found.end() + following.start() if following else len(section)
    return f"{section[:end].rstrip()}\n" + "\n".join(lines) + f"\n\n{section[end:]}"


def _scaffolded(skill: str, contracts: Sequence[Json]) -> str:
    """The template's sentences that say what to write there, written from the tools."""
    reads = [one for one in contracts if one["policy"]["kind"] == "read"]
    writes = [one for one in contracts if one["policy"]["kind"] != "read"]
    behavior = ["Ask the user for values that a tool requires."]
    behavior += ["Answer questions from what the read tools return."] if reads else []
    behavior += ["Before a change, summarize it for the user and wait for approval."] if writes else []
    said, *example = list_placeholders("capability")
    skill = skill.replace(said, "\n".join(f"- {line}" for line in behavior))
    examples = "\n\n".join(_example(one) for one in (*reads[:1], *writes[:1]))
    return skill.replace("\n".join(example), examples) if examples else skill


def _example(contract: Mapping[str, Any]) -> str:
    asked = _first_sentence(contract["description"]).rstrip(".")
    is_read = contract["policy"]["kind"] == "read"
    then = "and answers from what it returns" if is_read else "after the user has approved it"
    return f"**User:** {asked}.\n**Agent:** calls `{contract['name']}` {then}."
