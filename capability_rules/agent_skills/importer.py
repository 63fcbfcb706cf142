"""Any source of one capability as the four bundle files; an Agent Skill is mapped to them (docs/contract.md 5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from capability_kit.bundles.skill_mapping import LAYOUT_KEY, SkillMapping
from capability_rules.agent_skills.embedded_files import embed_files, find_embedded_files, merge_embedded_files
from capability_rules.agent_skills.front_matter_layout import build_layout
from capability_rules.agent_skills.front_matter_mapping import map_front_matter
from capability_rules.agent_skills.loss_report import LossReport
from capability_rules.agent_skills.skill_parser import ParsedSkill, parse_skill
from capability_rules.agent_skills.tools_conversion import FILE as TOOLS_FILE
from capability_rules.agent_skills.tools_conversion import convert_tools_file
from capability_rules.bundles.bundle_reader import UNREAD, SourceBundle
from capability_rules.bundles.file_pointer import is_pointer
from capability_rules.bundles.finding import Finding
from capability_rules.bundles.json_edits import to_json
from capability_rules.bundles.problem import BUNDLE_FILES
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.bundles.supporting_files import (
    COUNT_MAX,
    EVALUATION_FILES,
    METADATA_KEY,
    find_collisions,
    is_in_folder,
    path_error,
    paths_named_in,
)
from capability_rules.bundles.supporting_files_key import add_supporting_files_key
from capability_rules.bundles.text import BUNDLE_BYTES_MAX, FILE_BYTES_MAX, decode_text, size_bytes
from capability_rules.errors import InvalidRequest

_NAMED_MAX: Final = 20
# What an empty `metadata.supporting_files` list takes in capability.json.
_MARK_BYTES: Final = len(f',\n  "metadata": {{\n    "{METADATA_KEY}": ""\n  }}')
Files = dict[str, bytes | str]


@dataclass(frozen=True)
class ImportedSkill:
    """`files` are the texts of the four bundle files; None where the skill was refused, with the reason in `findings`.

    `shown` are the texts that the findings point into.
    """

    path: str
    files: Mapping[str, bytes | str] | None
    findings: tuple[Finding, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)


def import_skill(source: SourceBundle) -> ImportedSkill:
    """The bundle of a source, whatever format it and its tools have; never raises for any content. Cases of evaluations
    are not part of it: they stay beside it as they came."""
    files = {name: content for name, content in source.files.items() if name not in EVALUATION_FILES}
    taken = _import_texts(replace(source, files=files))
    if taken.files is not None:
        beside = {name: content for name, content in source.files.items() if name in EVALUATION_FILES}
        taken = replace(taken, files={**taken.files, **beside})
    converted = convert_tools_file(taken.files or {})
    if converted is None:
        return taken
    tools, finding = converted
    shown = {**taken.shown, TOOLS_FILE: tools}
    return replace(
        taken, files={**(taken.files or {}), TOOLS_FILE: tools}, findings=(*taken.findings, finding), shown=shown
    )


def _import_texts(source: SourceBundle) -> ImportedSkill:
    name = skill_file_name(source.files)
    unreadable = [each for each in source.odd if each == name or each in BUNDLE_FILES]
    if unreadable:
        return _refuse_unreadable(source, unreadable)
    if "capability.json" in source.files:
        return _with_odd(_take_bundle(source, name), source)
    if name is None or (name == "skill.md" and any(file in source.files for file in BUNDLE_FILES[2:])):
        return _with_odd(ImportedSkill(source.path, source.files), source)
    return _take_skill(source, name)


def _refuse_unreadable(source: SourceBundle, names: Sequence[str]) -> ImportedSkill:
    losses = LossReport(names[0])
    for name in names:
        losses.add_file("IMPORT_FILE_UNREADABLE", name, f"{name} cannot be taken: {source.odd[name]}")
    return ImportedSkill(source.path, None, tuple(losses.findings))


def _with_odd(taken: ImportedSkill, source: SourceBundle) -> ImportedSkill:
    """With what could not be taken of a bundle of four files."""
    losses = LossReport("capability.json")
    _note_left_out(sorted(source.odd), source.odd, losses, "Put the file itself there.", of="of the bundle")
    return replace(taken, findings=(*taken.findings, *losses.findings))


def skill_file_name(files: Mapping[str, Any]) -> str | None:
    """The file that is SKILL.md, however it is spelled; the right spelling first."""
    found = sorted((name for name in files if name.lower() == "skill.md"), key=lambda name: name != "SKILL.md")
    return found[0] if found else None


def _take_bundle(source: SourceBundle, name: str | None) -> ImportedSkill:
    """Four files; another spelling of skill.md is forgiven."""
    if name is None or "skill.md" in source.files or not source.files[name]:
        return ImportedSkill(source.path, source.files)
    losses = LossReport(name)
    losses.add_file("IMPORT_FILE_NAME", name, f"'{name}' was taken as skill.md", "Name it skill.md.")
    files = {"skill.md" if file == name else file: content for file, content in source.files.items()}
    return ImportedSkill(source.path, files, tuple(losses.findings))


def _take_skill(source: SourceBundle, name: str) -> ImportedSkill:
    losses = LossReport(name)
    if name != "SKILL.md":
        losses.add_file("IMPORT_FILE_NAME", name, f"'{name}' was taken as SKILL.md", "Name it SKILL.md.")
    skill = parse_skill(source.files[name], losses)
    shown = {name: losses.text}
    body = embed_files(skill.body) if skill else ""
    mapping = map_front_matter(skill, SkillDocument(body), source, losses) if skill else None
    if skill is None or mapping is None:
        return ImportedSkill(source.path, None, tuple(losses.findings), shown)
    _add_layout(mapping, skill)
    files: Files = {"capability.json": to_json(mapping.capability), "skill.md": body}
    travelled = find_embedded_files(source.files, mapping.capability)
    if travelled is not None:
        losses.findings = [finding for finding in losses.findings if finding.code == "IMPORT_NAME_DIFFERS"]
        files = merge_embedded_files(travelled, mapping, skill.body, losses)
    beside = [file for file in source.files if not travelled or file not in travelled.names]
    kept = find_supporting_texts(beside, source.files.__getitem__, files)
    files["capability.json"] = _naming(files["capability.json"], kept)
    _note_others(source, {name, *kept, *(travelled.names if travelled else ())}, losses)
    _note_inner(source, losses)
    return ImportedSkill(source.path, {**files, **kept}, tuple(losses.findings), shown)


def _add_layout(mapping: SkillMapping, skill: ParsedSkill) -> None:
    """Keep how the front matter was written, for an export that means the same."""
    layout = build_layout(skill.front_matter.root, mapping) if skill.front_matter else ""
    if layout:
        mapping.capability["metadata"] = {**mapping.capability.get("metadata", {}), LAYOUT_KEY: layout}


def import_priority(name: str) -> tuple[bool, str]:
    """Which file of a skill is kept first where not all fit: those in the format's own folders, then by name."""
    return not is_in_folder(name), name


def find_supporting_texts(
    names: Collection[str],
    read: Callable[[str], bytes | str],
    four: Mapping[str, bytes | str],
    keep: Callable[[str], str | None] = lambda _: None,
) -> dict[str, str]:
    """The files that a bundle keeps beside its four, by their paths: texts as far as there is room for them, and of
    what is not text, or has no room, the pointer that `keep` makes; of two names that collide neither. Where there are
    more than a bundle may have, one too many is kept, and the whole is refused by its checks: what a skill names must
    not be gone without anyone having decided so."""
    named = sorted((name for name in names if not path_error(name)), key=import_priority)
    collisions = set(find_collisions(named))
    marked = set(paths_named_in(four["capability.json"]))
    room = BUNDLE_BYTES_MAX - sum(size_bytes(text) for text in four.values()) - (0 if marked else _MARK_BYTES)
    # Of every file the name has to fit, whatever becomes of its text.
    listed = (name for name in named[: COUNT_MAX + 1] if not is_in_folder(name) and name not in marked)
    room -= sum(size_bytes(f"{name}\\n") for name in listed)
    kept: dict[str, str] = {}
    for name in named:
        # One too many is refused by the checks, and reading the rest would tell nothing more.
        if name in collisions or len(kept) > COUNT_MAX:
            continue
        text = _text_of(read(name))
        # A pointer has a limit of its own, which the checks know.
        if text is None or (not is_pointer(text) and size_bytes(text) > room):
            text = keep(name)
        if text is not None:
            kept[name] = text
            room -= 0 if is_pointer(text) else size_bytes(text)
    return dict(sorted(kept.items()))


def _naming(capability_json: bytes | str, kept: Collection[str]) -> str:
    """capability.json with `metadata.supporting_files` for the files outside of the folders."""
    text = decode_text(capability_json)[0]
    try:
        return add_supporting_files_key(text, add=[name for name in kept if not is_in_folder(name)])
    except InvalidRequest:
        # An author's own that an export brought along and that was broken since: it is validated as it is.
        return text


def _text_of(content: bytes | str) -> str | None:
    """None for what is not text, is too large, or came without its content."""
    # The author's own bytes are measured: what a reader has cut may be short enough once its line ends are one byte.
    if content == UNREAD or size_bytes(content) > FILE_BYTES_MAX:
        return None
    text, fault = decode_text(content)
    return None if fault or "\0" in text else text


def _note_others(source: SourceBundle, used: set[str], losses: LossReport) -> None:
    others = sorted({*source.files, *source.odd} - used)
    reasons = {name: reason for name in others if (reason := _reason(name, source, used))}
    kept = f"A bundle keeps at most {COUNT_MAX:,} files."
    _note_left_out(others, reasons, losses, f"{kept} Rename the files that agents need and whose path is invalid.")


def _reason(name: str, source: SourceBundle, used: set[str]) -> str:
    """Why a file beside SKILL.md is left out, where there is more to say than that it is empty or one too many."""
    if name in source.odd:
        return source.odd[name]
    if name.lower() == "skill.md":
        return "the folder has two; the other one was taken"
    same = next((one for one in sorted(source.files) if one != name and one.lower() == name.lower()), "")
    if same and name not in used:
        return f"on some systems it is the same file as {same[:100]}"
    return path_error(name)


def _note_left_out(
    names: Sequence[str], reasons: Mapping[str, str], losses: LossReport, hint: str, *, of: str = "beside SKILL.md"
) -> None:
    if not names:
        return
    named = ", ".join(_describe_left_out(name, reasons.get(name, "")) for name in names[:_NAMED_MAX])
    more = f" and {len(names) - _NAMED_MAX:,} more" if len(names) > _NAMED_MAX else ""
    which = f"1 file {of} is" if len(names) == 1 else f"{len(names):,} files {of} are"
    losses.add_file("IMPORT_FILE_LEFT_OUT", names[0], f"{which} left out: {named}{more}", hint)


def _describe_left_out(name: str, reason: str) -> str:
    return f"{ascii(name)[1:-1][:100]} ({reason})" if reason else name[:100]


def _note_inner(source: SourceBundle, losses: LossReport) -> None:
    if source.inner:
        count = len(source.inner)
        named = ", ".join(name[:100] for name in source.inner[:_NAMED_MAX])
        which = (
            "A folder in it has a SKILL.md and is a skill of its own"
            if count == 1
            else (f"{count:,} folders in it have a SKILL.md and are skills of their own")
        )
        hint = "Their files are not in this skill. Rename a SKILL.md that is only a text of it."
        losses.add_file("IMPORT_SKILL_INSIDE", f"{source.inner[0]}/SKILL.md", f"{which}: {named}", hint)
