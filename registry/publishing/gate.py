"""The gate between a draft and its readers: one report, the same for page, command line and API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import rfc8785

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.finding import sort_findings
from capability_rules.bundles.json_locations import build_pointer, locate_path
from capability_rules.bundles.problem import Severity
from capability_rules.bundles.text import Lines
from capability_rules.bundles.text_diff import FileDiff, diff_files
from capability_rules.semantic_diff import Change, PowerComparison, compare_bundles, compare_powers, describe_new_bundle
from capability_rules.validation import Finding, Report
from features.acceptances.held_passages import find_held, page_of
from registry.matching.findings import find_matching_issues
from registry.matching.trigger_overlaps import Overlap
from registry.publishing.release_rules import (
    DEFAULT_CONDITIONS,
    DEFAULT_RULE,
    EffectiveRule,
    PublishConditions,
    check_retirement,
    check_rule,
)

if TYPE_CHECKING:
    # It brings numpy: loaded where an utterance check is requested.
    from registry.matching.utterance_regression import UtteranceRegression

ACKNOWLEDGEABLE_CODES: Final = frozenset({"POLICY_LOOSENED"})
# What a person resolves by a confirmation, an approval or a note. No other text would be more correct.
POLICY_QUESTIONS: Final = ACKNOWLEDGEABLE_CODES | {
    "APPROVAL_REQUIRED",
    "LOOSENING_NOT_ALLOWED",
    "NOTE_REQUIRED",
    "COMMENTS_OPEN",
    "SCAN_MISSING",
    "SEC_HELD",
}


@dataclass(frozen=True)
class GateReport:
    """Everything to know before publishing. `refused` says that it cannot be published now; `changes` are
    those against what readers have; where they have nothing yet, `introduces` is what a first release gives them."""

    report: Report
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]
    diffs: tuple[FileDiff, ...]
    unchanged: bool
    rehearsal: UtteranceRegression | None = None
    overlaps: tuple[Overlap, ...] = ()
    rule: EffectiveRule = DEFAULT_RULE
    approved_by: str = ""
    introduces: tuple[Change, ...] = ()
    published: SkillBundle | None = field(default=None, repr=False)

    @cached_property
    def powers(self) -> PowerComparison:
        """What the bundle may do, against what readers have now. Made when it is asked for: never inside the lock."""
        bundle = self.report.bundle
        return compare_powers(self.published, bundle) if bundle is not None else PowerComparison()

    @property
    def refused(self) -> bool:
        return self.report.bundle is None or any(finding.is_error for finding in self.findings)

    @property
    def text_findings(self) -> tuple[Finding, ...]:
        """The findings about the texts, without the policy questions in the same report."""
        return tuple(finding for finding in self.findings if finding.code not in POLICY_QUESTIONS)

    @property
    def open_questions(self) -> tuple[str, ...]:
        """The codes of the policy questions that block this publish, each once."""
        return tuple(dict.fromkeys(f.code for f in self.findings if f.is_error and f.code in POLICY_QUESTIONS))

    @property
    def to_acknowledge(self) -> tuple[str, ...]:
        """The codes that a person may acknowledge, and has not."""
        return tuple(sorted({f.code for f in self.findings if f.is_error and f.code in ACKNOWLEDGEABLE_CODES}))


def build_gate_report(
    report: Report,
    *,
    published: SkillBundle | None,
    acknowledge: Collection[str] = (),
    overlaps: Sequence[Overlap] = (),
    rehearsal: UtteranceRegression | None = None,
    terms: PublishConditions = DEFAULT_CONDITIONS,
) -> GateReport:
    """Compare a validated bundle with what readers have now; pure, so that it can run inside and outside a lock.

    `overlaps` are its triggers that others have too, `rehearsal` what it would do to example messages, `terms` what
    publishing requires here.
    """
    changes: tuple[Change, ...] = ()
    findings = report.findings
    comparable = report.bundle is not None and not report.errors
    if report.bundle is not None and published is not None and comparable:
        changes = tuple(compare_bundles(published, report.bundle))
        findings = (*findings, *_change_findings(report, changes, acknowledge))
    if comparable:
        findings = sort_findings([*findings, *find_matching_issues(report, overlaps, rehearsal)])
    unchanged = comparable and published is not None and has_same_content(published, report.bundle)
    if comparable and terms.decides_held and (terms.was_quarantined or not unchanged):
        findings = sort_findings([*findings, *_held_findings(report)])
    if comparable:
        rules = () if unchanged else check_rule(report, changes, terms)
        findings = sort_findings([*findings, *rules, *check_retirement(report, terms)])
    return GateReport(
        report=report,
        findings=findings,
        changes=changes,
        diffs=diff_files(published.files if published else {}, report.files),
        rehearsal=rehearsal,
        unchanged=unchanged,
        overlaps=tuple(overlaps),
        rule=terms.rule,
        approved_by=terms.approved_by,
        introduces=tuple(describe_new_bundle(report.bundle))
        if report.bundle and comparable and published is None
        else (),
        published=published,
    )


def _held_findings(report: Report) -> list[Finding]:
    """One for each passage that a person has to decide about."""
    found = []
    for doubt, _ in find_held(report.findings, report.files):
        place = doubt.file if doubt.line is None else f"{doubt.file}:{doubt.line}"
        hint = (
            f"Decide it on {page_of(report.capability_id)}, or at the server: bundle accept {report.capability_id} "
            f"--place {place} --reason WHY"
        )
        words = f"A person has to decide whether this passage is fine. {doubt.message}"
        found.append(replace(doubt, code="SEC_HELD", severity="error", message=words, hint=hint, held=False))
    return found


def has_same_content(old: SkillBundle, new: SkillBundle | None) -> bool:
    """Equal as values, utterances included; the layout of the JSON does not count."""
    try:
        return new is not None and old.content_digest == new.content_digest
    except rfc8785.CanonicalizationError:
        # The old one is a damaged row with values that JSON does not have: nothing that passed the gate is equal to it.
        return False


def _change_findings(report: Report, changes: tuple[Change, ...], acknowledge: Collection[str]) -> list[Finding]:
    findings = []
    accepted = "POLICY_LOOSENED" in acknowledge
    loosened_hint = "Acknowledged." if accepted else "If this is intended, acknowledge POLICY_LOOSENED."
    broken_hint = "Agents in a running session keep the old release; notify those who rely on it."
    host_hint = "Check who runs it, and what agents send there."
    for change in changes:
        if change.effect == "loosens":
            severity: Severity = "warning" if accepted else "error"
            findings.append(_finding(report, change, "POLICY_LOOSENED", severity, loosened_hint))
        elif change.effect == "breaks":
            findings.append(_finding(report, change, "CONTRACT_BROKEN", "warning", broken_hint))
        elif change.host:
            findings.append(_finding(report, change, "HOST_ADDED", "warning", host_hint))
    return findings


def _finding(report: Report, change: Change, code: str, severity: Severity, hint: str) -> Finding:
    """At the place in the new text of the file; at its beginning where what changed is gone."""
    file, text = change.file, report.files.get(change.file)
    if text is None:
        return Finding(code, severity, file, "", None, None, change.words, hint)
    if change.path is None:
        line, column = Lines(text).place(max(0, text.lower().find(change.host)))
        return Finding(code, severity, file, "", line, column, change.words, hint)
    path = ("tools", *change.path) if file == "tools.json" and text.lstrip().startswith("{") else change.path
    line, column = locate_path(text, path)
    return Finding(code, severity, file, build_pointer(path), line, column, change.words, hint)
