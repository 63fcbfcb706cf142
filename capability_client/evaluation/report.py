"""Results of a run: the share that passed with its interval, as a table, as JSON and as JUnit XML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

# Of the normal distribution, for 95 %.
_Z: Final = 1.959964


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One repetition of one case; it has passed where `failures` is empty."""

    case: str
    repetition: int
    failures: tuple[str, ...]
    tokens: int = 0
    seconds: float = 0.0
    must: bool = False
    case_digest: str = ""
    transcript: Sequence[dict[str, Any]] = field(default=(), repr=False)

    @property
    def has_passed(self) -> bool:
        """Whether the repetition met every expectation of its case."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class PassRate:
    """How many passed of how many; `low` and `high` are the 95 % interval by Wilson, from 0 to 1."""

    passed: int
    total: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.passed / self.total if self.total else 0.0

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self._interval()[0]

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self._interval()[1]

    def _interval(self) -> tuple[float, float]:
        if not self.total:
            return 0.0, 1.0
        n, share = self.total, self.share
        middle = (share + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
        half = _Z / (1 + _Z * _Z / n) * math.sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


def rate(results: Iterable[CaseResult]) -> PassRate:
    """How many of all repetitions passed."""
    found = list(results)
    return PassRate(sum(one.has_passed for one in found), len(found))


def by_case(results: Iterable[CaseResult]) -> dict[str, list[CaseResult]]:
    """In the order in which the cases come."""
    found: dict[str, list[CaseResult]] = {}
    for one in results:
        found.setdefault(one.case, []).append(one)
    return found


def table(results: Sequence[CaseResult]) -> str:
    """A line for each case, why it failed, and a last one with the share."""
    lines = []
    for name, repeated in by_case(results).items():
        passed = sum(one.has_passed for one in repeated)
        word = "pass" if passed == len(repeated) else "FAIL" if not passed else "part"
        lines.append(f"{word}  {passed}/{len(repeated)}  {name}")
        lines += [f"           {words}" for words in dict.fromkeys(words for one in repeated for words in one.failures)]
    whole = rate(results)
    tokens = sum(one.tokens for one in results)
    lines.append(
        f"{whole.passed} of {whole.total} passed, {whole.share:.0%} (95 %: {whole.low:.0%} to {whole.high:.0%}), "
        f"{tokens:,} tokens"
    )
    return "\n".join(lines)


def as_document(results: Sequence[CaseResult], **about: Any) -> dict[str, Any]:
    """`{..., "passed", "total", "low", "high", "results": [...]}`; `about` says what was run with which model.

    A registry takes it (schemas/api/evaluation_results_request.schema.json) where it has `tool`, `digest` and `model`.
    """
    whole = rate(results)
    rows = [
        {
            "case": one.case,
            "case_digest": one.case_digest,
            "repetition": one.repetition,
            "passed": one.has_passed,
            "must": one.must,
            "failures": list(one.failures),
            "tokens": one.tokens,
            "seconds": round(one.seconds, 3),
            "transcript": list(one.transcript),
        }
        for one in results
    ]
    numbers = {"low": round(whole.low, 4), "high": round(whole.high, 4)}
    return {**about, "passed": whole.passed, "total": whole.total, **numbers, "results": rows}


def as_junit(results: Sequence[CaseResult], *, name: str) -> str:
    """JUnit XML, as pipelines read it."""
    failed = sum(not one.has_passed for one in results)
    seconds = sum(one.seconds for one in results)
    head = f'<testsuite name={quoteattr(_clean(name))} tests="{len(results)}" failures="{failed}" time="{seconds:.3f}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *map(_junit_case, results), "</testsuite>", ""])


def _junit_case(one: CaseResult) -> str:
    start = f'  <testcase name={quoteattr(_clean(f"{one.case} [{one.repetition}]"))} time="{one.seconds:.3f}"'
    if one.has_passed:
        return start + "/>"
    words = _clean("\n".join(one.failures))
    return f"{start}><failure message={quoteattr(words.partition(chr(10))[0])}>{escape(words)}</failure></testcase>"


def _clean(text: str) -> str:
    """Without the signs that XML cannot have."""
    return "".join(sign if sign >= " " or sign in "\t\n" else " " for sign in text if not "\ud800" <= sign <= "\udfff")
