"""What a release changes and what a bundle may do, for a terminal; `capability_rules/output/text.py` has findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from capability_rules.output.text import TerminalStyle, escape_controls

if TYPE_CHECKING:
    # Every command prints through this module, and few have read a bundle: the readers stay unloaded.
    from capability_rules.semantic_diff import Change, Power, PowerComparison
    from registry.publishing.bundle_powers import BundlePowers

_SIGNS: Final = {"loosens": "!", "breaks": "-", "widens": "+", "changes": "*"}


def format_changes(changes: Sequence[Change], paint: TerminalStyle) -> Iterator[str]:
    """What a release changes, in words; the dangerous ones first."""
    for change in changes:
        kind = {"loosens": "error", "breaks": "warning", "widens": "hint", "changes": "place"}[change.effect]
        yield f"  {paint(kind, _SIGNS[change.effect])} {escape_controls(change.words)}"


_POWER_WORDS: Final = {
    "host": "talks to",
    "write_tool": "writes with",
    "remote_text": "fetches at run time",
    "persistence": "keeps beyond the session",
    "credential": "has or asks for",
    "program": "runs",
}


def format_bundle_powers(row: BundlePowers, paint: TerminalStyle) -> Iterator[str]:
    """The powers of one bundle under its name."""
    what = f"revision {row.revision}" if row.revision else "these texts"
    since = f", compared with revision {row.compared_with}" if row.compared_with else ""
    yield paint("bold", f"{escape_controls(row.capability_id)}: {what}{since}")
    if not (row.comparison.powers or row.comparison.removed):
        yield "  nothing was found that it may do"
    yield from format_powers(row.comparison, paint)


def format_powers(comparison: PowerComparison, paint: TerminalStyle) -> Iterator[str]:
    """A line for each power: `+` is new, `-` is gone since the release before."""
    added = {power.identity for power in comparison.added}
    for power in comparison.powers:
        is_new = power.identity in added
        yield f"  {paint('warning', '+') if is_new else ' '} {_power_line(power)}"
    for power in comparison.removed:
        yield f"  {paint('good', '-')} {_power_line(power)}"


def _power_line(power: Power) -> str:
    detail = f" ({escape_controls(power.detail)})" if power.detail else ""
    place = power.places[0] if power.places else None
    where = f"  {escape_controls(place.file)}:{place.line}:{place.column}" if place else ""
    return f"{_POWER_WORDS[power.kind]} {escape_controls(power.name)}{detail}{where}"


def format_diff(lines: Sequence[str], paint: TerminalStyle) -> Iterator[str]:
    """A unified diff in color."""
    for line in lines:
        kind = {"+": "good", "-": "error", "@": "place"}.get(line[:1])
        shown = escape_controls(line)
        yield paint(kind, shown) if kind else shown
