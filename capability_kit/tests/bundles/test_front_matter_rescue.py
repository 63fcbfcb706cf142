"""A front matter that is not YAML is read by its lines, as its author meant it."""

from __future__ import annotations

from typing import Any

import pytest

from capability_kit.bundles.front_matter import FrontMatter, read_front_matter
from tests.sweeps import check_each


def _read(source: str) -> FrontMatter:
    return read_front_matter(f"---\n{source}\n---\nText\n")


# What follows `description:`, and the value that its author meant.
TEXTS: list[tuple[str, str]] = [
    ("Use when: it breaks", "Use when: it breaks"),
    ("Use when: the user\n  asks for: a\n  wrapped: text", "Use when: the user asks for: a wrapped: text"),
    ("Use this when\n  Note: the user asks", "Use this when Note: the user asks"),
    ("Use when: the user\nasks for a text at the left edge", "Use when: the user asks for a text at the left edge"),
    (
        "Use this when the user asks for: something that is\nwrapped and then: more",
        "Use this when the user asks for: something that is wrapped and then: more",
    ),
    ("Use when: one\n\n  Second: paragraph", "Use when: one\nSecond: paragraph"),
    ("!important Use this", "!important Use this"),
    ("!important Use this\n  and: that", "!important Use this and: that"),
    ("*bold* words", "*bold* words"),
    ("[one] [two]", "[one] [two]"),
    ("@mention first", "@mention first"),
    ("`code` first", "`code` first"),
    ("%percent", "%percent"),
    ("Use for tickets #billing and\n  refunds", "Use for tickets #billing and refunds"),
    ('"Use "x" for y"', 'Use "x" for y'),
    ('"Reads C:\\pack and C:\\new"', "Reads C:\\pack and C:\\new"),
    ('"She said \\"hi\\" in C:\\pack"', 'She said "hi" in C:\\pack'),
    ('"quoted" and more', '"quoted" and more'),
    ('"quoted" and "more"', '"quoted" and "more"'),
    ("'it's here'", "it's here"),
    ('"not closed', "not closed"),
    ("'tis not closed: either", "'tis not closed: either"),
    ("|\n  Block: text\nat the edge", "Block: text\nat the edge\n"),
    (">\n  Folded\n  text\nat the edge", "Folded text at the edge\n"),
]


def test_a_value_that_is_not_yaml_is_the_text_that_stands_there() -> None:
    def check(cell: tuple[str, str]) -> None:
        written, meant = cell
        for source in (
            f"name: a\ndescription: {written}\nlicense: MIT",
            f"license: MIT\nname: a\ndescription: {written}",
        ):
            found = _read(source)
            assert found.values == {"name": "a", "description": meant, "license": "MIT"}
            assert [(remark.kind, remark.path) for remark in found.remarks] == [("rescued", ("description",))]
            assert source.splitlines()[f"---\n{source}"[: found.remarks[0].offset].count("\n") - 1].startswith("desc")

    check_each(TEXTS, check)


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("metadata:\n  author: Ann: Bob\n  tags:\n    - a: b: c\n    - d", {"metadata": {"author": "Ann: Bob", "tags": [{"a": "b: c"}, "d"]}}),  # noqa: E501
        ('triggers:\n  - "open\n  - second: one: two\n    third: four', {"triggers": ["open", {"second": "one: two", "third": "four"}]}),  # noqa: E501
        ("metadata:\n\tauthor: Ann\n\tteam: tea", {"metadata": {"author": "Ann", "team": "tea"}}),
        ("name:a\ndescription:Use it", {"name": "a", "description": "Use it"}),
        ("name\uff1a a\ndescription\uff1aUse it", {"name": "a", "description": "Use it"}),
        ("argument hint: [x] [y]\nos: linux", {"argument hint": "[x] [y]", "os": "linux"}),
        ("first: [\nsecond: &a b\nthird: *a", {"first": "[", "second": "b", "third": "*a"}),
        ('"quoted key": a: b', {"quoted key": "a: b"}),
    ],
)  # fmt: skip
def test_what_is_nested_or_nearly_a_key_is_read_too(source: str, values: dict[str, Any]) -> None:
    found = _read(source)
    assert found.values == values
    assert "rescued" in {remark.kind for remark in found.remarks}


@pytest.mark.parametrize("source", ["[", "- a", "just a text", "a: b: c\n\nA paragraph of a text.\n\nAnother one."])
def test_what_has_no_keys_or_is_a_text_is_not_rescued(source: str) -> None:
    found = _read(source)
    assert found.values == {}
    assert len(found.faults) == 1


def test_tabs_are_named_where_every_value_is_yaml_by_itself() -> None:
    (remark,) = _read("metadata:\n\ta: b").remarks
    assert (remark.kind, remark.offset) == ("rescued", len("---\nmetadata:\n"))
    assert "tabs" in remark.hint or "spaces" in remark.hint
