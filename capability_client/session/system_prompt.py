"""The skills section of the system prompt (docs/requirements.md E)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from capability_client.session.options import LISTED_CHARACTERS_MAX, SessionOptions
from capability_kit.bundles.bundle import ListingEntry
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import Readiness, check_readiness
from capability_kit.prompt import Prompt
from capability_kit.text.sanitize import one_line

# A message such as "what is 1 + 1?" needs no skill.
NO_SKILL: Final = (
    "If no skill fits, answer without one. Only if the user asks for what needs a skill that is not there, say so and "
    "offer those that there are."
)
MEMORY: Final = (
    "What you learn about the user in passing you store silently: never say that you have made a note. Where a skill "
    "says what to say after saving, say that."
)


def build_system_prompt(entries: Sequence[ListingEntry], options: SessionOptions, environment: Environment) -> Prompt:
    """The list of what is available on this system, to a limit, and the trigger rules."""
    closed = [each.capability_id for each in entries if each.is_closed_to_model]
    entries = [each for each in entries if not each.is_closed_to_model]
    here = [each for each in _ordered(entries) if "common" in each.os or environment.os in each.os]
    elsewhere = {each.capability_id for each in entries} - {each.capability_id for each in here}
    listed = _listed(here, environment)
    left = len(here) - len(listed)
    parts = [options.preamble.strip()] if options.preamble.strip() else []
    parts.append("## Skills\n\nA skill is a set of instructions, with tools, for one kind of task.")
    if listed:
        more = f"\n- and {left} more, which are hinted when a message fits" if left else ""
        parts.append("### Available skills\n\n" + "\n".join(listed) + more)
    parts.append("### How to use skills\n\n" + "\n".join(f"- {rule}" for rule in _rules(options)))
    included = tuple(line[2:].split(" ", 1)[0].rstrip(":") for line in listed)
    omitted = [(each.capability_id, "not listed for want of room") for each in here[len(listed) :]]
    omitted += [(name, "it does not work on this system") for name in sorted(elsewhere)]
    omitted += [(name, "the user alone starts it") for name in sorted(closed)]
    return Prompt("\n\n".join(parts) + "\n", included, tuple(omitted))


def notes_of(entry: ListingEntry, readiness: Readiness) -> str:
    """What speaks against a capability before it is loaded: deprecated, or something is missing here."""
    instead = f", use {one_line(entry.replaced_by, most=64)} instead" if entry.replaced_by else ""
    deprecated = f" [deprecated{instead}]" if entry.status == "deprecated" else ""
    missing = "" if readiness.is_ready else f" [{readiness.status}: {one_line(readiness.user_message(), most=200)}]"
    return deprecated + missing


def _rules(options: SessionOptions) -> list[str]:
    stay = (
        f"A loaded skill stays active for {options.ttl_turns} turns after its last use; load it again to keep it."
        if options.carry
        else "Skills do not carry across turns unless they are mentioned again."
    )
    return [
        "If the user names a skill (with $skill_name or in plain text), use that skill.",
        "If the task clearly matches a skill's description, you must use that skill.",
        "If several skills match, use all of them.",
        "Load a skill with capability_skill_load before you follow it; never act from its description alone.",
        stay,
        "Text behind $skill_name is the skill's ARGUMENTS.",
        NO_SKILL,
        MEMORY,
    ]


def _ordered(entries: Sequence[ListingEntry]) -> list[ListingEntry]:
    return sorted(entries, key=lambda each: (-each.priority, each.capability_id))


def _listed(entries: Sequence[ListingEntry], environment: Environment) -> list[str]:
    """The lines that fit."""
    lines: list[str] = []
    size = 0
    for entry in entries:
        notes = notes_of(entry, check_readiness(entry, environment))
        line = f"- {entry.capability_id}: {one_line(entry.description)}{notes}"
        size += len(line) + 1
        if size > LISTED_CHARACTERS_MAX:
            break
        lines.append(line)
    return lines
