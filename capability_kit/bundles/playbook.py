"""The skill doc of a playbook as structure, and back to the same text (docs/requirements.md D).

Writing returns the original text byte for byte: each part keeps the text it was read from, markup included, and its
properties (`number`, `do`, `check`, ...) are read from there. Create new parts with `Step.of` and
`PlaybookDoc.of`, changed ones with `dataclasses.replace`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Kind = Literal["text", "do", "check", "say"]
_MARKS: Final[dict[str, Kind]] = {"Do": "do", "Check": "check", "Say": "say"}

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?\n?$")
_NUMBER: Final = re.compile(r"(?:step\s*)?([0-9]{1,6})\s*[.:)\u2013-]?\s*", re.IGNORECASE)
_MARK: Final = re.compile(r"(?i)\s*(?:[-*+]\s+)?(?:\*\*|__)(do|check|say)\s*(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a step: `kind`, and its text with the mark and the line ends as they were written."""

    kind: Kind
    text: str

    @property
    def words(self) -> str:
        """The text without the mark."""
        return (_MARK.sub("", self.text, count=1) if self.kind != "text" else self.text).strip()


@dataclass(frozen=True, slots=True)
class PlaybookStep:
    """One H3 below Steps: `heading` is its line, `parts` what follows."""

    heading: str
    parts: tuple[Part, ...] = ()

    @staticmethod
    def of(number: int, title: str, *, do: str, check: str = "", say: str = "") -> PlaybookStep:
        """A step from its words; Check and Say are left out where they are empty."""
        said = {"Do": do, "Check": check, "Say": say}
        parts = [Part(_MARKS[mark], f"**{mark}:** {words.strip()}\n") for mark, words in said.items() if words.strip()]
        gap = Part("text", "\n")
        return PlaybookStep(f"### {number}. {' '.join(title.split())}\n", (gap, *parts, gap))

    @property
    def number(self) -> int | None:
        """As the author numbered it; None without a number."""
        found = _NUMBER.match(_heading_text(self.heading))
        return int(found[1]) if found else None

    @property
    def title(self) -> str:
        """Its heading without the number."""
        return _NUMBER.sub("", _heading_text(self.heading), count=1).strip()

    @property
    def do(self) -> str:
        """What the agent does; empty where the step does not say it."""
        return self.said("do")

    @property
    def check(self) -> str:
        """What must hold afterwards; empty where the step does not say it."""
        return self.said("check")

    @property
    def say(self) -> str:
        """What the agent tells the user; empty where the step does not say it."""
        return self.said("say")

    def said(self, kind: Kind) -> str:
        """The words of all parts of a kind, one paragraph each; empty where there is none."""
        return "\n\n".join(part.words for part in self.parts if part.kind == kind and part.words)

    def markdown(self) -> str:
        """The lines of this step, as they stand in skill.md."""
        return self.heading + "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class PlaybookSection:
    """One H2: `heading` is its line, `text` all up to its first step, `steps` those of the section Steps alone."""

    heading: str
    text: str
    steps: tuple[PlaybookStep, ...] = ()

    @property
    def name(self) -> str:
        """Its heading without the signs of Markdown."""
        return _heading_text(self.heading)

    def markdown(self) -> str:
        """The lines of this section, as they stand in skill.md."""
        return self.heading + self.text + "".join(step.markdown() for step in self.steps)


@dataclass(frozen=True, slots=True)
class PlaybookDoc:
    """`before` is all up to the first H2: the title, and lines of the author below it."""

    before: str
    sections: tuple[PlaybookSection, ...] = ()

    @staticmethod
    def read(text: str) -> PlaybookDoc:
        """Any text; `read(text).markdown()` is the text again."""
        before, sections = _split(text, level=2)
        return PlaybookDoc(before, tuple(_section(heading, body) for heading, body in sections))

    @staticmethod
    def of(
        title: str,
        *,
        goal: str,
        prerequisites: Iterable[str],
        steps: Sequence[PlaybookStep],
        edge_cases: Iterable[str],
        escalation: str,
    ) -> PlaybookDoc:
        """A playbook with the five sections that the profile asks for."""
        texts = (("Goal", goal), ("Prerequisites", _list(prerequisites)), ("Steps", None))
        after = (("Edge Cases", _list(edge_cases)), ("Escalation", escalation))
        sections = [
            PlaybookSection(
                f"## {name}\n", "\n" if text is None else f"\n{text.strip()}\n\n", tuple(steps) if text is None else ()
            )
            for name, text in (*texts, *after)
        ]
        return PlaybookDoc(f"# {' '.join(title.split())}\n\n", tuple(sections))

    @property
    def steps(self) -> tuple[PlaybookStep, ...]:
        """The steps of all sections, in their order in the text."""
        return tuple(step for section in self.sections for step in section.steps)

    def section(self, name: str) -> PlaybookSection | None:
        """The first of that name, in any case of letters."""
        return next((one for one in self.sections if one.name.casefold() == name.casefold()), None)

    def markdown(self) -> str:
        """The whole text; what `read` was given, byte for byte."""
        return self.before + "".join(section.markdown() for section in self.sections)

    def as_dict(self) -> dict[str, object]:
        """`{"before", "sections": [{"heading", "text", "steps": [{"heading", "parts": [{"kind", "text"}]}]}]}`."""
        return {"before": self.before, "sections": [_section_dict(section) for section in self.sections]}

    @staticmethod
    def from_dict(document: dict[str, object]) -> PlaybookDoc:
        """From `as_dict`. Raises `KeyError` and `TypeError` for anything else."""
        given: dict[str, Any] = document
        return PlaybookDoc(
            given["before"],
            tuple(
                PlaybookSection(one["heading"], one["text"], tuple(_step_of(step) for step in one["steps"]))
                for one in given["sections"]
            ),
        )


def _section(heading: str, body: str) -> PlaybookSection:
    if _heading_text(heading).casefold() != "steps":
        return PlaybookSection(heading, body)
    text, steps = _split(body, level=3)
    return PlaybookSection(heading, text, tuple(PlaybookStep(line, tuple(_parts(below))) for line, below in steps))


def _split(text: str, *, level: int) -> tuple[str, list[tuple[str, str]]]:
    """The text before the first heading of a level, then each heading with the text below it."""
    before: list[str] = []
    found: list[tuple[str, list[str]]] = []
    for line, is_fenced in mark_fences(_LINE.findall(text)):
        heading = None if is_fenced else _HEADING.match(line)
        if heading and len(heading[1]) == level:
            found.append((line, []))
        else:
            (found[-1][1] if found else before).append(line)
    return "".join(before), [(heading, "".join(body)) for heading, body in found]


def _parts(text: str) -> Iterator[Part]:
    """Each mark begins a part, which ends where the next one begins."""
    kind: Kind = "text"
    held: list[str] = []
    for line, is_fenced in mark_fences(_LINE.findall(text)):
        mark = None if is_fenced else _MARK.match(line)
        if mark:
            if held:
                yield Part(kind, "".join(held))
            kind, held = _MARKS[mark[1].capitalize()], []
        held.append(line)
    if held:
        yield Part(kind, "".join(held))


def mark_fences(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to fenced code."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            yield line, True
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        else:
            fence = found[1] if found else ""
            yield line, bool(found)


def _heading_text(line: str) -> str:
    found = _HEADING.match(line)
    return (found[2] or "").strip() if found else line.strip()


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(item.split())}" for item in items)


def _section_dict(section: PlaybookSection) -> dict[str, Any]:
    steps = [
        {"heading": step.heading, "parts": [{"kind": part.kind, "text": part.text} for part in step.parts]}
        for step in section.steps
    ]
    return {"heading": section.heading, "text": section.text, "steps": steps}


def _step_of(step: dict[str, Any]) -> PlaybookStep:
    return PlaybookStep(step["heading"], tuple(Part(part["kind"], part["text"]) for part in step["parts"]))
