"""What readers would get of unpublished texts: prompt, load response, forms, an action's call."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from capability_kit.bundles.bundle import Bundle as AgentBundle
from capability_kit.bundles.forms import VERSION, surface_messages
from capability_kit.errors import ResponseRejected
from capability_kit.form_dry_run import FormDryRun
from capability_kit.json_text import as_mapping, parse_json
from capability_kit.prompt import Prompt, render_prompt
from capability_rules.bundles.json_locations import build_pointer
from capability_rules.bundles.problem import UNFINISHED_CODE
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.validation import Finding, Report
from capability_rules.validation.a2ui.data_paths import parse_path, resolve
from capability_rules.validation.a2ui.samples import with_samples
from capability_rules.validation.isolation.form_dry_run import dry_run_event
from registry.catalog import drafts
from registry.core.queries import build_load_response

_NOT_CHECKED: Final = frozenset({"CHECK_FAILED", UNFINISHED_CODE, "FINDINGS_CUT"})


@dataclass(frozen=True)
class FormPreview:
    """A form of ui_schemas.json. `messages` draw it; None where it has errors, and `why` says so.

    `sample_messages` draw it with samples wherever it begins with nothing: for its author alone.
    """

    schema_id: str
    title: str
    messages: list[dict[str, Any]] | None
    why: str = ""
    sample_messages: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class Preview:
    """`prompt` and `load` are None where the files cannot be read; `skill_doc` is the text after its front matter."""

    skill_doc: str
    forms: tuple[FormPreview, ...]
    prompt: Prompt | None
    load: bytes | None


def build_preview(*, capability_id: str, files: Mapping[str, str]) -> Preview:
    """What readers would get of these texts. Raises nothing for any content; stores nothing."""
    report = drafts.validate_draft_files(capability_id, files)
    skill_doc = SkillDocument(report.files.get("skill.md", "")).skill_doc
    forms = tuple(_forms(report))
    if report.bundle is None:
        return Preview(skill_doc, forms, None, None)
    answer = _answer(report)
    try:
        prompt = render_prompt([AgentBundle.from_answer(answer)])
    except (ResponseRejected, ValueError, KeyError, TypeError):
        # What no agent would take: the findings say why.
        prompt = None
    return Preview(skill_doc, forms, prompt, orjson.dumps(answer, option=orjson.OPT_INDENT_2))


def _answer(report: Report) -> dict[str, Any]:
    bundle = report.bundle
    assert bundle is not None  # noqa: S101 (both callers have looked)
    answer = build_load_response(bundle, revision=0, digest=bundle.digest, status="draft", replaced_by=None)
    # As a client reads it: values that are not shared, whatever appears twice in the author's text.
    loaded: dict[str, Any] = orjson.loads(orjson.dumps(answer))
    return loaded


def _forms(report: Report) -> list[FormPreview]:
    errors = [finding for finding in report.errors if finding.file == "ui_schemas.json" or finding.code in _NOT_CHECKED]
    errors += [finding for finding in report.warnings if finding.code in _NOT_CHECKED]
    written = parse_json(report.files.get("ui_schemas.json"))
    is_map = isinstance(written, dict)
    entries = [{"schema_id": key, "definition": one} for key, one in written.items()] if is_map else written
    if not isinstance(entries, list):
        return []
    found, tools = [], _tools(report)
    for index, entry in enumerate(entries[:50]):
        if not isinstance(entry, dict) or not isinstance(entry.get("schema_id"), str):
            continue
        pointer = build_pointer((entry["schema_id"] if is_map else index,))
        found.append(_form(entry, [one for one in errors if _concerns(one, pointer)], tools))
    return found


def _tools(report: Report) -> dict[str, dict[str, Any]]:
    """The arguments of each tool by its name, as far as they can be read."""
    written = parse_json(report.files.get("tools.json"))
    tools = written.get("tools") if isinstance(written, dict) else written
    named = [as_mapping(one) for one in (tools if isinstance(tools, list) else [])]
    return {one["name"]: as_mapping(one.get("args_schema")) for one in named if isinstance(one.get("name"), str)}


def _concerns(finding: Finding, pointer: str) -> bool:
    """Whether an error is of this entry, or of the file as a whole."""
    is_whole = finding.file != "ui_schemas.json" or finding.pointer == ""
    return is_whole or finding.pointer == pointer or finding.pointer.startswith(f"{pointer}/")


def _form(entry: dict[str, Any], errors: list[Finding], tools: Mapping[str, dict[str, Any]]) -> FormPreview:
    """Never drawn with an error: a renderer hangs on a component that contains itself."""
    title = entry.get("title") if isinstance(entry.get("title"), str) else ""
    if errors:
        count = f"{len(errors)} error{'' if len(errors) == 1 else 's'}"
        why = f"It is drawn once its {count} are fixed. {errors[0].message}."
        return FormPreview(entry["schema_id"], title or "", None, why)
    definition = as_mapping(entry.get("definition"))
    version, schema_id = entry.get("a2ui_version", VERSION), entry["schema_id"]
    filled = _filled(entry, definition, tools)
    return FormPreview(
        schema_id,
        title or "",
        surface_messages(definition, schema_id, version=version),
        sample_messages=surface_messages(definition, schema_id, data=filled, version=version),
    )


def _filled(entry: dict[str, Any], definition: dict[str, Any], tools: Mapping[str, dict[str, Any]]) -> Any:
    """The data of a form with samples for what its buttons send to tools."""
    data = copy.deepcopy(definition.get("dataModel", {}))
    for component in definition.get("components", ()):
        event = as_mapping(as_mapping(as_mapping(component).get("action")).get("event"))
        action = as_mapping(as_mapping(entry.get("actions")).get(str(event.get("name"))))
        properties = as_mapping(tools.get(str(action.get("tool")), {}).get("properties"))
        for name, value in as_mapping(event.get("context")).items():
            path = value.get("path") if isinstance(value, dict) else None
            steps = parse_path(path) if isinstance(path, str) and path.startswith("/") else ()
            holder = resolve(data, steps[:-1])[0] if steps else None
            if isinstance(holder, dict) and steps[-1] in holder:
                last = steps[-1]
                holder[last] = with_samples(properties.get(name), holder[last])
    return data


def check_action(
    *, capability_id: str, files: Mapping[str, str], schema_id: str, event: Mapping[str, Any]
) -> FormDryRun:
    """What an event of a form would come to with these texts. Nothing is called, nothing is stored."""
    report = drafts.validate_draft_files(capability_id, files)
    if report.bundle is None:
        return FormDryRun("refused", why="The four files cannot be read as they are")
    try:
        bundle = AgentBundle.from_answer(_answer(report))
    except (ResponseRejected, ValueError, KeyError, TypeError):
        return FormDryRun("refused", why="No agent would accept the four files as they are")
    return dry_run_event(bundle, schema_id, event)
