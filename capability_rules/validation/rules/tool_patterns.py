"""The patterns of tool schemas: which can be run, which are left alone, and which are none (docs/contract.md 1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from capability_kit.json_schema.evaluator import BACKTRACKING, LINEAR, compiles
from capability_kit.json_schema.graph import SchemaGraph
from capability_kit.json_schema.pattern_cost import (
    CHARACTERS_MAX,
    COST_IN_ALL_MAX,
    COST_MAX,
    PatternText,
    read_pattern,
)
from capability_rules.bundles.deadline import NEVER, Deadline
from capability_rules.bundles.problem import FileName, Path, RawFinding, collect_findings

TOOLS: Final[FileName] = "tools.json"


@dataclass(frozen=True, slots=True)
class PatternVerdict:
    """Whether values are matched with a pattern; else `reason` says why not, and `valid` whether it is one."""

    runs: bool
    valid: bool = True
    reason: str = ""


@dataclass(slots=True)
class Patterns:
    """The verdicts on the patterns of one tools.json, each checked once, and what compiling more may cost."""

    deadline: Deadline = NEVER
    cost_left: int = field(default_factory=lambda: COST_IN_ALL_MAX)
    _verdicts: dict[str, PatternVerdict] = field(default_factory=dict)

    def verdict(self, pattern: str) -> PatternVerdict:
        if pattern not in self._verdicts:
            self.deadline.check()
            self._verdicts[pattern] = self._judge(pattern)
        return self._verdicts[pattern]

    def _judge(self, pattern: str) -> PatternVerdict:
        if len(pattern) > CHARACTERS_MAX:
            return PatternVerdict(runs=False, reason=f"is longer than {CHARACTERS_MAX:,} characters")
        read = read_pattern(pattern)
        if read.cost > min(COST_MAX, self.cost_left):
            is_alone = read.cost > COST_MAX
            reason = "takes too much to compile" if is_alone else "is one of too many that take much to compile"
            return PatternVerdict(runs=False, valid=not read.fault, reason=reason)
        self.cost_left -= read.cost
        if not read.needs and compiles(pattern, LINEAR):
            return PatternVerdict(runs=True)
        # An engine can know more than ECMA-262 does: what it takes is left alone, as ever.
        valid = not read.fault or compiles(pattern, BACKTRACKING)
        return PatternVerdict(runs=False, valid=valid, reason=_reason(read))

    def check(self, graph: SchemaGraph, path: Path) -> Iterator[RawFinding]:
        """What is wrong with the patterns of one schema, errors before warnings."""
        refused = [(place, pattern) for place, pattern in collect_patterns(graph) if not self.verdict(pattern).runs]
        for valid in (False, True):
            found = (one for one in refused if self.verdict(one[1]).valid is valid)
            problems = (_problem((*path, *place), pattern, self.verdict(pattern)) for place, pattern in found)
            yield from collect_findings(problems)


def collect_patterns(graph: SchemaGraph) -> Iterator[tuple[Path, str]]:
    """`(place, pattern)` of each pattern of a schema, the keys of patternProperties among them."""
    for node in graph.nodes:
        pattern = node.schema.get("pattern")
        if isinstance(pattern, str):
            yield (*node.path, "pattern"), pattern
        keyed = node.schema.get("patternProperties")
        if isinstance(keyed, dict):
            for key in keyed:
                yield (*node.path, "patternProperties", key), key


def _reason(read: PatternText) -> str:
    return f"needs {read.needs}" if read.needs else "is written in a way that a linear engine does not know"


def _problem(place: Path, pattern: str, verdict: PatternVerdict) -> RawFinding:
    shown = pattern if len(pattern) <= 80 else pattern[:79] + "…"
    if not verdict.valid:
        message = f"The pattern {shown!r} is not a regular expression"
        return RawFinding("TOOL_SCHEMA_INVALID", TOOLS, place, message, "Check its brackets.")
    message = f"The pattern {shown!r} {verdict.reason}: it is not checked here"
    hint = "Write it without (?=, (?!, (?<=, \\1 and long repeats where you can."
    return RawFinding("TOOL_PATTERN_NOT_CHECKED", TOOLS, place, message, hint)
