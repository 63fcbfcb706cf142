"""From the front matter of a SKILL.md to capability.json, with every loss and every move as a finding.

What each key becomes is in capability_kit.bundles.skill_mapping: agents that read a folder read it the same way.
"""

from __future__ import annotations

from capability_kit.bundles.skill_mapping import SkillMapping, begin_mapping, find_typed_values, finish_mapping
from capability_kit.bundles.yaml_tree import Path
from capability_rules.agent_skills import profile_detection
from capability_rules.agent_skills.loss_report import LossReport
from capability_rules.agent_skills.skill_parser import ParsedSkill, refuse_missing
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.skill_document import SkillDocument


def map_front_matter(
    skill: ParsedSkill, body: SkillDocument, source: SourceBundle, losses: LossReport
) -> SkillMapping | None:
    """The mapping, whose `capability` are the values of capability.json; None, with the error in `losses`, where the
    skill cannot be named or described."""
    read = skill.front_matter
    values = read.values if read is not None else profile_detection.profile_front_matter(body)
    if values is None:
        refuse_missing(skill.body, losses)
        return None
    typed = find_typed_values(read.root if read else None)
    mapping = begin_mapping(values, folder=source.folder, as_id=source.as_id, typed=typed)
    losses.places = {**losses.places, **_places_of_spellings(mapping, losses)}
    finish(mapping, body)
    losses.add_notes(mapping.notes)
    return mapping if mapping.capability else None


def finish(mapping: SkillMapping, body: SkillDocument) -> None:
    """The rest of a mapping that has begun: the profile, by the sections of the text, and the optional keys."""
    if mapping.capability:
        profile_detection.resolve_profile(mapping, body)
        finish_mapping(mapping)


def _places_of_spellings(mapping: SkillMapping, losses: LossReport) -> dict[Path, int]:
    return {(plain,): losses.places[key,] for plain, key in mapping.spellings.items() if (key,) in losses.places}
