"""Which sections skill.md must have, by profile (docs/contract.md 1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from capability_kit.bundles.confidence_header import OWN_CONFIDENCE
from capability_rules.bundles.markdown_outline import Heading
from capability_rules.bundles.problem import RawFinding, collect_findings
from capability_rules.bundles.scaffolds import PLACEHOLDERS
from capability_rules.bundles.skill_document import SkillDocument


@dataclass(frozen=True, slots=True)
class SectionRule:
    """A required H2 section: the name to write, other names that count, what belongs under it."""

    name: str
    hint: str
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.also)


DEFAULT_BEHAVIOR: Final = SectionRule(
    "Default behavior", "Describe the usual steps.",
    ("Default behaviour", "Defaults", "Instructions"),
)  # fmt: skip
TOOLS: Final = SectionRule("Tools", "Say when to use each tool, by its name in backticks.")
UI: Final = SectionRule("UI", "Say when to open each form, by its ID in backticks.")
CAPABILITY: Final = (
    SectionRule("When to use", "Say which requests lead here."),
    DEFAULT_BEHAVIOR,
    SectionRule("Examples", "Show what a user says and what the agent does."),
)
PLAYBOOK: Final = (
    SectionRule("Goal", "Say in one sentence what this playbook accomplishes."),
    SectionRule("Prerequisites", "List what must be true before the first step."),
    SectionRule("Steps", "Write numbered steps: ### 1. What to do, with Do, Check and Say."),
    SectionRule("Edge Cases", "Say what to do instead where a step does not fit."),
    SectionRule("Escalation", "Say when to hand over to a person, and with what."),
)
RUNBOOK: Final = (
    SectionRule("Meaning", "Say what the alert means."),
    SectionRule("Impact", "Say who is affected and how badly."),
    SectionRule("Diagnosis", "Say how to find the cause."),
    SectionRule("Mitigation", "Say how to make it stop."),
)
WITHOUT_TITLE: Final = ("agent_skill", "runbook")


# As a quick fix wrote it once, into drafts that are still there.
_EARLIER_TOOLS_HINT: Final = "Say when to use each tool, by its name in backticks: `order_list`."
SAMPLES: Final = (
    PLACEHOLDERS | {section.hint for section in (*CAPABILITY, *PLAYBOOK, *RUNBOOK, TOOLS, UI)} | {_EARLIER_TOOLS_HINT}
)


def required_sections(profile: str, tools: list[Any], ui_schemas: list[Any]) -> tuple[SectionRule, ...]:
    """The sections that a profile demands, given what else is in the bundle."""
    if profile == "playbook":
        return PLAYBOOK
    if profile == "runbook":
        return RUNBOOK
    if profile == "agent_skill":
        return ()
    return (*CAPABILITY, *([TOOLS] if tools else []), *([UI] if ui_schemas else []))


def list_sections(profile: str) -> tuple[SectionRule, ...]:
    """All that a profile can demand, in the order in which they are written."""
    return required_sections(profile, [None], [None])


def guess_profile(skill: SkillDocument) -> str:
    """The profile with the most sections present: for a bundle whose capability.json could not be read."""
    candidates = {"capability": CAPABILITY, "playbook": PLAYBOOK, "runbook": RUNBOOK}
    return max(candidates, key=lambda profile: sum(bool(skill.sections(*one.names)) for one in candidates[profile]))


def check_sections(skill: SkillDocument, profile: str, tools: list[Any], ui_schemas: list[Any]) -> list[RawFinding]:
    """The H1, the required sections and, for a playbook, its steps."""
    if profile == "agent_skill" and not skill.skill_doc.strip():
        hint = "Write below the front matter what the agent should do."
        return [RawFinding("SKILL_EMPTY", "skill.md", (), "skill.md has no text", hint)]
    problems = [] if profile in WITHOUT_TITLE else collect_findings(_check_title(skill))
    near = NearHeadings(skill)
    for section in required_sections(profile, tools, ui_schemas):
        problems += _check_section(skill, section, near)
    if profile == "playbook":
        problems += collect_findings(_check_steps(skill), _check_own_confidence(skill))
    return problems + collect_findings(_check_placeholders(skill))


def _check_own_confidence(skill: SkillDocument) -> Iterator[RawFinding]:
    """How far a playbook is trusted is counted by the registry, never said by its author."""
    for line in skill.outline.lines(1, len(skill.outline.texts)):
        if line.kind == "text" and OWN_CONFIDENCE.match(line.text):
            message = f"'{line.text.strip()[:80]}' says how far the playbook is trusted"
            hint = "Take the line out: the registry counts the confidence and gives it to agents beside the text."
            yield skill.problem("CONFIDENCE_STATED", line.number, message, hint)


def _check_placeholders(skill: SkillDocument) -> Iterator[RawFinding]:
    """What a new draft, or a quick fix, put there to be replaced."""
    for line in skill.outline.lines(1, len(skill.outline.texts)):
        words = line.text.strip()
        if line.kind == "text" and words in SAMPLES:
            message = f"Sample text is left: '{words[:80]}'"
            yield skill.problem("PLACEHOLDER_LEFT", line.number, message, "Replace or delete this line.")


def _check_title(skill: SkillDocument) -> Iterator[RawFinding]:
    if skill.title is None:
        hint = "Begin with a line such as: # Weight tracking"
        yield RawFinding("TITLE_MISSING", "skill.md", (), "There is no H1 title", hint)
        return
    for heading in skill.outline.headings:
        if heading.level == 1 and heading is not skill.title:
            message = f"A second H1: '{heading.text[:80]}'"
            yield skill.problem("TITLE_DUPLICATE", heading.line, message, "Make it an H2: ##", heading=True)


def _check_section(skill: SkillDocument, section: SectionRule, near: NearHeadings) -> list[RawFinding]:
    found = skill.sections(*section.names)
    if not found:
        return [_missing(skill, section, near)]
    if any(skill.outline.has_text(heading) for heading in found):
        return []
    message = f"The section '{found[0].text}' is empty"
    return [skill.problem("SECTION_EMPTY", found[0].line, message, section.hint, heading=True)]


def _missing(skill: SkillDocument, section: SectionRule, near: NearHeadings) -> RawFinding:
    message = f"The section '{section.name}' is missing"
    elsewhere = next(iter(skill.headings_named(*section.names)), None)
    hint = f"Add a line '## {section.name}' with text under it. {section.hint}"
    almost = near.find(section.names)
    if elsewhere is not None:
        hint = f"Line {skill_line(skill, elsewhere.line)} has it as an H{elsewhere.level}: make it an H2 (##)."
    elif almost is not None:
        line, text = almost
        hint = f"Line {skill_line(skill, line)} nearly is it: write '## {section.name}' in place of '{text[:80]}'."
    if skill.title is None:
        return RawFinding("SECTION_MISSING", "skill.md", (), message, hint, subject=section.name)
    problem = skill.problem("SECTION_MISSING", skill.title.line, message, hint, heading=True)
    return replace(problem, subject=section.name)


def skill_line(skill: SkillDocument, line: int) -> int:
    """The line of the whole file for one of `skill_doc`."""
    return line + skill.text[: skill.front_matter.body_offset].count("\n")


class NearHeadings:
    """Lines that are nearly a heading of a name: numbered, with a colon, bold, or without the space behind `##`."""

    def __init__(self, skill: SkillDocument) -> None:
        self._skill = skill

    def find(self, names: Sequence[str]) -> tuple[int, str] | None:
        """The line in `skill_doc`, and its text, that is nearest to one of these names; None where none is near."""
        for name in names:
            found = self._by_name.get(name.casefold())
            if found is not None:
                return found
        wanted = {name.casefold() for name in names}
        longer = (line for key, line in self._by_name.items() if any(key.startswith(f"{name} ") for name in wanted))
        return next(longer, None)

    @cached_property
    def _by_name(self) -> dict[str, tuple[int, str]]:
        """The first line of each name; read once, and only where a section is missing."""
        outline = self._skill.outline
        found: dict[str, tuple[int, str]] = {}
        headings = {heading.line for heading in outline.headings}
        for line in outline.lines(1, len(outline.texts)):
            text = line.text.strip()
            is_heading = line.number in headings
            if is_heading or (line.kind == "text" and _LIKE_HEADING.match(text)):
                found.setdefault(_DECORATION.sub("", text).strip(" *_#:.!").casefold(), (line.number, text))
        return found


# A line that its author may have meant as a heading, and what stands before the name in one.
_LIKE_HEADING: Final = re.compile(r"#{1,6}\S.{0,100}\Z|(?:\*\*|__).{1,100}(?:\*\*|__):?\Z|[^\s-].{0,60}:\Z")
_DECORATION: Final = re.compile(r"\A[\s#*_]*(?:(?:[0-9]{1,3}|[IVX]{1,4})[.):]?\s+)?[^\w\s`]*\s*")


_NUMBERED: Final = re.compile(r"(?:step\s*)?[0-9]+\s*[.:)\u2013-]?", re.IGNORECASE)
# The marks of a step, each with the code of one that is missing and what is written behind it.
_MARKS: Final = {
    "Do": ("STEP_DO_MISSING", "what the agent does"),
    "Check": ("STEP_CHECK_MISSING", "what must be true before going on"),
    "Say": ("STEP_SAY_MISSING", "what to tell the customer"),
}


def _check_steps(skill: SkillDocument) -> Iterator[RawFinding]:
    for heading in skill.sections("Steps")[:1]:
        steps = [deeper for deeper in skill.outline.inside(heading) if deeper.level == 3]
        if not any(_NUMBERED.match(step.text) for step in steps):
            hint = "Write each step as an H3 with its number: ### 1. Look up the invoice"
            yield skill.problem("STEPS_MISSING", heading.line, "Steps has no numbered steps", hint, heading=True)
        for step in steps:
            yield from _check_step(skill, step)


def _check_step(skill: SkillDocument, step: Heading) -> Iterator[RawFinding]:
    if not _NUMBERED.match(step.text):
        message = f"The step '{step.text[:60]}' has no number"
        hint = "Begin it with its number: ### 1. ..."
        yield skill.problem("STEP_NOT_NUMBERED", step.line, message, hint, heading=True)
    text = "\n".join(line.text for line in skill.outline.section(step) if line.kind != "comment")
    for word, (code, meaning) in _MARKS.items():
        if not re.search(rf"(?:\*\*|__){word}\s*(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)", text, re.IGNORECASE):
            message = f"The step '{step.text[:60]}' has no **{word}:**"
            yield skill.problem(code, step.line, message, f"Write {meaning}: **{word}:** ...", heading=True)
