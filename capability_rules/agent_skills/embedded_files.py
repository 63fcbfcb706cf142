"""What a bundle has beyond SKILL.md is exported below `references/`, and imported again from there.

`references/capability.json`, `tools.json` and `ui_schemas.json` are the author's own texts, `skill-front-matter.yaml`
is the front matter of skill.md. They are ours where `capability_id` there is the one that the skill's name gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.bundles.skill_mapping import LAYOUT_KEY, SkillMapping
from capability_kit.bundles.yaml_tree import Path
from capability_rules.agent_skills.front_matter_layout import covered_paths
from capability_rules.agent_skills.loss_report import LossReport
from capability_rules.bundles import json_reader
from capability_rules.bundles.json_edits import to_json
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.bundles.text import decode_text

FOLDER: Final = "references"
FRONT_MATTER: Final = "skill-front-matter.yaml"
JSON_FILES: Final = ("capability.json", "tools.json", "ui_schemas.json")
# The key of capability.json that each key of SKILL.md's front matter stands for, but for the name.
COMPARED_FILES: Final = ("description", "license", "compatibility", "allowed_tools")


@dataclass(frozen=True)
class EmbeddedFiles:
    """The texts by their names in the bundle, the parsed capability.json, and the paths that were read."""

    texts: dict[str, str]
    capability: dict[str, Any]
    names: tuple[str, ...]


def find_embedded_files(files: Mapping[str, bytes | str], capability: Mapping[str, Any]) -> EmbeddedFiles | None:
    """What came along with this skill; None where nothing did."""
    texts: dict[str, str] = {}
    for name in (*JSON_FILES, FRONT_MATTER):
        content = files.get(f"{FOLDER}/{name}")
        if content:
            text, fault = decode_text(content)
            if fault is None:
                texts[name] = text
    parsed = json_reader.read_json(texts.get("capability.json", ""))
    if not isinstance(parsed.value, dict) or parsed.value.get("capability_id") != capability["capability_id"]:
        return None
    return EmbeddedFiles(texts, parsed.value, tuple(f"{FOLDER}/{name}" for name in texts))


def merge_embedded_files(
    travelled: EmbeddedFiles, mapping: SkillMapping, body: str, losses: LossReport
) -> dict[str, bytes | str]:
    """The four bundle files again. What changed in SKILL.md since the export is applied, and reported."""
    merged = _merged(travelled.capability, mapping, SkillDocument(embed_files(body)))
    text = travelled.texts["capability.json"]
    changed = [key for key in {**travelled.capability, **merged} if travelled.capability.get(key) != merged.get(key)]
    for key in changed:
        message = f"'{key}' differs from {FOLDER}/capability.json; SKILL.md counts"
        losses.add("IMPORT_EXPORT_CHANGED", message, path=(key.replace("_", "-"),))
    if changed:
        text = to_json(merged)
    front_matter = travelled.texts.get(FRONT_MATTER)
    skill_md = f"---\n{front_matter}---\n{body}" if front_matter is not None else embed_files(body)
    files: dict[str, bytes | str] = {"capability.json": text, "skill.md": skill_md}
    return files | {name: travelled.texts[name] for name in JSON_FILES[1:] if name in travelled.texts}


def embed_files(body: str) -> str:
    """A skill.md whose skill_doc is this text: one that begins as a front matter does gets an empty one before it."""
    first = body.partition("\n")[0]
    return f"---\n---\n{body}" if first.rstrip(" \t") == "---" else body


def _merged(old: Mapping[str, Any], mapping: SkillMapping, body: SkillDocument) -> dict[str, Any]:
    """capability.json as it came along, with what SKILL.md says by now."""
    new = mapping.capability
    merged = dict(old)
    for key in COMPARED_FILES:
        if _plain(key, old.get(key)) != _plain(key, new.get(key)):
            merged[key] = new.get(key)
    for _, target in mapping.origins:
        if target[0] not in ("name", "metadata", *COMPARED_FILES):
            _set_value(merged, target, new)
    metadata = _merged_metadata(old, new, body)
    if metadata != (old.get("metadata") or {}):
        merged["metadata"] = metadata
    return {key: value for key, value in merged.items() if value is not None}


def _merged_metadata(old: Mapping[str, Any], new: Mapping[str, Any], body: SkillDocument) -> dict[str, Any]:
    """Of metadata an entry counts where it is there: what a front matter cannot express is in capability.json alone.
    A key of the first level that was taken out of SKILL.md is gone."""
    before, now = old.get("metadata") or {}, new.get("metadata") or {}
    known = covered_paths(old, body)
    gone = {known[source] for source in known.keys() - covered_paths(new, body).keys()} if LAYOUT_KEY in now else set()
    return {key: value for key, value in before.items() if ("metadata", key) not in gone} | now


def _set_value(merged: dict[str, Any], path: Path, new: Mapping[str, Any]) -> None:
    """Copy the value at this path; maps on the way are copied, since the old ones are shared."""
    if len(path) == 1:
        merged[path[0]] = new[path[0]]
        return
    merged[path[0]] = dict(merged.get(path[0]) or {})
    _set_value(merged[path[0]], path[1:], new[path[0]])


def _plain(key: str, value: Any) -> Any:
    """A value as it reads in SKILL.md."""
    if key == "allowed_tools" and isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, str):
        return value.strip()
    return value or None
