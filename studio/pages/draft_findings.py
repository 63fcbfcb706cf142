"""What the check of a draft found, as the editor lists it: errors first, what is of one kind together, with fixes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from capability_rules.validation import Finding, Report
from capability_rules.validation.codes import list_codes
from registry.authoring.field_locator import FormLocation, locate_field
from registry.authoring.quick_fixes import QuickFix, combine_fixes, quick_fixes_for
from studio.pages.draft_outline import OutlineGroup, describe_place

# More than anyone fixes at once; the rest appears as these go.
FINDINGS_SHOWN: Final = 200


@dataclass(frozen=True)
class FindingRow:
    """A finding, with the form field where it can be fixed, or the row that it belongs to.

    `where` names its part of the outline. `fix` is the quick fix where there is one, as JSON `{file, edits}`;
    `fix_label` is the label of its button.
    """

    finding: Finding
    where: str
    place: FormLocation | None
    fix: str
    fix_label: str


@dataclass(frozen=True)
class FindingKind:
    """Findings of one code. `fixes` is the JSON `[{file, edits}]` that resolves `fixed` of them at once, or empty."""

    code: str
    severity: str
    title: str
    rows: tuple[FindingRow, ...]
    fixes: str
    fixed: int


def group_findings(
    report: Report, capability_id: str, files: Mapping[str, str], outline: tuple[OutlineGroup, ...]
) -> list[FindingKind]:
    """What blocks comes first; the kinds of one severity are in the order of the files, as their findings are."""
    fixes = {
        finding: fix
        for finding, fix in quick_fixes_for(report, capability_id).items()
        # Where what was checked is not what stands in the browser, such as a file that is too large, no offset holds.
        if files.get(fix.file) == report.files.get(fix.file)
    }
    found: dict[tuple[object, ...], list[Finding]] = {}
    for weight, finding in list_by_weight(report)[:FINDINGS_SHOWN]:
        found.setdefault((weight, *_kind_of(finding)), []).append(finding)
    return [_kind(same, fixes, report, files, outline) for same in found.values()]


def group_equal(findings: Sequence[Finding]) -> list[FindingKind]:
    """Findings of one kind together, as the editor has them; what somebody has to decide, or has decided, by itself.
    Nothing is fixed where these are shown."""
    found: dict[tuple[object, ...], list[Finding]] = {}
    for place, finding in enumerate(findings):
        is_alone = finding.held or finding.waiver is not None or finding.accepted is not None
        found.setdefault((place,) if is_alone else _kind_of(finding), []).append(finding)
    return [
        FindingKind(same[0].code, same[0].severity, _title(same), tuple(_plain_row(one) for one in same), "", 0)
        for same in found.values()
    ]


def _kind_of(finding: Finding) -> tuple[object, ...]:
    """Which key is missing makes the kind: one says what a tool lacks, another what a capability lacks."""
    return finding.code, finding.subject if finding.code == "FIELD_MISSING" else ""


def _plain_row(finding: Finding) -> FindingRow:
    return FindingRow(finding, "", None, "", "")


def list_by_weight(report: Report) -> list[tuple[str, Finding]]:
    """What blocks publishing comes first, what somebody has accepted last."""
    groups = {
        "error": report.errors,
        "held": report.held,
        "warning": [one for one in report.warnings if not one.held],
        "accepted": report.accepted,
        "waived": report.waived,
    }
    return [(weight, finding) for weight, findings in groups.items() for finding in findings]


def _kind(
    same: Sequence[Finding],
    fixes: Mapping[Finding, QuickFix],
    report: Report,
    files: Mapping[str, str],
    outline: tuple[OutlineGroup, ...],
) -> FindingKind:
    rows = []
    for finding in same:
        fix = fixes.get(finding)
        written, label = (_as_json(fix, files), fix.label) if fix else ("", "")
        place = locate_field(finding, report.files.get(finding.file, ""))
        rows.append(FindingRow(finding, describe_place(finding, outline), place, written, label))
    combined, fixed = combine_fixes([fixes[finding] for finding in same if finding in fixes])
    together = f"[{', '.join(_as_json(fix, files) for fix in combined)}]" if fixed > 1 else ""
    first = same[0]
    return FindingKind(first.code, first.severity, _title(same), tuple(rows), together, fixed)


def _title(same: Sequence[Finding]) -> str:
    first, known = same[0], list_codes().get(same[0].code)
    if len({finding.message for finding in same}) == 1 or known is None:
        return first.message
    if first.code == "FIELD_MISSING":
        return _("Missing required field '%(key)s'") % {"key": first.subject}
    # Its first sentence says what is wrong.
    return known.cause.partition(". ")[0].rstrip(".") + "."


def _as_json(fix: QuickFix, files: Mapping[str, str]) -> str:
    """Offsets as a browser counts: in UTF-16 units."""
    text = files[fix.file]
    edits = [
        {"from": _units(text[: edit.start]), "to": _units(text[: edit.end]), "insert": edit.text} for edit in fix.edits
    ]
    return json.dumps({"file": fix.file, "edits": edits})


def _units(text: str) -> int:
    return len(text) + sum(letter > "\uffff" for letter in text)
