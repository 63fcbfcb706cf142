"""Which profile a text has by its sections, and the metadata of a playbook document without a front matter."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from capability_kit.bundles.skill_mapping import SkillMapping
from capability_kit.bundles.skill_names import propose_skill_name
from capability_rules.bundles.skill_document import SkillDocument

Profile = Literal["playbook", "runbook", "agent_skill"]
_SECTIONS: Final[dict[Profile, tuple[str, ...]]] = {
    "playbook": ("Goal", "Prerequisites", "Steps"),
    "runbook": ("Meaning", "Impact", "Diagnosis", "Mitigation"),
}
_FACT: Final = re.compile(r"\*\*(?P<name>[A-Za-z ]+):\*\*[ \t]*(?P<value>\S.*)")
_ITEM: Final = re.compile(r"[ ]{0,3}[-*+][ \t]+(?P<text>\S.*)")
_FACTS: Final = {"product area": "product_area", "issue type": "issue_type"}


def detect_profile(skill: SkillDocument) -> Profile:
    """The profile whose sections are all there as H2."""
    for profile, sections in _SECTIONS.items():
        if all(skill.sections(section) for section in sections):
            return profile
    return "agent_skill"


def resolve_profile(mapping: SkillMapping, skill: SkillDocument) -> None:
    """Set `skill_profile`, and `playbook` where it is one; takes the keys it uses out of the rest."""
    profile = detect_profile(skill)
    mapping.capability["skill_profile"] = profile
    if profile == "agent_skill":
        return
    mapping.note("IMPORT_PROFILE_CHOSEN", f"The text has the sections of a {profile}; that profile was chosen")
    if profile == "playbook":
        mapping.capability["playbook"] = _playbook(mapping, skill)


def _playbook(mapping: SkillMapping, skill: SkillDocument) -> dict[str, Any]:
    """`problem`, `conditions` and `keywords` from the front matter, else from the Goal and the Prerequisites."""
    facts = _facts(skill)
    found: dict[str, Any] = {
        "problem": _section_text(skill, "Goal")[:4000] or mapping.capability["description"],
        "conditions": _items(skill, "Prerequisites"),
        "keywords": [word.strip() for word in facts.get("keywords", "").split(",") if word.strip()],
    }
    found |= {key: facts[words][:200] for words, key in _FACTS.items() if words in facts}
    for key in ("problem", "conditions", "keywords", "product_area", "issue_type"):
        is_list = isinstance(found.get(key), list)
        if isinstance(mapping.rest.get(key), list if is_list else str) and mapping.rest[key]:
            found[key] = mapping.rest.pop(key)
            mapping.origins.append(((key,), ("playbook", key)))
            mapping.note("IMPORT_KEY_MAPPED", f"'{key}' became playbook.{key}", "", key)
    return found


def _facts(skill: SkillDocument) -> dict[str, str]:
    """The lines `**Product Area:** billing` above the first section."""
    found: dict[str, str] = {}
    for line in skill.skill_doc.split("\n"):
        if line.startswith("## "):
            break
        match = _FACT.fullmatch(line.strip())
        if match is not None:
            found.setdefault(match["name"].strip().casefold(), match["value"].strip())
    return found


def _section_text(skill: SkillDocument, name: str) -> str:
    return " ".join(line.text.strip() for line in skill.section_lines(name) if line.text.strip())


def _items(skill: SkillDocument, name: str) -> list[str]:
    matches = (_ITEM.fullmatch(line.text) for line in skill.section_lines(name))
    return [match["text"].strip()[:500] for match in matches if match is not None][:200]


def profile_front_matter(skill: SkillDocument) -> dict[str, Any] | None:
    """Name and description of a playbook without a front matter: its title, and its goal. None for anything else."""
    if detect_profile(skill) == "agent_skill" or skill.title is None:
        return None
    title = skill.title.text.strip()
    description = _section_text(skill, "Goal" if skill.sections("Goal") else "Meaning")[:1024]
    if not propose_skill_name(title) or not description:
        return None
    return {"name": title, "description": description}
