"""A bundle as the files of an Agent Skill, so that taking them in again gives the same meaning (docs/contract.md 6).

The text below the front matter is the author's `skill_doc`, byte for byte. What SKILL.md cannot say travels below
`references/`, where agents can read it and an import finds it again; what SKILL.md says whole has nothing there.
"""

from __future__ import annotations

import json
from typing import Any

from registry.agent_skills.embedded_files import FOLDER, FRONT_MATTER
from registry.agent_skills.front_matter_writer import write_front_matter
from registry.agent_skills.importer import import_skill
from registry.agent_skills.names import skill_name_of
from registry.bundles.bundle import SkillBundle
from registry.bundles.bundle_reader import SourceBundle
from registry.bundles.front_matter import split_front_matter
from registry.bundles.json_edits import to_json
from registry.bundles.supporting_files import METADATA_KEY


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
    """SKILL.md: the front matter that every client takes, and the skill doc."""
    capability = bundle.capability
    values: dict[str, Any] = {"description": capability["description"]}
    values |= {key: capability[key] for key in ("license", "compatibility") if capability.get(key)}
    allowed = capability.get("allowed_tools")
    if allowed:
        values["allowed-tools"] = allowed if isinstance(allowed, str) else " ".join(allowed)
    name = skill_name_of(bundle.capability_id)
    own = {"capability_id": bundle.capability_id}
    # The `metadata.supporting_files` list is left to the import, which sees the files themselves.
    said = {key: value for key, value in capability.get("metadata", {}).items() if key != METADATA_KEY}
    text = write_front_matter(name, values | {"metadata": own | said})
    if split_front_matter(text).faults:
        # More than a front matter may have, or a key that is not a line: it is in references/capability.json alone.
        text = write_front_matter(name, values | {"metadata": own})
    return text + bundle.skill_doc


def _is_lossless(text: str, capability: dict[str, Any], bundle: SkillBundle) -> bool:
    """Whether SKILL.md, with the files that are exported beside it in any case, imports as this bundle again."""
    if bundle.tools or bundle.ui_schemas:
        return False
    taken = import_skill(SourceBundle("", {"SKILL.md": text, **bundle.supporting_files}))
    return taken.files is not None and json.loads(taken.files["capability.json"]) == capability
