"""What YAML leaves out without a word is said, with its place; what YAML keeps is not remarked upon."""

from __future__ import annotations

import pytest

from capability_kit.bundles.front_matter import read_front_matter


def _remarks(source: str) -> list[tuple[str, tuple[str, ...], int, int]]:
    """Kind, path, line and column of each."""
    text = f"---\n{source}\n---\nText\n"
    return [
        (one.kind, one.path, text.count("\n", 0, one.offset) + 1, one.offset - text.rfind("\n", 0, one.offset))
        for one in read_front_matter(text).remarks
    ]


@pytest.mark.parametrize(
    ("source", "path", "line", "column"),
    [
        ("description: Use for tickets #billing and refunds", ("description",), 2, 30),
        ("description: Use for tickets\n  of #billing", ("description",), 3, 6),
        ("license: MIT # the file", ("license",), 2, 14),
        ("metadata:\n  a: b # c", ("metadata", "a"), 3, 8),
        ("triggers:\n  - log #weight", ("triggers",), 3, 9),
        ("description: &packing Use it", ("description",), 2, 14),
        ("description: !!str Use it", ("description",), 2, 14),
        ('description: "Reads C:\\temp"', ("description",), 2, 21),
    ],
)
def test_what_yaml_drops_is_said_at_its_place(source: str, path: tuple[str, ...], line: int, column: int) -> None:
    assert _remarks(source) == [("dropped", path, line, column)]


def test_an_alias_is_read_and_said_with_its_anchor() -> None:
    assert _remarks("a: &x b\nc: *x") == [("dropped", ("a",), 2, 4), ("dropped", ("c",), 3, 4)]
    assert read_front_matter("---\na: &x b\nc: *x\n---\n").values == {"a": "b", "c": "b"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("name: a\nname: b", ("lost_key", ("name",), 3, 1)),
        ("metadata:\n  a: b\n  a: c", ("lost_key", ("metadata", "a"), 4, 3)),
        ("a: b\n[c]: d", ("lost_key", (), 3, 1)),
        ("description: a --- b", ("odd", ("description",), 2, 16)),
        ("metadata: {a: b}", ("odd", ("metadata",), 2, 11)),
        ("description: =", ("odd", ("description",), 2, 14)),
    ],
)
def test_what_other_readers_refuse_is_said(source: str, expected: tuple[str, tuple[str, ...], int, int]) -> None:
    assert _remarks(source) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "priority: 100          # Highest, runs first",
        "tools:\n  - agent              # ask widgets",
        "# A line of its own\nname: a",
        "description: 'Use for tickets #billing'",
        "description: Use C#, issue#3 and a#b",
        "description: |\n  A # in a block",
        'description: "a" # said behind a quote',
        "description: 'C:\\temp'",
        "description: C:\\temp",
        "homepage: https://example.org/#a",
        "a & b: c",
        "description: a*b & c !d",
    ],
)
def test_what_yaml_keeps_is_not_remarked_upon(source: str) -> None:
    assert _remarks(source) == []
