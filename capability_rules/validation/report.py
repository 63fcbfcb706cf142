"""What a check of one bundle returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.finding import Finding
from capability_rules.bundles.problem import UNJUDGED_CODE

# Of 239 skills of six repositories that nobody had trained on, 4 have such a sentence and nothing else against them.
_FOREIGN_CERTAINTY_MIN: Final = 4.5


@dataclass(frozen=True)
class Report:
    """The findings, and the bundle where the texts could be read; `files` are normalized in any case.

    `notes` are for reviewers alone. `is_foreign` says that somebody outside of this registry wrote the texts.
    """

    files: Mapping[str, str]
    findings: tuple[Finding, ...]
    bundle: SkillBundle | None
    capability_id: str
    notes: tuple[Finding, ...] = ()
    is_foreign: bool = False

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_error)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_warning)

    @property
    def held(self) -> tuple[Finding, ...]:
        """The warnings about passages that somebody has to decide about before they are published."""
        return tuple(finding for finding in self.findings if finding.held)

    @property
    def accepted(self) -> tuple[Finding, ...]:
        """The warnings about passages that somebody has decided are fine."""
        return tuple(finding for finding in self.findings if finding.accepted is not None)

    @property
    def waived(self) -> tuple[Finding, ...]:
        """The errors and warnings that somebody has accepted for a time (registry/catalog/assessment.py)."""
        return tuple(finding for finding in self.findings if finding.waiver is not None)

    def is_foreign_doubt(self, note: Finding) -> bool:
        """Whether the classifier is so certain of what it alone found that texts from outside are held for it."""
        return note.certainty >= _FOREIGN_CERTAINTY_MIN and not note.is_excused

    @property
    def excused(self) -> tuple[Finding, ...]:
        """The doubts that the text around their passages took away."""
        return tuple(note for note in self.notes if note.is_excused)

    @property
    def unjudged_languages(self) -> tuple[str, ...]:
        """The languages of sentences whose meaning nothing has judged."""
        return tuple(sorted({note.subject for note in self.notes if note.code == UNJUDGED_CODE}))

    @property
    def ok(self) -> bool:
        """No error: what shows no error here is publishable as far as its content goes."""
        return self.bundle is not None and not self.errors
