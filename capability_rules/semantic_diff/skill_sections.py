"""The instructions, section by section; the texts themselves are in the diff."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.markdown_outline import parse_outline
from capability_rules.semantic_diff.change import Change

FILE: Final = "skill.md"
_BEGINNING: Final = ""
_HEADING: Final = re.compile(r"^#{1,6} .*$", re.MULTILINE)
# As a reader counts: to the end of a line, or to a mark with a blank behind it. Markdown in front of it does not count.
_SENTENCE: Final = re.compile(r"[^\W_][^\n]*?(?:[.!?\u3002\uff01\uff1f](?=\s|$)|(?=\n|$))")


def compare_skill_sections(old: SkillBundle, new: SkillBundle) -> Iterator[Change]:
    """Sections that came, went or were rewritten, in the order of the new text."""
    before, after = _sections(old.skill_doc), _sections(new.skill_doc)
    for name, text in after.items():
        if name not in before:
            yield Change("changes", "", f"{_called(name)} is new", None, FILE)
        elif before[name] != text:
            yield Change("changes", "", _describe(name, before[name], text), None, FILE)
    for name in before:
        if name not in after:
            yield Change("changes", "", f"{_called(name)} is gone", None, FILE)


def _describe(name: str, old: str, new: str) -> str:
    """How many sentences came and went; a section of which none stayed was rewritten."""
    before, after = (Counter(_SENTENCE.findall(_HEADING.sub("", text))) for text in (old, new))
    added, removed = (after - before).total(), (before - after).total()
    if not before & after or not (added or removed):
        return f"{_called(name)} was rewritten" if added or removed else f"{_called(name)} has another layout or order"
    counts = [f"{_count(number)} {verb}" for number, verb in ((added, "added"), (removed, "removed")) if number]
    return f"{_called(name)}: {', '.join(counts)}"


def _count(number: int) -> str:
    return f"{number:,} sentence{'' if number == 1 else 's'}"


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
