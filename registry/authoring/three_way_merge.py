"""Two people changed one draft: what each changed since the text that both began with, and what they must choose.

A merge by lines. Where one of the two alone changed a place, that change is taken; where both did, differently,
a person has to choose one. Without the text that both are based on, every difference is a choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from capability_rules.validation import BUNDLE_FILES
from registry.catalog import drafts
from registry.catalog.drafts import SavedDraft
from registry.common.actors import Actor
from registry.common.errors import DraftConflict
from registry.models import Capability

Kind = Literal["same", "mine", "theirs", "conflict"]
Choice = Literal["mine", "theirs", "both"]
CHOICES: Final[tuple[Choice, ...]] = ("mine", "theirs", "both")
# What differs over more lines than this is one choice: comparing takes time that grows with the square. Lines that
# occur there again and again are skipped, for without that the time grows with the cube.
LINES_MAX: Final = 4000
CONFLICTS_MAX: Final = 100
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])(?=\s)|(?<=\n)")


@dataclass(frozen=True, slots=True)
class MergeChunk:
    """A stretch of whole lines. `kind` says who changed it; of `same`, `mine` and `theirs` are equal."""

    kind: Kind
    mine: str
    theirs: str

    @property
    def text(self) -> str:
        """What it comes to where nothing has to be chosen."""
        return self.theirs if self.kind == "theirs" else self.mine


def merge_texts(base: str | None, mine: str, theirs: str) -> tuple[MergeChunk, ...]:
    """The stretches of the two texts in order. `base` is what both are based on, None where that is unknown."""
    mine_lines, their_lines = mine.splitlines(keepends=True), theirs.splitlines(keepends=True)
    if base is None:
        found = list(_two_ways(mine_lines, their_lines))
    else:
        found = list(_three_ways(base.splitlines(keepends=True), mine_lines, their_lines))
    chunks = _joined(found)
    if sum(chunk.kind == "conflict" for chunk in chunks) > CONFLICTS_MAX:
        return (MergeChunk("conflict", mine, theirs),)
    return tuple(chunks)


def merge_files(
    base: Mapping[str, str], mine: Mapping[str, str], theirs: Mapping[str, str]
) -> dict[str, tuple[MergeChunk, ...]]:
    """The files that differ, each with its stretches. A file that `base` lacks is compared without one."""
    pairs = {name: (mine.get(name, ""), theirs.get(name, "")) for name in BUNDLE_FILES}
    return {name: merge_texts(base.get(name), one, other) for name, (one, other) in pairs.items() if one != other}


def resolve_conflicts(chunks: Sequence[MergeChunk], choices: Sequence[Choice]) -> str:
    """The text, with a choice for each conflict in order; mine where one is missing."""
    left, parts = list(choices), []
    for chunk in chunks:
        if chunk.kind != "conflict":
            parts.append(chunk.text)
            continue
        choice = left.pop(0) if left else "mine"
        parts.append({"mine": chunk.mine, "theirs": chunk.theirs, "both": _both(chunk)}[choice])
    return "".join(parts)


def merge_draft(
    *,
    capability_id: str,
    mine: Mapping[str, str],
    base: Mapping[str, str],
    choices: Mapping[str, Sequence[Choice]],
    based_on: int | None,
    by: Actor,
) -> SavedDraft:
    """Save the merge of these texts with the current draft, which must still be version `based_on`. Supporting
    files are not part of it: they stay what they are.

    `choices` has, by file, one for each conflict. Raises `DraftConflict` where the draft has changed again, and
    what `save_draft` raises.
    """
    capability = Capability.objects.filter(capability_id=capability_id).first()
    current = drafts.get_active_draft(capability) if capability is not None else None
    if (current.version if current else None) != based_on:
        theirs = current.files if current else {}
        raise DraftConflict(yours=dict(mine), theirs=theirs, draft_version=current.version if current else None)
    files = dict(mine)
    for name, chunks in merge_files(base, mine, current.files if current else {}).items():
        files[name] = resolve_conflicts(chunks, choices.get(name, ()))
    kept = {name: text for name, text in files.items() if text}
    return drafts.save_draft(
        capability_id=capability_id, files=kept, based_on=based_on, by=by, preserve_supporting_files_of=capability
    )


def _both(chunk: MergeChunk) -> str:
    """What both have, once, and where they differ mine before theirs: by sentences, for a paragraph is one line."""
    mine, theirs = _SENTENCE_END.split(chunk.mine), _SENTENCE_END.split(chunk.theirs)
    if len(mine) + len(theirs) > LINES_MAX:
        mine, theirs = [chunk.mine], [chunk.theirs]
    parts: list[str] = []
    for is_same, one, other in _compared(mine, theirs):
        parts += mine[slice(*one)]
        added = "" if is_same else "".join(theirs[slice(*other)])
        is_joined = not added or not parts or not parts[-1] or parts[-1].endswith("\n") or added[0].isspace()
        parts += [added] if is_joined else ["\n", added]
    return "".join(parts)


def _two_ways(mine: list[str], theirs: list[str]) -> Iterator[MergeChunk]:
    for is_same, one, other in _compared(mine, theirs):
        a, b = "".join(mine[slice(*one)]), "".join(theirs[slice(*other)])
        yield MergeChunk("same" if is_same else "conflict", a, b)


def _compared(one: list[str], other: list[str]) -> Iterator[tuple[bool, tuple[int, int], tuple[int, int]]]:
    """Stretches of lines that are equal, and those between them."""
    head = 0
    most = min(len(one), len(other))
    while head < most and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < most - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    ends = len(one) - tail, len(other) - tail
    yield True, (0, head), (0, head)
    if max(ends) - head > LINES_MAX:
        yield False, (head, ends[0]), (head, ends[1])
    else:
        matcher = SequenceMatcher(None, one[head : ends[0]], other[head : ends[1]])
        for tag, a, b, c, d in matcher.get_opcodes():
            yield tag == "equal", (a + head, b + head), (c + head, d + head)
    yield True, (ends[0], len(one)), (ends[1], len(other))


def _three_ways(base: list[str], mine: list[str], theirs: list[str]) -> Iterator[MergeChunk]:
    at_base = at_mine = at_theirs = 0
    for begin, end, begin_mine, begin_theirs in _common(base, mine, theirs):
        before = base[at_base:begin], mine[at_mine:begin_mine], theirs[at_theirs:begin_theirs]
        yield _judged(*("".join(lines) for lines in before))
        same = "".join(base[begin:end])
        yield MergeChunk("same", same, same)
        at_base, at_mine, at_theirs = end, begin_mine + end - begin, begin_theirs + end - begin
    yield _judged("".join(base[at_base:]), "".join(mine[at_mine:]), "".join(theirs[at_theirs:]))


def _judged(base: str, mine: str, theirs: str) -> MergeChunk:
    if mine == theirs:
        return MergeChunk("same", mine, theirs)
    if mine == base:
        return MergeChunk("theirs", mine, theirs)
    return MergeChunk("mine" if theirs == base else "conflict", mine, theirs)


def _common(base: list[str], mine: list[str], theirs: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """The stretches of `base` that are in both: begin, end, and where they begin in each of the two."""
    ours = [(a, b, c) for same, (a, b), (c, _) in _compared(base, mine) if same and b > a]
    others = [(a, b, c) for same, (a, b), (c, _) in _compared(base, theirs) if same and b > a]
    i = j = 0
    while i < len(ours) and j < len(others):
        begin, end = max(ours[i][0], others[j][0]), min(ours[i][1], others[j][1])
        if begin < end:
            yield begin, end, ours[i][2] + begin - ours[i][0], others[j][2] + begin - others[j][0]
        if ours[i][1] < others[j][1]:
            i += 1
        else:
            j += 1


def _joined(chunks: list[MergeChunk]) -> list[MergeChunk]:
    """The same stretches without empty ones, adjacent ones of one kind joined."""
    joined: list[MergeChunk] = []
    for chunk in chunks:
        if not chunk.mine and not chunk.theirs:
            continue
        if joined and joined[-1].kind == chunk.kind:
            last = joined.pop()
            joined.append(MergeChunk(chunk.kind, last.mine + chunk.mine, last.theirs + chunk.theirs))
        else:
            joined.append(chunk)
    return joined
