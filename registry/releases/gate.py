"""What stands between a draft and its readers: one report, the same for page, command line and API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import rfc8785

from registry.authoring.text_diffs import FileDiff, text_diffs
from registry.bundles import Bundle
from registry.changes import Change, bundle_changes, first_changes
from registry.matching.findings import matching_findings
from registry.matching.overlaps import Overlap
from registry.releases.rules import NO_RULE, NO_TERMS, Rule, Terms, rule_findings
from registry.validation import Finding, Report
from registry.validation.findings import in_order
from registry.validation.json_places import locate, pointer
from registry.validation.problems import Severity
from registry.validation.texts import Lines

if TYPE_CHECKING:
    # It brings numpy: loaded where a rehearsal is asked for.
    from registry.matching.rehearsal import Rehearsal

ACKNOWLEDGEABLE: Final = frozenset({"POLICY_LOOSENED"})
# What a person answers with a confirmation, an approval or a note. No other text would be more correct.
POLICY_QUESTIONS: Final = ACKNOWLEDGEABLE | {
    "APPROVAL_REQUIRED",
    "LOOSENING_NOT_ALLOWED",
    "NOTE_REQUIRED",
    "COMMENTS_OPEN",
}


@dataclass(frozen=True)
class GateReport:
    """Everything to know before publishing. `refused` says that it cannot be published as things stand; `changes` are
    those against what readers have; where they have nothing yet, `brings` is what a first release gives them."""

    report: Report
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]
    diffs: tuple[FileDiff, ...]
    unchanged: bool
    rehearsal: Rehearsal | None = None
    overlaps: tuple[Overlap, ...] = ()
    rule: Rule = NO_RULE
    approved_by: str = ""
    brings: tuple[Change, ...] = ()

    @property
    def refused(self) -> bool:
        return self.report.bundle is None or any(finding.is_error for finding in self.findings)

    @property
    def text_findings(self) -> tuple[Finding, ...]:
        """The findings about the texts, without the questions of policy that the same report asks."""
        return tuple(finding for finding in self.findings if finding.code not in POLICY_QUESTIONS)

    @property
    def open_questions(self) -> tuple[str, ...]:
        """The codes of the questions of policy that stand in the way of this publish, each once."""
        return tuple(dict.fromkeys(f.code for f in self.findings if f.is_error and f.code in POLICY_QUESTIONS))

    @property
    def to_acknowledge(self) -> tuple[str, ...]:
        """The codes that a person may acknowledge, and has not."""
        return tuple(sorted({f.code for f in self.findings if f.is_error and f.code in ACKNOWLEDGEABLE}))


def gate_report(
    report: Report,
    *,
    published: Bundle | None,
    acknowledge: Collection[str] = (),
    overlaps: Sequence[Overlap] = (),
    rehearsal: Rehearsal | None = None,
    terms: Terms = NO_TERMS,
) -> GateReport:
    """Hold a validated bundle against what readers have now; pure, so that it can run inside and outside a lock.

    `overlaps` are its triggers that others have too, `rehearsal` what it would do to golden sentences, `terms` what
    publishing asks for here.
    """
    changes: tuple[Change, ...] = ()
    findings = report.findings
    comparable = report.bundle is not None and not report.errors
    if report.bundle is not None and published is not None and comparable:
        changes = tuple(bundle_changes(published, report.bundle))
        findings = (*findings, *_change_findings(report, changes, acknowledge))
    if comparable:
        findings = in_order([*findings, *matching_findings(report, overlaps, rehearsal)])
    unchanged = comparable and published is not None and same_content(published, report.bundle)
    if comparable and not unchanged:
        findings = in_order([*findings, *rule_findings(report, changes, terms)])
    return GateReport(
        report=report,
        findings=findings,
        changes=changes,
        diffs=text_diffs(published.files if published else {}, report.files),
        rehearsal=rehearsal,
        unchanged=unchanged,
        overlaps=tuple(overlaps),
        rule=terms.rule,
        approved_by=terms.approved_by,
        brings=tuple(first_changes(report.bundle)) if report.bundle and comparable and published is None else (),
    )


def same_content(old: Bundle, new: Bundle | None) -> bool:
    """Equal as values, utterances included; the layout of the JSON does not count."""
    try:
        return new is not None and old.content_digest == new.content_digest
    except rfc8785.CanonicalizationError:
        # The old one is a damaged row that holds what JSON cannot: nothing that passed the gate is equal to it.
        return False


def _change_findings(report: Report, changes: tuple[Change, ...], acknowledge: Collection[str]) -> list[Finding]:
    findings = []
    accepted = "POLICY_LOOSENED" in acknowledge
    loosened_hint = "Acknowledged." if accepted else "If it is meant, acknowledge POLICY_LOOSENED."
    broken_hint = "Agents in a running session keep the old release; tell those who rely on it."
    for change in changes:
        if change.effect == "loosens":
            severity: Severity = "warning" if accepted else "error"
            findings.append(_finding(report, change, "POLICY_LOOSENED", severity, loosened_hint))
        elif change.effect == "breaks":
            findings.append(_finding(report, change, "CONTRACT_BROKEN", "warning", broken_hint))
    return findings


def _finding(report: Report, change: Change, code: str, severity: Severity, hint: str) -> Finding:
    """At the place in the new text of the file; at its beginning where what changed is gone."""
    file, text = change.file, report.files.get(change.file)
    if text is None:
        return Finding(code, severity, file, "", None, None, change.words, hint)
    if change.path is None:
        return Finding(code, severity, file, "", 1, 1, change.words, hint)
    path = ("tools", *change.path) if file == "tools.json" and text.lstrip().startswith("{") else change.path
    line, column = Lines(text).place(locate(text, [path])[path].start)
    return Finding(code, severity, file, pointer(path), line, column, change.words, hint)
