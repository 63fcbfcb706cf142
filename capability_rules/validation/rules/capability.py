"""capability.json beyond its shape (docs/contract.md 1.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from capability_kit.bundles.supporting_files import is_device_name
from capability_kit.text.stop_words import STOP_WORDS
from capability_kit.text.tokenizer import has_words
from capability_kit.text.trigger_matching import is_substring
from capability_rules.bundles.needed_skills import get_needed_skills
from capability_rules.bundles.problem import FileName, RawFinding, collect_findings
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.validation.rules.json_schema import check_shape

FILE: Final[FileName] = "capability.json"
_WORD: Final = re.compile(r"[^\W_]+")
# Zero width: they come along with what is copied from a page, and make two phrases that look the same different.
_INVISIBLE_AT_END: Final = re.compile(
    "^[\\u00ad\\u180e\\u200b-\\u200d\\u2060\\ufeff]|[\\u00ad\\u180e\\u200b-\\u200d\\u2060\\ufeff]$"
)
# Three function words in a row can be a question of their own: "who are you".
_GENERAL_WORDS_MAX: Final = 2


def check_capability(capability: Any) -> list[RawFinding]:
    """Shape, then what a schema cannot say: triggers that are equal, say nothing or hide a character, and a version
    that has no effect."""
    problems = check_shape(FILE, capability, schema="capability")
    if isinstance(capability, dict):
        problems += collect_findings(
            _check_triggers(capability),
            _check_version(capability),
            _check_file_name(capability.get("capability_id")),
            _check_own_need(capability),
        )
    return problems


def _check_file_name(capability_id: Any) -> Iterator[RawFinding]:
    if isinstance(capability_id, str) and is_device_name(capability_id):
        message = f"'{capability_id}' is the name of a device on Windows, where no folder can be called so"
        hint = f"Choose another id, such as {capability_id}_capability: an export has a folder for each capability."
        yield RawFinding("CAPABILITY_ID_RESERVED", FILE, ("capability_id",), message, hint)


def _check_own_need(capability: dict[str, Any]) -> Iterator[RawFinding]:
    own, skills = capability.get("capability_id"), get_needed_skills(capability)
    if isinstance(own, str) and own in skills:
        path = ("dependencies", "skills", capability["dependencies"]["skills"].index(own))
        message = f"The capability names itself, '{own[:64]}', among the skills that it needs"
        yield RawFinding("DEPENDENCY_ON_ITSELF", FILE, path, message, "Remove the line.")


def _check_triggers(capability: dict[str, Any]) -> Iterator[RawFinding]:
    triggers = capability.get("intent_triggers")
    seen: set[str] = set()
    for index, trigger in enumerate(triggers if isinstance(triggers, list) else []):
        if not isinstance(trigger, str):
            continue
        key = trigger.casefold()
        if key in seen:
            message = f"The trigger '{trigger[:80]}' appears twice (upper and lower case are one)"
            yield RawFinding("TRIGGER_DUPLICATE", FILE, ("intent_triggers", index), message, "Remove one of the two.")
        seen.add(key)
        words = _WORD.findall(key)
        if 1 <= len(words) <= _GENERAL_WORDS_MAX and STOP_WORDS.issuperset(words):
            message = f"The trigger '{trigger[:80]}' has only words that occur in any message"
            hint = "Add a word that says what the message is about."
            yield RawFinding("TRIGGER_TOO_GENERAL", FILE, ("intent_triggers", index), message, hint)
        if _INVISIBLE_AT_END.search(trigger):
            message = f"The trigger '{trigger[:80]}' begins or ends with a character that shows nothing"
            hint = "Type the trigger again: the character came along with what was pasted."
            yield RawFinding("TRIGGER_INVISIBLE_CHARACTER", FILE, ("intent_triggers", index), message, hint)
        if trigger.strip() and not has_words(trigger) and not is_substring(trigger):
            message = f"The trigger {trigger[:80]!r} has neither a letter nor a digit: no message leads to it"
            hint = "Write a word that users say, or an emoji."
            yield RawFinding("TRIGGER_UNMATCHABLE", FILE, ("intent_triggers", index), message, hint)


def _check_version(capability: dict[str, Any]) -> Iterator[RawFinding]:
    if "version" in capability and capability["version"] != "latest":
        message = f"The version {str(capability['version'])[:40]!r} has no effect"
        hint = 'Remove it, or write "latest": the registry numbers revisions itself.'
        yield RawFinding("VERSION_IGNORED", FILE, ("version",), message, hint)


def check_front_matter(skill: SkillDocument, capability: Any) -> list[RawFinding]:
    """YAML errors, and a capability_id there that does not agree."""
    matter = skill.front_matter
    problems = [
        RawFinding("FRONT_MATTER_INVALID", "skill.md", (), fault.message, fault.hint, offset=fault.offset)
        for fault in matter.faults
    ]
    expected = capability.get("capability_id") if isinstance(capability, dict) else None
    found = matter.values.get("capability_id")
    if found is not None and isinstance(expected, str) and found != expected:
        message = f"capability_id is {str(found)[:70]!r} here and {expected[:70]!r} in capability.json"
        offset = matter.places.get(("capability_id",), 0)
        hint = "Make them agree, or remove it here."
        problems.append(RawFinding("CAPABILITY_ID_MISMATCH", "skill.md", (), message, hint, offset=offset))
    return problems


def get_profile(capability: Any) -> str:
    """The effective skill_profile: the default where it is left out or invalid."""
    profile = capability.get("skill_profile") if isinstance(capability, dict) else None
    return profile if profile in ("playbook", "runbook", "agent_skill") else "capability"
