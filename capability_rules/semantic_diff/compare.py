"""All of it: tools, what the capability says of itself, its instructions, its forms and where it talks to."""

from __future__ import annotations

from dataclasses import replace

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.semantic_diff.change import EFFECTS, Change
from capability_rules.semantic_diff.hosts import compare_hosts
from capability_rules.semantic_diff.metadata import compare_metadata
from capability_rules.semantic_diff.skill_sections import compare_skill_sections
from capability_rules.semantic_diff.supporting_files import compare_supporting_files
from capability_rules.semantic_diff.tools import compare_tools
from capability_rules.semantic_diff.ui_schemas import compare_ui_schemas


def compare_bundles(old: SkillBundle, new: SkillBundle) -> list[Change]:
    """Every difference that has a meaning, by weight: what loosens first.

    `new` has passed the checks; `old` may be a damaged row, of which only what can be read is compared.
    """
    changes = [
        *compare_tools(old, new),
        *compare_metadata(old, new),
        *compare_hosts(old, new),
        *compare_ui_schemas(old, new),
        *compare_skill_sections(old, new),
        *compare_supporting_files(old, new),
    ]
    return _by_weight(changes)


def describe_new_bundle(new: SkillBundle) -> list[Change]:
    """What a first release introduces, in those words: its tools with their policies, what leads to it, where it talks
    to, its forms and its supporting files. No one relies on it yet, so nothing loosens or breaks."""
    nothing = replace(new, files={}, capability={}, skill_doc="", tools=[], ui_schemas=[])
    changes = [
        *compare_tools(nothing, new),
        *(change for change in compare_metadata(nothing, new) if change.effect == "widens"),
        *compare_hosts(nothing, new),
        *compare_ui_schemas(nothing, new),
        *compare_supporting_files(nothing, new),
    ]
    return _by_weight(changes)


def _by_weight(changes: list[Change]) -> list[Change]:
    return sorted(changes, key=lambda change: EFFECTS.index(change.effect))
