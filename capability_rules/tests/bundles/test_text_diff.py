"""Texts side by side: what is folded, what is marked, and where it ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capability_rules.bundles.text_diff import ROWS_MAX, DiffRow, FileDiff, diff_files


def _diff(before: str, after: str) -> FileDiff:
    (diff,) = diff_files({"skill.md": before}, {"skill.md": after})
    return diff


def _numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def _marked(row: DiffRow) -> tuple[list[str], list[str]]:
    return [piece.text for piece in row.old if piece.is_marked], [piece.text for piece in row.new if piece.is_marked]


def test_the_words_that_differ_are_marked() -> None:
    (block,) = _diff("Say it in one sentence.\n", "Say it in two sentences.\n").blocks
    (row,) = block.rows
    assert (row.kind, row.old_number, row.new_number) == ("changed", 1, 1)
    assert _marked(row) == (["one", "sentence"], ["two", "sentences"])


def test_lines_with_little_in_common_are_not_taken_apart() -> None:
    (row,) = _diff("alpha beta gamma\n", "7;8;9;10;11\n").blocks[0].rows
    assert _marked(row) == ([], [])


def test_the_unchanged_is_folded_but_for_what_is_around_a_change() -> None:
    before = _numbered(40)
    blocks = _diff(before, before.replace("line 20\n", "line twenty\n")).blocks
    assert [(block.is_folded, len(block.rows)) for block in blocks] == [(True, 16), (False, 7), (True, 17)]
    assert [row.kind for row in blocks[1].rows] == ["same"] * 3 + ["changed"] + ["same"] * 3


def test_a_short_stretch_is_not_folded() -> None:
    before = _numbered(12)
    blocks = _diff(before, before.replace("line 1\n", "x\n").replace("line 9\n", "y\n")).blocks
    assert [block.is_folded for block in blocks] == [False]


def test_lines_that_came_and_went() -> None:
    rows = _diff("a\nb\n", "a\n").blocks[0].rows
    assert [(row.kind, row.old_number, row.new_number) for row in rows] == [("same", 1, 1), ("removed", 2, None)]
    rows = _diff("", "a\n").blocks[0].rows
    assert [(row.kind, row.old, row.new_number) for row in rows] == [("added", (), 1)]


def test_no_more_than_a_page_is_shown() -> None:
    diff = _diff("a\n" * 5_000, "b\n" * 5_000)
    assert sum(len(block.rows) for block in diff.blocks) == ROWS_MAX
    assert diff.is_cut
    assert not _diff("a\n", "b\n").is_cut
    long = _diff("a\n" * 15_000, "b\n" * 15_000)
    assert (long.is_too_long, long.blocks) == (True, ())


_TEXT = st.lists(st.sampled_from(["a", "b c", "", "# T", "é ü", "  x"]), max_size=30).map("\n".join)


@given(before=_TEXT, after=_TEXT)
@settings(max_examples=200, deadline=None)
def test_both_texts_can_be_read_off_the_rows(before: str, after: str) -> None:
    for diff in diff_files({"skill.md": before}, {"skill.md": after}):
        rows = [row for block in diff.blocks for row in block.rows]
        old = ["".join(piece.text for piece in row.old) for row in rows if row.old_number is not None]
        new = ["".join(piece.text for piece in row.new) for row in rows if row.new_number is not None]
        assert old == before.removesuffix("\n").split("\n") if before else old == []
        assert new == after.removesuffix("\n").split("\n") if after else new == []
        numbers = [row.new_number for row in rows if row.new_number is not None]
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(
    ("file", "before", "lines", "folded"),
    [
        ("tools.json", "", 145, [(False, 40), (True, 105)]),
        ("tools.json", "", 80, [(False, 80)]),
        # Agents do what it says: every line of it is read.
        ("skill.md", "", 145, [(False, 145)]),
        ("tools.json", "old\n", 145, [(False, 145)]),
    ],
)
def test_a_long_new_file_of_data_is_folded_behind_its_first_lines(
    file: str, before: str, lines: int, folded: list[tuple[bool, int]]
) -> None:
    (diff,) = diff_files({file: before}, {file: "".join(f"line {number}\n" for number in range(lines))})
    assert [(block.is_folded, len(block.rows)) for block in diff.blocks][-2:] == folded
    assert not diff.is_cut
