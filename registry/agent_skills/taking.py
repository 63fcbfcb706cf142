"""Any source of one capability as the four files of a bundle: a bundle as it is, an Agent Skill mapped (CONTRACT 5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from registry.agent_skills.losses import Losses
from registry.agent_skills.mapping import capability_of
from registry.agent_skills.skill_file import read_skill
from registry.agent_skills.travelling import merge_travelled, skill_md_of, to_json, travelled_files
from registry.authoring.naming_files import with_named
from registry.errors import InvalidRequest
from registry.imports.sources import SourceBundle
from registry.validation.documents import BUNDLE_FILES
from registry.validation.findings import Finding
from registry.validation.skill_text import SkillText
from registry.validation.supporting import COUNT_MAX, MARK, colliding, in_folder, named_in, path_fault
from registry.validation.texts import BUNDLE_BYTES_MAX, FILE_BYTES_MAX, decode, size_bytes

_NAMED_MAX: Final = 20
# What the mark takes in capability.json before the first path stands in it.
_MARK_BYTES: Final = len(f',\n  "metadata": {{\n    "{MARK}": ""\n  }}')
Files = dict[str, bytes | str]


@dataclass(frozen=True)
class Taken:
    """`files` are the four texts of a bundle; None where the skill was refused, with the reason in `findings`.

    `shown` are the texts that the findings point into.
    """

    path: str
    files: Mapping[str, bytes | str] | None
    findings: tuple[Finding, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)


def take(source: SourceBundle) -> Taken:
    """The bundle of a source, whatever format it has; never raises for any content."""
    name = skill_file_name(source.files)
    if "capability.json" in source.files:
        return _take_bundle(source, name)
    if name is None or (name == "skill.md" and any(file in source.files for file in BUNDLE_FILES[2:])):
        return Taken(source.path, source.files)
    return _take_skill(source, name)


def skill_file_name(files: Mapping[str, Any]) -> str | None:
    """The file that is SKILL.md, however it is spelled; the right spelling first."""
    found = sorted((name for name in files if name.lower() == "skill.md"), key=lambda name: name != "SKILL.md")
    return found[0] if found else None


def _take_bundle(source: SourceBundle, name: str | None) -> Taken:
    """Four files; another spelling of skill.md is forgiven."""
    if name is None or "skill.md" in source.files or not source.files[name]:
        return Taken(source.path, source.files)
    losses = Losses(name)
    losses.add_file("IMPORT_FILE_NAME", name, f"'{name}' was taken as skill.md", "Name it skill.md.")
    files = {"skill.md" if file == name else file: content for file, content in source.files.items()}
    return Taken(source.path, files, tuple(losses.findings))


def _take_skill(source: SourceBundle, name: str) -> Taken:
    losses = Losses(name)
    if name != "SKILL.md":
        losses.add_file("IMPORT_FILE_NAME", name, f"'{name}' was taken as SKILL.md", "Name it SKILL.md.")
    skill = read_skill(source.files[name], losses)
    shown = {name: losses.text}
    capability = capability_of(skill, SkillText(skill_md_of(skill.body)), source.folder, losses) if skill else None
    if skill is None or capability is None:
        return Taken(source.path, None, tuple(losses.findings), shown)
    files: Files = {"capability.json": to_json(capability), "skill.md": skill_md_of(skill.body)}
    travelled = travelled_files(source.files, capability)
    if travelled is not None:
        losses.findings = [finding for finding in losses.findings if finding.code == "IMPORT_NAME_DIFFERS"]
        files = merge_travelled(travelled, capability, skill, losses)
    beside = [file for file in source.files if not travelled or file not in travelled.names]
    kept = supporting_texts(beside, source.files.__getitem__, files)
    files["capability.json"] = _naming(files["capability.json"], kept)
    _note_others(source.files, {name, *kept, *(travelled.names if travelled else ())}, losses)
    return Taken(source.path, {**files, **kept}, tuple(losses.findings), shown)


def rank(name: str) -> tuple[bool, str]:
    """Which file of a skill is kept first where not all fit: those in the format's own folders, then by name."""
    return not in_folder(name), name


def supporting_texts(
    names: Collection[str], read: Callable[[str], bytes | str], four: Mapping[str, bytes | str]
) -> dict[str, str]:
    """The texts among these files that a bundle keeps beside its four: by their paths, as many as it may have and as
    fit. One that is too large makes way for those behind it; of two names that collide neither is kept."""
    named = sorted((name for name in names if not path_fault(name)), key=rank)
    collisions = set(colliding(named))
    marked = set(named_in(four["capability.json"]))
    room = BUNDLE_BYTES_MAX - sum(size_bytes(text) for text in four.values()) - (0 if marked else _MARK_BYTES)
    kept: dict[str, str] = {}
    for name in named:
        if name in collisions or len(kept) == COUNT_MAX:
            continue
        text = _text_of(read(name))
        size = size_bytes(text or "") + (0 if in_folder(name) or name in marked else size_bytes(f"{name}\\n"))
        if text is not None and size <= room:
            kept[name] = text
            room -= size
    return dict(sorted(kept.items()))


def _naming(capability_json: bytes | str, kept: Collection[str]) -> str:
    """capability.json with the mark of what it keeps outside of the folders."""
    text = decode(capability_json)[0]
    try:
        return with_named(text, add=[name for name in kept if not in_folder(name)])
    except InvalidRequest:
        # An author's own that an export brought along and somebody broke since: it is judged as it is.
        return text


def _text_of(content: bytes | str) -> str | None:
    """None for what is no text, is too large, or came without its content."""
    # The author's own bytes are measured: what a reader has cut may be short enough once its line ends are one byte.
    if not content or size_bytes(content) > FILE_BYTES_MAX:
        return None
    text, fault = decode(content)
    return None if fault or "\0" in text else text


def _note_others(files: Mapping[str, Any], used: set[str], losses: Losses) -> None:
    others = sorted(set(files) - used)
    if not others:
        return
    named = ", ".join(_describe_left_out(name) for name in others[:_NAMED_MAX])
    more = f" and {len(others) - _NAMED_MAX:,} more" if len(others) > _NAMED_MAX else ""
    message = f"{len(others):,} files beside SKILL.md are left out: {named}{more}"
    hint = (
        f"A bundle keeps texts alone, at most {COUNT_MAX}. Rename the files that agents need and whose path is invalid."
    )
    losses.add_file("IMPORT_FILE_LEFT_OUT", others[0], message, hint)


def _describe_left_out(name: str) -> str:
    fault = path_fault(name)
    return f"{ascii(name)[1:-1][:100]} ({fault})" if fault else name[:100]
