"""The instructions, section by section; the texts themselves are in the diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.markdown_outline import parse_outline
from capability_rules.semantic_diff.change import Change

FILE: Final = "skill.md"
_BEGINNING: Final = ""


def compare_skill_sections(old: SkillBundle, new: SkillBundle) -> Iterator[Change]:
    """Sections that came, went or were rewritten, in the order of the new text."""
    before, after = _sections(old.skill_doc), _sections(new.skill_doc)
    for name, text in after.items():
        if name not in before:
            yield Change("changes", "", f"{_called(name)} is new", None, FILE)
        elif before[name] != text:
            yield Change("changes", "", f"{_called(name)} was rewritten", None, FILE)
    for name in before:
        if name not in after:
            yield Change("changes", "", f"{_called(name)} is gone", None, FILE)


def _called(name: str) -> str:
    return f"The section “{name[:80]}”" if name else "The beginning of the instructions"


def _sections(text: str) -> dict[str, str]:
    """`{H2: the text below it}`; a name that appears twice has both texts. The text before the first is ""."""
    found = parse_outline(text)
    starts = [(heading.line, heading.text) for heading in found.headings if heading.level == 2]
    sections = {_BEGINNING: "\n".join(found.texts[: starts[0][0] - 1] if starts else found.texts).strip()}
    ends = [line - 1 for line, _ in starts[1:]] + [len(found.texts)]
    for (line, name), end in zip(starts, ends, strict=False):
        sections[name] = (sections.get(name, "") + "\n" + "\n".join(found.texts[line:end])).strip()
    return {name: body for name, body in sections.items() if name or body}
