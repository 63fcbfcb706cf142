"""Headings as CommonMark sees them."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from capability_rules.bundles.markdown_outline import parse_outline, plain_text

_COMMONMARK = MarkdownIt("commonmark")


def _reference(text: str) -> list[tuple[int, str]]:
    """The top-level headings by markdown-it-py."""
    tokens = _COMMONMARK.parse(text)
    return [
        (int(token.tag[1]), plain_text(" ".join(line.strip() for line in tokens[index + 1].content.split("\n"))))
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]


PIECES = (
    "# One|## Two ##|### Three #x|####### seven|#tag|text|more text|===|---|||```|```py|~~~|    # indented|   # three"
    "|- item|1. item|> quote|<!-- open|-->|<!-- # x -->|<div>|</div>|***|* * *|**bold**|  |\t# tab"
)
lines = st.sampled_from(PIECES.split("|"))


@settings(max_examples=400)
@given(st.lists(lines, max_size=10).map("\n".join))
@example("text\n---\n- a\n---\n")
@example("```\n# no\n~~~\n# no\n```\n# yes")
def test_headings_agree_with_commonmark(text: str) -> None:
    found = [(heading.level, heading.text) for heading in parse_outline(text).headings]
    expected = _reference(text)
    # Containers (lists, quotes) are not entered: what follows one inside of it is left to whoever renders.
    if not any(line.lstrip().startswith(("-", "1.", ">", "* ")) for line in text.split("\n")):
        assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# **Bold** and `code`", ["Bold and code"]),
        ("## snake_case stays", ["snake_case stays"]),
        ("Title\n=====", ["Title"]),
        ("Two\nlines\n---", ["Two lines"]),
        ("- item\n---", []),
        ("````\n# no\n```\n# no\n````\n# yes", ["yes"]),
        ("<!--\n# no\n-->\n# yes", ["yes"]),
        ("#no space", []),
    ],
)
def test_heading_text(text: str, expected: list[str]) -> None:
    assert [heading.text for heading in parse_outline(text).headings] == expected


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    found = parse_outline("# A\n## B\ntext\n### C\ndeep\n## D\n")
    b = found.headings[1]
    assert [line.text for line in found.section(b)] == ["text", "### C", "deep"]
    assert found.path_at(5) == ("A", "B", "C")
    assert found.has_text(b)
    assert not found.has_text(found.headings[3])


@pytest.mark.parametrize("piece", ["a\n", "a\n\n", "# a\n", "-\n", "<!-- x\n", "```\n", ">\n", "- a\n---\n"])
def test_a_file_of_one_mebibyte_is_scanned_in_linear_time(piece: str) -> None:
    small, large = parse_outline(piece * 1000), parse_outline(piece * 4000)
    assert len(large.texts) - 1 == (len(small.texts) - 1) * 4
