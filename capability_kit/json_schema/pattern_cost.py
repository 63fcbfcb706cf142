"""Analyzes an untrusted `pattern` before anything runs it: is it valid, and what would compiling it cost?

The syntax is ECMA-262, with the u flag or without (Annex B included), plus Python's named groups. No engine is used: a
pattern of 18 KB can keep one busy for a minute while it compiles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

# One unit is what a letter takes to compile, about 0.1 microseconds. A pattern past this is not compiled.
COST_MAX: Final = 100_000
# What all different patterns that are compiled together may cost: about half a second.
COST_IN_ALL_MAX: Final = 3_000_000
CHARACTERS_MAX: Final = 20_000

Need = Literal["", "look-around", "a back-reference"]

_PAIR: Final = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_CODE: Final = rf"{_PAIR}|\\u[0-9a-fA-F]{{4}}|\\u\{{[0-9a-fA-F]+\}}|\\x[0-9a-fA-F]{{2}}"
_TOKEN: Final = re.compile(
    rf"""
    (?P<letters>[^\\\[()|*+?{{^$.]+)
    | (?P<class>\[\^?(?:\\[\s\S]|[^\]\\])*+\])
    | (?P<named_back>\\k<(?P<back>[^>]*)>|\(\?P=(?P<python_back>\w+)\))
    | (?P<edge>[\^$]|\\[bB])
    | (?P<escape>{_CODE}|\\[pP]\{{[^}}]*\}}|\\c[A-Za-z]|\\[\s\S])
    | (?P<repeat>[*+?]\??|\{{(?P<least>[0-9]+)(?P<comma>,)?(?P<most>[0-9]*)\}}\??)
    | (?P<look>\(\?(?P<behind><)?[=!])
    | (?P<flags>\(\?[imsxuU]+(?:-[imsxuU]+)?\))
    | (?P<named>\(\?P?<(?P<name>[^\W0-9][\w$]*)>)
    | (?P<open>\((?:\?[imsxuU]*(?:-[imsxuU]+)?:|(?!\?)))
    | (?P<close>\))
    | (?P<bar>\|)
    | (?P<other>[.{{])
    """,
    re.VERBOSE,
)
_ITEM: Final = re.compile(rf"{_CODE}|\\[pP]\{{[^}}]*\}}|\\c[A-Za-z]|[^\\]|\\[\s\S]", re.DOTALL)
_CONTROLS: Final = {"b": 8, "0": 0, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_ANY, _SHORTHAND, _PROPERTY = 30, 25, 1000


@dataclass(frozen=True, slots=True)
class PatternText:
    """`fault` says in words why it is not a pattern; `needs` what no linear engine has; `cost` counts letters.

    `nested_repeat` is the first group that is repeated without end and consists of such repeats alone, as `(a+)+` does:
    an engine that backtracks, a browser's, tries every way to divide a text among the two. Empty where there is none.
    """

    fault: str
    needs: Need
    cost: int
    nested_repeat: str = ""


class _PatternError(Exception):
    pass


@dataclass(slots=True)
class _Group:
    """An open group: what it has cost so far, and its last atom, which a repeat may follow.

    Of the alternative that is being read: how many atoms it must have once, and how many repeat without end.
    `is_endless` where an alternative had none of the first and some of the second.
    """

    behind: bool = False
    start: int = 0
    total: int = 0
    last: int = 0
    repeatable: bool = False
    once: int = 0
    loops: int = 0
    is_endless: bool = False
    is_last_endless: bool = False
    last_start: int = 0

    def add(self, cost: int, *, repeatable: bool = True) -> None:
        self.total += self.last
        self.last = cost
        self.repeatable = repeatable
        self.is_last_endless = False
        self.once += repeatable

    def end_alternative(self) -> None:
        self.is_endless = self.is_endless or (self.loops > 0 and self.once == 0)
        self.once = self.loops = 0

    def set_last(self, *, once: bool, loops: bool) -> None:
        """What the last atom is after its repeat."""
        self.once -= not once
        self.loops += loops


def read_pattern(text: str) -> PatternText:
    """Read one pattern in a time that grows with its length alone; never raises."""
    reader = _PatternReader()
    try:
        reader.read(text)
    except _PatternError as fault:
        return PatternText(str(fault), reader.needs, reader.cost(text))
    return PatternText("", reader.needs, reader.cost(text), reader.nested_repeat)


def estimate_cost(pattern: str) -> int:
    """What compiling would cost; a pattern that is too long to be read counts as too costly."""
    return read_pattern(pattern).cost if len(pattern) <= CHARACTERS_MAX else COST_MAX + 1


@dataclass(slots=True)
class CompileBudget:
    """Which patterns of one schema are compiled: each that is not too costly, as long as there is something left."""

    left: int = COST_IN_ALL_MAX
    _refused: dict[str, bool] = field(default_factory=dict)

    def refuses(self, pattern: str) -> bool:
        """Whether it is too costly, by itself or after those before it; the answer for a pattern stays the same."""
        if pattern not in self._refused:
            cost = estimate_cost(pattern)
            self._refused[pattern] = cost > min(COST_MAX, self.left)
            self.left -= 0 if self._refused[pattern] else cost
        return self._refused[pattern]


@dataclass(slots=True)
class _PatternReader:
    needs: Need = ""
    groups: list[_Group] = field(default_factory=lambda: [_Group()])
    names: set[str] = field(default_factory=set)
    back_names: set[str] = field(default_factory=set)
    python_back_names: set[str] = field(default_factory=set)
    # Engines put each of \d, \s, \w into their own words one by one, and read the whole pattern again each time.
    rewritten: int = 0
    nested_repeat: str = ""

    def cost(self, text: str) -> int:
        """What was read up to the end, or up to the fault."""
        size = sum(group.total + group.last for group in self.groups)
        return size + self.rewritten * len(text) // 2 + 11 * self.rewritten**2

    def read(self, text: str) -> None:
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                place = f"the {text[at]} at character {at + 1}"
                raise _PatternError(f"{place} is not closed or begins nothing that there is")
            self._take(match)
            at = match.end()
        if len(self.groups) > 1:
            raise _PatternError("a ( is not closed")
        if self.python_back_names - self.names or (self.names and self.back_names - self.names):
            raise _PatternError("a back-reference names a group that there is not")

    def _take(self, match: re.Match[str]) -> None:
        group, written, kind = self.groups[-1], match.group(), match.lastgroup
        if kind == "letters":
            group.total += len(written) - 1
            group.once += len(written) - 1
            group.add(1)
        elif kind == "class":
            group.add(_class_cost(written))
        elif kind == "escape":
            self._escape(written)
        elif kind == "repeat":
            self._repeat(group, match)
        elif kind == "named_back":
            self._named_back(match)
        elif kind in ("bar", "edge", "flags"):
            group.add(3, repeatable=False)
            if kind == "bar":
                group.end_alternative()
        elif kind == "close":
            self._close()
        elif kind == "other":
            group.add(_ANY if written == "." else 1)
        else:
            self._open(match)

    def _named_back(self, match: re.Match[str]) -> None:
        self.needs = self.needs or "a back-reference"
        if match["python_back"] is None:
            self.back_names.add(match["back"])
        else:
            self.python_back_names.add(match["python_back"])
        self.groups[-1].add(1)

    def _open(self, match: re.Match[str]) -> None:
        if match["look"] is not None:
            self.needs = self.needs or "look-around"
        if match["name"] is not None:
            self.names.add(match["name"])
        self.groups.append(_Group(behind=match["behind"] is not None, start=match.start()))

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise _PatternError("a ) closes nothing")
        group = self.groups.pop()
        group.end_alternative()
        outer = self.groups[-1]
        outer.add(group.total + group.last + 2, repeatable=not group.behind)
        outer.last_start = group.start
        if group.is_endless and not group.behind:
            outer.is_last_endless = True
            outer.set_last(once=False, loops=True)

    def _repeat(self, group: _Group, match: re.Match[str]) -> None:
        if not group.repeatable:
            raise _PatternError(f"the {match.group()} at character {match.start() + 1} has nothing to repeat")
        written = match.group()[0]
        least, most, is_endless = int(written == "+"), 1, written in "*+"
        if match["least"] is not None:
            least, most = _number(match["least"]), _number(match["most"] or "0")
            is_endless = match["comma"] is not None and not match["most"]
            if match["most"] and most < least:
                raise _PatternError(f"the bounds of {match.group()[:40]} are the wrong way round")
            most = max(1, most, least + is_endless)
        group.last = min(group.last * most, 10**12)
        group.repeatable = False
        if group.is_last_endless:
            if is_endless and not self.nested_repeat:
                self.nested_repeat = match.string[group.last_start : match.end()]
        else:
            group.set_last(once=least > 0 and not is_endless, loops=is_endless)

    def _escape(self, token: str) -> None:
        kind = token[1]
        if kind in "123456789":
            self.needs = self.needs or "a back-reference"
        self.rewritten += kind in "dDsSwWc"
        self.groups[-1].add(_PROPERTY if kind in "pP" else _SHORTHAND if kind in "dDsSwW" else 1)


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 10 else 10**9


def _class_cost(token: str) -> int:
    negated = token.startswith("[^")
    items = _ITEM.findall(token, 2 if negated else 1, len(token) - 1)
    index = 0
    while index + 2 < len(items):
        if items[index + 1] != "-":
            index += 1
            continue
        low, high = _code_point(items[index]), _code_point(items[index + 2])
        if low is not None and high is not None and low > high:
            raise _PatternError(f"the range {items[index]}-{items[index + 2]} is the wrong way round")
        index += 3
    cost = (_ANY if negated else 2) + len(items)
    return cost + sum(_item_cost(item) for item in items if len(item) > 1)


def _item_cost(item: str) -> int:
    return _PROPERTY if item[1] in "pP" and len(item) > 2 else _SHORTHAND if item[1] in "dDsSwW" else 0


def _code_point(item: str) -> int | None:
    """The character that an item of a class stands for; None for a set such as `\\w`."""
    if item[0] != "\\":
        return ord(item)
    kind, rest = item[1], item[2:]
    if len(item) == 12:
        return 0x10000 + ((int(item[2:6], 16) - 0xD800) << 10) + int(item[8:], 16) - 0xDC00
    if kind in "ux" and rest:
        return int(rest.strip("{}")[:9], 16)
    if kind in "dDsSwWpPc":
        return None
    return _CONTROLS.get(kind, ord(kind))
