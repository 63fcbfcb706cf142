"""skill.md as the checks see it: front matter, the text after it, its outline, and offsets into the whole file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from capability_kit.bundles.front_matter import FrontMatter, split_front_matter
from capability_rules.bundles.markdown_outline import Heading, MarkdownLine, Outline, parse_outline
from capability_rules.bundles.problem import RawFinding
from capability_rules.bundles.text import Lines

# No author writes a section twenty times; a hostile file has a hundred thousand.
SECTIONS_MAX: Final = 20


@dataclass(frozen=True)
class SkillDocument:
    """`text` is the whole normalized file; lines of the outline count from the first line of `skill_doc`."""

    text: str

    @cached_property
    def front_matter(self) -> FrontMatter:
        return split_front_matter(self.text)

    @property
    def skill_doc(self) -> str:
        return self.text[self.front_matter.body_offset :]

    @cached_property
    def outline(self) -> Outline:
        return parse_outline(self.skill_doc)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.skill_doc)

    @cached_property
    def title(self) -> Heading | None:
        return next((heading for heading in self.outline.headings if heading.level == 1), None)

    @cached_property
    def _headings_by_name(self) -> dict[str, list[Heading]]:
        found: dict[str, list[Heading]] = {}
        for heading in self.outline.headings:
            same = found.setdefault(heading.key, [])
            if len(same) < SECTIONS_MAX:
                same.append(heading)
        return found

    def headings_named(self, *names: str) -> list[Heading]:
        """The headings of these names at any level, compared without case; of each name the first SECTIONS_MAX."""
        return [heading for name in names for heading in self._headings_by_name.get(name.casefold(), [])]

    def sections(self, *names: str) -> list[Heading]:
        """The H2 headings of these names."""
        return [heading for heading in self.headings_named(*names) if heading.level == 2]

    def section_lines(self, *names: str) -> tuple[MarkdownLine, ...]:
        """The lines of every section of these names, in order; read once."""
        if names not in self._sections_read:
            found = (line for heading in self.sections(*names) for line in self.outline.section(heading))
            self._sections_read[names] = tuple(found)
        return self._sections_read[names]

    @cached_property
    def _sections_read(self) -> dict[tuple[str, ...], tuple[MarkdownLine, ...]]:
        return {}

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of an offset into `skill_doc`."""
        return self._lines.place(offset)

    def offset(self, line: int, column: int = 1) -> int:
        """The offset in the whole file of a place that counts from 1 in `skill_doc`."""
        return self.front_matter.body_offset + self._lines.start_of(line) + column - 1

    def problem(
        self, code: str, line: int, message: str, hint: str = "", *, column: int = 1, heading: bool = False
    ) -> RawFinding:
        """A finding at a line of `skill_doc`, with the headings above it as its path.

        `heading` says that the problem is about the section as a whole and points at its heading.
        """
        path = self.outline.path_at(line)
        column = _indent(self.outline.texts[line - 1]) + 1 if heading else column
        return RawFinding(code, "skill.md", path, message, hint, offset=self.offset(line, column))

    def headings_at(self, offset: int) -> tuple[str, ...]:
        """The texts of the headings above an offset of the whole file; none in the front matter."""
        inside = offset - self.front_matter.body_offset
        if inside < 0:
            return ()
        return self.outline.path_at(self._lines.place(inside)[0])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
