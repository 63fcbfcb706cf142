"""A bundle as the files of an Agent Skill, so that taking them in again gives the same meaning (docs/contract.md 6).

The text below the front matter is the author's `skill_doc`, byte for byte. What SKILL.md cannot say travels below
`references/`, where agents can read it and an import finds it again; what SKILL.md says whole has nothing there.
"""

from __future__ import annotations

import json
from typing import Any

import yaml

from capability_kit.bundles.front_matter import split_front_matter
from capability_kit.bundles.skill_names import is_skill_name, skill_name_of
from capability_rules.agent_skills.embedded_files import FOLDER, FRONT_MATTER, embed_files
from capability_rules.agent_skills.front_matter_layout import AppliedLayout, apply_layout, list_plain_metadata
from capability_rules.agent_skills.front_matter_writer import Pair, text_node, write_front_matter
from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.json_edits import to_json
from capability_rules.bundles.skill_document import SkillDocument


def export_skill_files(bundle: SkillBundle, *, for_agents: bool = False) -> dict[str, str]:
    """The files by their path, SKILL.md first.

    `for_agents` leaves out what agents are not given: the utterances, and the front matter of skill.md.
    """
    capability = bundle.public_capability if for_agents else bundle.capability
    front_matter = split_front_matter(bundle.files.get("skill.md", "")).source
    files = {"SKILL.md": write_skill_md(bundle)}
    travelled = {
        "capability.json": to_json(capability) if for_agents else bundle.files["capability.json"],
        "tools.json": bundle.files.get("tools.json", "") if bundle.tools else "",
        "ui_schemas.json": bundle.files.get("ui_schemas.json", "") if bundle.ui_schemas else "",
        FRONT_MATTER: "" if for_agents else front_matter,
    }
    if _is_lossless(files["SKILL.md"], capability, bundle) and not travelled[FRONT_MATTER]:
        return files | bundle.supporting_files
    return files | {f"{FOLDER}/{name}": text for name, text in travelled.items() if text} | bundle.supporting_files


def write_skill_md(bundle: SkillBundle) -> str:
    """SKILL.md: the front matter as its author wrote it where it came from one, and the skill doc."""
    capability = bundle.capability
    layout = apply_layout(capability, SkillDocument(embed_files(bundle.skill_doc)))
    text = _front_matter(bundle, layout, list_plain_metadata(capability, layout))
    if split_front_matter(text).faults:
        # More than a front matter may have, or a key that is not a line: it is in references/capability.json alone.
        text = _front_matter(bundle, AppliedLayout(), {})
    return text + bundle.skill_doc


def _front_matter(bundle: SkillBundle, layout: AppliedLayout, metadata: dict[str, str]) -> str:
    values = _texts(bundle.capability, layout)
    pairs: list[Pair] = [(text_node(key), text_node(value)) for key, value in values.items()]
    pairs += [(key, node) for key, node in layout.first_level if key.value != "name"]
    below = {"capability_id": bundle.capability_id} | metadata
    entries = [*((text_node(key), text_node(value)) for key, value in below.items()), *layout.below_metadata]
    pairs.append((text_node("metadata"), yaml.MappingNode("", entries)))
    return write_front_matter(_name_of(bundle, layout), pairs)


def _texts(capability: dict[str, Any], layout: AppliedLayout) -> dict[str, str]:
    """The keys of the format whose values are texts, without those that the layout writes."""
    found = {key: capability[key] for key in ("description", "license", "compatibility") if capability.get(key)}
    allowed = capability.get("allowed_tools")
    if allowed and ("allowed_tools",) not in layout.covered:
        found["allowed-tools"] = allowed if isinstance(allowed, str) else " ".join(allowed)
    return {key: value for key, value in found.items() if (key,) not in layout.covered}


def _name_of(bundle: SkillBundle, layout: AppliedLayout) -> str:
    """The name that follows from the id, or the author's own where it is in the letters of another language."""
    written = next((str(node.value) for key, node in layout.first_level if key.value == "name"), "")
    return written if is_skill_name(written) else skill_name_of(bundle.capability_id)


def _is_lossless(text: str, capability: dict[str, Any], bundle: SkillBundle) -> bool:
    """Whether SKILL.md, with the files that are exported beside it in any case, imports as this bundle again."""
    if bundle.tools or bundle.ui_schemas:
        return False
    taken = import_skill(SourceBundle("", {"SKILL.md": text, **bundle.supporting_files}))
    return taken.files is not None and json.loads(taken.files["capability.json"]) == capability
