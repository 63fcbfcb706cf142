"""Two versions of a bundle's texts, line by line: as a unified diff, and side by side with the words that differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Final, Literal

from capability_rules.bundles.problem import BUNDLE_FILES

DIFF_LINES_MAX: Final = 20_000
# More than anyone reads on a page; the files themselves can be downloaded.
ROWS_MAX: Final = 3_000
CONTEXT: Final = 3
NO_END: Final = "\\ No newline at end of file"
# A fold that hides less than this costs more than it saves.
_FOLD_FROM: Final = 4
# This many lines of a new file of data are read; the number of generated lines beyond them is reported elsewhere.
NEW_SHOWN: Final = 40
_TOKENS_MAX: Final = 400
_ALIKE_FROM: Final = 0.3
_TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")

RowKind = Literal["same", "changed", "removed", "added"]


@dataclass(frozen=True, slots=True)
class DiffSegment:
    """A part of a line; `is_marked` where the other side has something else."""

    text: str
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of each side, numbered from 1; None and nothing where a side has none."""

    kind: RowKind
    old_number: int | None
    new_number: int | None
    old: tuple[DiffSegment, ...]
    new: tuple[DiffSegment, ...]


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """Rows that follow one another; a folded one has nothing but unchanged lines, or the rest of a long new file."""

    is_folded: bool
    rows: tuple[DiffRow, ...]

    @property
    def is_new(self) -> bool:
        """Whether it has new lines."""
        return any(row.kind == "added" for row in self.rows)


@dataclass(frozen=True)
class FileDiff:
    """One file against an older one. `lines` are those of a unified diff; empty where nothing changed."""

    file: str
    lines: tuple[str, ...]
    before: str = ""
    after: str = ""

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines[2:])

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") for line in self.lines[2:])

    @property
    def is_too_long(self) -> bool:
        """Whether it is shown as replaced: there are no blocks then."""
        return _is_too_long(_lines(self.before), _lines(self.after))

    @cached_property
    def blocks(self) -> tuple[DiffBlock, ...]:
        """Side by side, unchanged stretches folded; at most `ROWS_MAX` rows, the first ones. A new file of data is
        folded behind its first lines; a skill doc never is, since agents do what it says."""
        if self.is_too_long:
            return ()
        left, blocks = ROWS_MAX, []
        for block in _blocks(_lines(self.before), _lines(self.after)):
            blocks.append(DiffBlock(block.is_folded, block.rows[:left]))
            left -= len(block.rows)
            if left <= 0:
                break
        return _new_folded(blocks[0].rows) if self._is_new_data and blocks else tuple(blocks)

    @property
    def _is_new_data(self) -> bool:
        return not self.before and self.file.endswith(".json")

    @property
    def is_cut(self) -> bool:
        """Whether there are more rows than `blocks` has."""
        return sum(len(block.rows) for block in self.blocks) >= ROWS_MAX


def diff_files(
    old: Mapping[str, str], new: Mapping[str, str], *, names: tuple[str, str] = ("published", "draft")
) -> tuple[FileDiff, ...]:
    """A diff for each file that differs, the bundle files first; `names` label the two sides in a unified one."""
    diffs = []
    for name in (*BUNDLE_FILES, *sorted({*old, *new} - {*BUNDLE_FILES})):
        before, after = old.get(name), new.get(name)
        if before != after:
            before, after = before or "", after or ""
            diffs.append(FileDiff(name, tuple(_unified(name, before, after, names)), before, after))
    return tuple(diffs)


def _unified(file: str, before: str, after: str, names: tuple[str, str]) -> list[str]:
    """difflib is quadratic on files that share little: past a size the whole file is shown as replaced."""
    old, new = _lines(before), _lines(after)
    head = [f"--- {names[0]}/{file}", f"+++ {names[1]}/{file}"]
    if _is_too_long(old, new):
        return [*head, f"@@ {len(old)} lines replaced by {len(new)} @@"]
    return list(difflib.unified_diff(old, new, head[0][4:], head[1][4:], lineterm=""))


def _is_too_long(old: list[str], new: list[str]) -> bool:
    return len(old) + len(new) > DIFF_LINES_MAX


def _lines(text: str) -> list[str]:
    """The lines of a file; an absent one has none, and a last line without a line break differs from one with it."""
    *lines, rest = text.split("\n")
    return [*lines, rest, NO_END] if rest else lines


def _number(lines: list[str], index: int) -> int | None:
    """The number of a line, from 1; that a text does not end with one is none."""
    return None if index == len(lines) - 1 and lines[index] == NO_END else index + 1


def _new_folded(rows: tuple[DiffRow, ...]) -> tuple[DiffBlock, ...]:
    if len(rows) <= 2 * NEW_SHOWN:
        return (DiffBlock(is_folded=False, rows=rows),)
    return DiffBlock(is_folded=False, rows=rows[:NEW_SHOWN]), DiffBlock(is_folded=True, rows=rows[NEW_SHOWN:])


def _blocks(old: list[str], new: list[str]) -> Iterator[DiffBlock]:
    opcodes = difflib.SequenceMatcher(None, old, new).get_opcodes()
    shown: list[DiffRow] = []
    for place, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag != "equal":
            shown += _changed(old, new, range(i1, i2), range(j1, j2))
            continue
        same = [_same(old, new, i, j) for i, j in zip(range(i1, i2), range(j1, j2), strict=True)]
        head = CONTEXT if place > 0 else 0
        tail = CONTEXT if place < len(opcodes) - 1 else 0
        hidden = same[head : len(same) - tail]
        if len(hidden) < _FOLD_FROM:
            shown += same
            continue
        if shown or head:
            yield DiffBlock(False, (*shown, *same[:head]))  # noqa: FBT003 (a field)
        yield DiffBlock(True, tuple(hidden))  # noqa: FBT003 (as above)
        shown = same[len(same) - tail :] if tail else []
    if shown:
        yield DiffBlock(False, tuple(shown))  # noqa: FBT003 (as above)


def _same(old: list[str], new: list[str], i: int, j: int) -> DiffRow:
    return DiffRow("same", _number(old, i), _number(new, j), (DiffSegment(old[i]),), (DiffSegment(new[j]),))


def _changed(old: list[str], new: list[str], gone: range, came: range) -> Iterator[DiffRow]:
    """Lines that replace one another are beside each other, as far as both sides go."""
    for i, j in zip_longest(gone, came):
        if j is None:
            yield DiffRow("removed", _number(old, i), None, (DiffSegment(old[i]),), ())
        elif i is None:
            yield DiffRow("added", None, _number(new, j), (), (DiffSegment(new[j]),))
        else:
            before, after = _marked(old[i], new[j])
            yield DiffRow("changed", _number(old, i), _number(new, j), before, after)


def _marked(old: str, new: str) -> tuple[tuple[DiffSegment, ...], tuple[DiffSegment, ...]]:
    """Both lines in pieces; lines that have little in common are not taken apart."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(before) > _TOKENS_MAX or len(after) > _TOKENS_MAX:
        return (DiffSegment(old),), (DiffSegment(new),)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE_FROM:
        return (DiffSegment(old),), (DiffSegment(new),)
    left, right = [], []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        left.append(DiffSegment("".join(before[i1:i2]), tag != "equal"))
        right.append(DiffSegment("".join(after[j1:j2]), tag != "equal"))
    return tuple(piece for piece in left if piece.text), tuple(piece for piece in right if piece.text)
