"""skill.md as the checks see it: front matter, the text after it, its outline, and offsets into the whole file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from registry.validation.front_matter import FrontMatter, split
from registry.validation.markdown import Heading, Line, Outline, outline
from registry.validation.problems import Problem
from registry.validation.texts import Lines


@dataclass(frozen=True)
class SkillText:
    """`text` is the whole normalised file; lines of the outline count from the first line of `skill_doc`."""

    text: str

    @cached_property
    def front_matter(self) -> FrontMatter:
        return split(self.text)

    @property
    def skill_doc(self) -> str:
        return self.text[self.front_matter.body_offset :]

    @cached_property
    def outline(self) -> Outline:
        return outline(self.skill_doc)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.skill_doc)

    @cached_property
    def title(self) -> Heading | None:
        """The first H1."""
        return next((heading for heading in self.outline.headings if heading.level == 1), None)

    def sections(self, *names: str) -> list[Heading]:
        """The H2 headings of these names, compared without case."""
        keys = {name.casefold() for name in names}
        return [heading for heading in self.outline.headings if heading.level == 2 and heading.key in keys]

    def section_lines(self, *names: str) -> Iterator[Line]:
        """The lines of every section of these names, in order."""
        for heading in self.sections(*names):
            yield from self.outline.section(heading)

    def offset(self, line: int, column: int = 1) -> int:
        """The offset in the whole file of a place that counts from 1 in `skill_doc`."""
        return self.front_matter.body_offset + self._lines.start_of(line) + column - 1

    def problem(
        self, code: str, line: int, message: str, hint: str = "", *, column: int = 1, heading: bool = False
    ) -> Problem:
        """A problem at a line of `skill_doc`, with the headings that it stands under as its path.

        `heading` says that the problem is about the section as a whole and points at its heading.
        """
        path = self.outline.path_at(line)
        column = _indent(self.outline.texts[line - 1]) + 1 if heading else column
        return Problem(code, "skill.md", path, message, hint, offset=self.offset(line, column))

    def headings_at(self, offset: int) -> tuple[str, ...]:
        """The texts of the headings that an offset of the whole file stands under; none in the front matter."""
        inside = offset - self.front_matter.body_offset
        if inside < 0:
            return ()
        return self.outline.path_at(self._lines.place(inside)[0])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
