"""Creates a capability from an author's description (what, when, with which tools, shown how), or from another one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from capability_kit.json_text import as_mapping
from capability_rules.bundles.json_edits import to_json
from capability_rules.bundles.profile import CapabilityProfile
from capability_rules.bundles.scaffolds import build_scaffold
from capability_rules.bundles.supporting_files import split_path
from capability_rules.errors import InvalidRequest
from registry.authoring.form_generator import generate_form
from registry.authoring.trigger_suggestions import list_trigger_candidates
from registry.catalog import drafts
from registry.catalog.drafts import SavedDraft
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound
from registry.core import file_contents
from registry.core.published_index import INDEX
from registry.matching.trigger_overlaps import Overlap, find_trigger_overlaps
from registry.models import Capability

SUGGESTED_MAX: Final = 6
TOOLS_MAX: Final = 20
ARGUMENTS_MAX: Final = 20
_SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": {"type": "string", "minLength": 1, "maxLength": 200},
    "long text": {"type": "string", "minLength": 1, "maxLength": 4000},
    "number": {"type": "number"},
    "whole number": {"type": "integer"},
    "yes or no": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "list of texts": {
        "type": "array", "minItems": 1, "maxItems": 50, "items": {"type": "string", "minLength": 1, "maxLength": 200}
    },
}  # fmt: skip
ARGUMENT_KINDS: Final[tuple[str, ...]] = (*_SCHEMAS, "choice")


@dataclass(frozen=True)
class ArgumentSpec:
    """One argument of a tool; `choices` are the words of a choice."""

    name: str
    kind: str
    meaning: str = ""
    is_required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolSpec:
    """A tool as described by a non-engineer. One that writes requires a person's approval."""

    name: str
    does: str
    kind: Literal["read", "write"] = "read"
    arguments: tuple[ArgumentSpec, ...] = ()
    has_form: bool = False


@dataclass(frozen=True)
class CapabilitySpec:
    """What a new capability is made of. `sentences` are what a user would say; they must lead to it."""

    capability_id: str
    name: str
    description: str
    skill_profile: str = "capability"
    triggers: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()


def create_capability(*, wish: CapabilitySpec, by: Actor) -> SavedDraft:
    """Store the draft of a new capability. Raises `DraftConflict` where the id exists, `InvalidRequest` for what can
    never be stored."""
    files = build_files(wish)
    return drafts.save_draft(capability_id=wish.capability_id, files=files, based_on=None, by=by, create=True)


def build_files(wish: CapabilitySpec) -> dict[str, str]:
    """The texts of the four bundle files. Raises `InvalidRequest` where a requested form cannot be generated."""
    files = build_scaffold(
        capability_id=wish.capability_id, name=wish.name, description=wish.description, skill_profile=wish.skill_profile
    )
    capability = json.loads(files["capability.json"])
    if wish.triggers:
        capability["intent_triggers"] = list(wish.triggers)
    if wish.sentences:
        capability["utterances"] = {"should_match": list(wish.sentences)}
    files["capability.json"] = to_json(capability)
    if wish.tools:
        files["tools.json"] = to_json([_tool(each) for each in wish.tools])
    forms: dict[str, str] = {}
    for each in wish.tools:
        if each.has_form:
            made = generate_form(files=files, tool_name=each.name)
            files |= made.texts
            forms[made.schema_id] = each.name
    files["skill.md"] = add_tool_sections(files["skill.md"], wish.tools, forms)
    return files


def _tool(wish: ToolSpec) -> dict[str, Any]:
    required = [each.name for each in wish.arguments if each.is_required]
    schema: dict[str, Any] = {"type": "object", "properties": {each.name: _schema(each) for each in wish.arguments}}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    policy: dict[str, Any] = {"kind": wish.kind}
    if wish.kind == "write":
        policy["requires_approval"] = True
    return {"name": wish.name, "description": wish.does, "args_schema": schema, "policy": policy}


def _schema(argument: ArgumentSpec) -> dict[str, Any]:
    choice = {"type": "string", "enum": list(argument.choices)}
    schema: Mapping[str, Any] = choice if argument.kind == "choice" else _SCHEMAS[argument.kind]
    return {**schema, "description": argument.meaning} if argument.meaning else dict(schema)


def add_tool_sections(skill: str, tools: Sequence[ToolSpec], forms: Mapping[str, str]) -> str:
    """The instructions with the tools and forms as sections before the examples, else at the end.

    `forms` maps a schema_id to the name of its tool.
    """
    if not tools:
        return skill
    lines = ["## Tools", "", *(f"- `{each.name}`: {_sentence(each)}" for each in tools), ""]
    if forms:
        lines += ["## UI", "", *(f"- `{name}`: to fill in what `{tool}` needs." for name, tool in forms.items()), ""]
    head, marker, rest = skill.partition("## Examples\n")
    return f"{head.rstrip()}\n\n" + "\n".join(lines) + (f"\n{marker}{rest}" if marker else "")


def _sentence(tool: ToolSpec) -> str:
    does = " ".join(tool.does.split()).rstrip(".")
    does = does[:1].lower() + does[1:] if does[1:2].islower() else does
    return f"{does}; a person approves it first." if tool.kind == "write" else f"{does}."


def suggest_id(name: str) -> str:
    """Such as `sleep_tracking` for "Sleep Tracking!"; empty where nothing of it can be an id."""
    return "_".join(re.findall(r"[a-z0-9]+", name.lower()))[:64].strip("_")


def suggest_triggers(*, name: str, description: str, given: Sequence[str] = ()) -> list[str]:
    """What people may say to be led to it, at most `SUGGESTED_MAX` (docs/matching.md): none that is given already or
    that another capability has."""
    kept = list_trigger_candidates(name=name, description=description, given=given)
    taken = {each.trigger for each in find_trigger_conflicts(kept)}
    return [phrase for phrase in kept if phrase not in taken][:SUGGESTED_MAX]


def find_trigger_conflicts(triggers: Sequence[str]) -> list[Overlap]:
    """Those that a published capability has, in whatever form of the words."""
    mine = CapabilityProfile("", "", triggers=tuple(triggers))
    return find_trigger_overlaps(mine, INDEX.refreshed().owners_of_trigger)


def duplicate_capability(*, capability_id: str, new_id: str, name: str, by: Actor) -> SavedDraft:
    """A draft of a new capability like another one: its draft, else what is published.

    Tools get other names, because one name belongs to one capability, wherever they are mentioned; triggers are
    kept, so that the author sees what they would share. Raises `CapabilityNotFound`, `DraftConflict`, and
    `InvalidRequest` where the files cannot be read.
    """
    found = Capability.objects.filter(capability_id=capability_id).first()
    if found is None:
        raise CapabilityNotFound(capability_id)
    files, _ = drafts.editable_files(found)
    copied = _renamed(split_path(files), new_id, name)
    file_contents.lend_files(found, copied, by)
    return drafts.save_draft(capability_id=new_id, files=copied, based_on=None, by=by, create=True)


def _renamed(files: Mapping[str, str], new_id: str, name: str) -> dict[str, str]:
    capability = _read(files, "capability.json")
    if not isinstance(capability, dict):
        raise InvalidRequest("capability.json is not an object: fix its findings first")
    tools = _read(files, "tools.json") if files.get("tools.json") else []
    old_id, old_name = str(capability.get("capability_id", "")), str(capability.get("name", ""))
    names = {tool: _other_name(tool, old_id, new_id) for tool in _tool_names(tools)}
    capability |= {"capability_id": new_id, "name": name}
    copied = {file: _with_names(text, names) for file, text in files.items()}
    copied["capability.json"] = _with_names(to_json(capability), names)
    title = f"# {old_name}\n"
    if old_name and title in copied.get("skill.md", ""):
        copied["skill.md"] = copied["skill.md"].replace(title, f"# {' '.join(name.split())}\n", 1)
    return copied


def _read(files: Mapping[str, str], name: str) -> Any:
    try:
        return json.loads(files.get(name, ""))
    except (ValueError, RecursionError):
        raise InvalidRequest(f"{name} is not valid JSON: fix its findings first") from None


def _tool_names(tools: Any) -> list[str]:
    listed = tools.get("tools") if isinstance(tools, dict) else tools
    found = [as_mapping(each).get("name") for each in (listed if isinstance(listed, list) else [])]
    return [each for each in found if isinstance(each, str) and each]


def _other_name(tool: str, old_id: str, new_id: str) -> str:
    """By the capability's own id where the tool is named after it."""
    if old_id and tool.startswith(f"{old_id}_"):
        return f"{new_id}{tool.removeprefix(old_id)}"[:64]
    return f"{tool[:58]}_copy"


def _with_names(text: str, names: Mapping[str, str]) -> str:
    if not names:
        return text
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")
    return pattern.sub(lambda found: names[found[0]], text)
