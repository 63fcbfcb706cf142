"""What a bundle may do, grouped as the overview and the publish page show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from capability_rules.semantic_diff import POWER_KINDS, Power, PowerComparison
from studio.pages.lists import FoldedGroup

POWERS_SHOWN_MAX: Final = 8
_KIND_WORDS: Final[dict[str, str | Promise]] = {
    "host": gettext_lazy("Hosts"),
    "write_tool": gettext_lazy("Write tools"),
    "remote_text": gettext_lazy("Text fetched at run time"),
    "persistence": gettext_lazy("Kept beyond the session"),
    "credential": gettext_lazy("Credentials & permissions"),
    "program": gettext_lazy("Programs"),
}


@dataclass(frozen=True, slots=True)
class PowerRow:
    """A power, and whether the release before had it: `change` is `added`, `removed` or empty."""

    power: Power
    change: str

    @property
    def place(self) -> str:
        """Its first place, as `tools.json:12`; empty where its texts cannot be read."""
        first = self.power.places[0] if self.power.places else None
        return f"{first.file}:{first.line}" if first else ""


def group_powers(comparison: PowerComparison) -> list[FoldedGroup]:
    """Group by kind, new and removed ones first; kinds without a power are left out."""
    added = {power.identity for power in comparison.added}
    rows = [PowerRow(power, "added") for power in comparison.added]
    rows += [PowerRow(power, "removed") for power in comparison.removed]
    rows += [PowerRow(power, "") for power in comparison.powers if power.identity not in added]
    groups = []
    for kind in POWER_KINDS:
        found = tuple(row for row in rows if row.power.kind == kind)
        if found:
            groups.append(FoldedGroup.of(kind, str(_KIND_WORDS[kind]), found, POWERS_SHOWN_MAX))
    return groups
