"""What a gate's report shows of a bundle's texts: its issues by weight, and what it changes for others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.semantic_diff import EFFECTS, Change
from capability_rules.validation import Finding
from registry.publishing.gate import GateReport
from studio.pages.draft_findings import group_equal
from studio.pages.lists import FoldedGroup

SHOWN_MAX: Final = 20
# Notes for reviewers, which block nothing.
_NOTES_MAX: Final = 50
_EFFECT_WORDS: Final = {
    "loosens": gettext_lazy("Less restrictive"),
    "breaks": gettext_lazy("Breaking change"),
    "widens": gettext_lazy("Wider reach"),
    "changes": gettext_lazy("Other"),
}
_READ_BY_MODELS: Final = ("skill.md", "tools.json")
# Of a first release, of which nothing else can be said.
_FIRST_WORDS: Final = {"widens": gettext_lazy("Agent-facing"), "changes": gettext_lazy("Forms & files")}


@dataclass(frozen=True, slots=True)
class Issues:
    """The findings by what is to be done about them, the most severe first; then those that a person has answered.

    `notes` are for those who decide, and in no list of issues.
    """

    errors: Sequence[Finding]
    held: Sequence[Finding]
    warnings: Sequence[Finding]
    accepted: Sequence[Finding]
    waived: Sequence[Finding]
    notes: Sequence[Finding]
    unjudged_languages: Sequence[str]

    @classmethod
    def of(cls, gate: GateReport, *, for_publisher: bool) -> Issues:
        """Those of a report."""
        is_asked = "SEC_HELD" in gate.open_questions
        held = [finding for finding in gate.text_findings if finding.held and is_asked]
        return cls(
            errors=[finding for finding in gate.text_findings if finding.is_error],
            held=held,
            warnings=[finding for finding in gate.text_findings if finding.is_warning and finding not in held],
            accepted=[finding for finding in gate.findings if finding.accepted is not None],
            waived=[finding for finding in gate.findings if finding.waiver is not None],
            notes=gate.report.notes[:_NOTES_MAX] if for_publisher else (),
            unjudged_languages=gate.report.unjudged_languages if for_publisher else (),
        )

    @property
    def groups(self) -> list[FoldedGroup]:
        """One a weight, of those that have any."""
        weights = {
            "error": self.errors,
            "held": self.held,
            "warning": self.warnings,
            "accepted": self.accepted,
            "waived": self.waived,
        }
        return [FoldedGroup.of(weight, "", group_equal(found), SHOWN_MAX) for weight, found in weights.items() if found]


@dataclass(frozen=True, slots=True)
class Changes:
    """What a release changes, by its effect, the most severe first; of the lightest first what a model reads."""

    groups: Sequence[FoldedGroup]

    @classmethod
    def of(cls, changes: Sequence[Change], *, introduces: Sequence[Change] = ()) -> Changes:
        """`introduces` is what a first release brings, in place of changes."""
        groups = []
        for effect in EFFECTS:
            found = [change for change in introduces or changes if change.effect == effect]
            read = [one for one in found if effect == "changes" and not introduces and one.file in _READ_BY_MODELS]
            if read:
                groups.append(FoldedGroup.of(effect, _("Agent-facing"), read, SHOWN_MAX))
            if rest := [one for one in found if one not in read]:
                words = (_FIRST_WORDS if introduces else _EFFECT_WORDS)[effect]
                groups.append(FoldedGroup.of(effect, str(words), rest, SHOWN_MAX))
        return cls(groups)

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(len(group.shown) + len(group.more) for group in self.groups)
