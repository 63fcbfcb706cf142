"""Many bundles in one call: what command line and operator API do with what they were given (docs/contract.md 5).

Bundles go one by one; one that is refused never stops the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from capability_rules.agent_skills.importer import ImportedSkill, import_skill
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.finding import sort_findings
from capability_rules.errors import InvalidRequest, SourceUnreadable
from capability_rules.semantic_diff import PowerComparison
from capability_rules.validation import Finding, Report, validate_bundle
from capability_rules.validation.bundle_set import (
    UNREADABLE,
    ValidationResult,
    refuse_id,
    validate_set,
    with_duplicate_id,
    with_unreadable,
)
from capability_rules.validation.isolation.pool import ChecksUnfinished
from capability_rules.validation.lookahead import validate_in_turn
from features.acceptances import held_passages
from registry.access.teams import require_edit_permission
from registry.catalog import drafts
from registry.catalog.assessment import assess_report
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound, DraftConflict, DraftNotFound, Forbidden
from registry.core import file_contents
from registry.core.published_index import get_validation_context
from registry.publishing import publication
from registry.publishing.bundle_powers import BundlePowers, compare_with_published
from registry.publishing.events import IMPORTED
from registry.publishing.gate import GateReport

Mode = Literal["draft", "publish"]
# The bundle of a capability that the caller may not change.
DENIED: Final = "CHANGE_NOT_ALLOWED"
# What a draft could not keep, or would take the place of another bundle of the same call.
_UNSTORABLE: Final = drafts.UNSTORABLE_CODES | {"CAPABILITY_ID_DUPLICATE", UNREADABLE}


@dataclass(frozen=True)
class BatchResult:
    """What became of one bundle."""

    path: str
    capability_id: str
    status: publication.Status
    revision: int | None
    digest: str | None
    findings: tuple[Finding, ...]
    files: dict[str, str]
    gate: GateReport | None = None
    powers: PowerComparison | None = None

    def as_dict(self) -> dict[str, Any]:
        """One entry of `{"results": [...]}`; `powers` are there for a dry run."""
        return {
            "path": self.path,
            "capability_id": self.capability_id or None,
            "status": self.status,
            "revision": self.revision,
            "digest": self.digest,
            "findings": [finding.as_dict() for finding in self.findings],
            **({"powers": self.powers.as_dict()} if self.powers is not None else {}),
        }


def validate_all(sources: Iterable[SourceBundle]) -> list[ValidationResult]:
    """Check each bundle against what is published and against the ones before it in this call."""
    checked = validate_set(sources, published=get_validation_context())
    beside = {entry.report.capability_id for entry in checked}
    _require_some_checked([entry.report.findings for entry in checked])
    return [replace(entry, report=assess_report(entry.report, beside=beside)) for entry in checked]


def list_powers(sources: Iterable[SourceBundle]) -> list[BundlePowers]:
    """What each bundle may do, against what is published under its id. Raises `SourceUnreadable`."""
    rows = []
    for source in sources:
        report = validate_bundle(source.files, published=get_validation_context())
        if report.bundle is None:
            raise SourceUnreadable(f"{source.path}: it cannot be read as a bundle; bundle validate says why")
        rows.append(compare_with_published(report.bundle))
    return rows


def publish_all(
    sources: Iterable[SourceBundle],
    *,
    by: Actor,
    note: str = "",
    acknowledge: Collection[str] = (),
    dry_run: bool = False,
) -> list[BatchResult]:
    """Publish each bundle in turn; what validating the whole call shows as an error is refused.

    Raises `Forbidden` where `by` may change none of them; one of several is refused with the reason as its finding.
    """
    options = _PublishOptions(by, note, tuple(acknowledge))
    given = list(sources)
    if not dry_run:
        _bring(given, by)
    results = list(_foresee_all(given, options) if dry_run else _publish_all(given, options))
    _report_imported(given, results, by, dry_run=dry_run)
    return _require_some_allowed(results)


def _bring(sources: Sequence[SourceBundle], by: Actor) -> None:
    """The bytes of their files; of a bundle that is refused they are forgotten after a day."""
    for source in sources:
        file_contents.bring(source.contents, source.files, by)


def publish_drafts(
    capability_ids: Sequence[str],
    *,
    by: Actor,
    note: str = "",
    acknowledge: Collection[str] = (),
    dry_run: bool = False,
) -> list[BatchResult]:
    """Publish the draft of each in turn; one that is not there, or is saved in that moment, is refused with the
    code of the error.

    With one alone there is no rest to go on with: raises `CapabilityNotFound`, `DraftNotFound`, `DraftConflict`,
    `Forbidden`.
    """
    results = []
    names = list(dict.fromkeys(capability_ids))
    reports = validate_in_turn((drafts.read_draft_files(name) for name in names), get_validation_context)
    for name, report in zip(names, reports, strict=True):
        try:
            outcome = publication.publish_draft(
                capability_id=name, by=by, note=note, acknowledge=acknowledge, dry_run=dry_run, report=report
            )
        except (CapabilityNotFound, DraftNotFound, DraftConflict, Forbidden) as error:
            if len(names) == 1:
                raise
            found = Finding(error.code, "error", "", "", None, None, error.message, "")
            results.append(BatchResult(name, name, "refused", None, None, (found,), {}))
        else:
            results.append(build_result(outcome, name, with_powers=dry_run))
    _require_some_checked([result.findings for result in results])
    return results


def save_draft(*, capability_id: str, files: Mapping[str, str], based_on: int | None, by: Actor) -> drafts.SavedDraft:
    """As `drafts.save_draft`, of all files that an export has: what is beside the bundle is taken as by an import."""
    saved = drafts.save_draft(capability_id=capability_id, files=files, based_on=based_on, by=by)
    IMPORTED(capability_id, files, by)
    return saved


def _report_imported(
    sources: Sequence[SourceBundle], results: Sequence[BatchResult], by: Actor, *, dry_run: bool
) -> None:
    for source, result in zip(sources, results, strict=True):
        if result.status != "refused" and not dry_run:
            IMPORTED(result.capability_id, source.files, by)


@dataclass(frozen=True, slots=True)
class _PublishOptions:
    by: Actor
    note: str
    acknowledge: tuple[str, ...]
    # Whether somebody outside wrote the texts.
    is_foreign: bool = False


def _foresee_all(sources: Iterable[SourceBundle], options: _PublishOptions) -> Iterator[BatchResult]:
    for entry in validate_all(sources):
        report = replace(entry.report, is_foreign=options.is_foreign)
        try:
            if report.capability_id:
                require_edit_permission(report.capability_id, options.by)
        except Forbidden as error:
            yield _denied(report, entry.path, error)
            continue
        foreseen = publication.dry_run_publish(report, options.acknowledge, by=options.by, note=options.note)
        yield build_result(foreseen, entry.path, with_powers=True)


def _publish_all(sources: Iterable[SourceBundle], options: _PublishOptions) -> Iterator[BatchResult]:
    for source, report in _validate_in_turn(sources):
        try:
            outcome = publication.publish_validated(
                replace(report, is_foreign=options.is_foreign),
                by=options.by,
                note=options.note,
                acknowledge=options.acknowledge,
            )
        except Forbidden as error:
            yield _denied(report, source.path, error)
        else:
            if options.is_foreign:
                _keep_held(report, outcome, options)
            yield build_result(outcome, source.path)


def _keep_held(report: Report, outcome: publication.PublishResult, options: _PublishOptions) -> None:
    """The texts of an import that waits for a person alone, as a draft: who decides publishes it then."""
    waits = {finding.code for finding in outcome.findings if finding.is_error}
    if outcome.status == "refused" and waits == {"SEC_HELD"}:
        drafts.replace_draft(
            capability_id=report.capability_id, files=report.files, by=options.by, note=options.note, report=report
        )


def _denied(report: Report, path: str, error: Forbidden) -> BatchResult:
    hint = "Use a key, or an account, that may change it; leave the bundle out of this call."
    denied = refuse_id(report, DENIED, error.message, hint)
    return BatchResult(path, report.capability_id, "refused", None, None, denied.findings, dict(denied.files))


def _require_some_checked(found: Sequence[Sequence[Finding]]) -> None:
    """A call of which nothing could be checked has no answer but to come again. Raises `ChecksUnfinished`."""
    if found and all(any(one.code == ChecksUnfinished.code for one in findings) for findings in found):
        raise ChecksUnfinished


def _require_some_allowed(results: list[BatchResult]) -> list[BatchResult]:
    """A call of which nothing is allowed, or could be checked, is refused as a whole: with one bundle there is no rest
    to go on with."""
    _require_some_checked([result.findings for result in results])
    denials = [finding for result in results for finding in result.findings if finding.code == DENIED]
    if results and len(denials) == len(results):
        raise Forbidden(denials[0].message)
    return results


def _validate_in_turn(sources: Iterable[SourceBundle]) -> Iterator[tuple[SourceBundle, Report]]:
    """Each against what is published when its turn comes, the bundles before it in this call included."""
    given, seen = list(sources), dict[str, str]()
    reports = validate_in_turn((source.files for source in given), get_validation_context)
    for source, report in zip(given, reports, strict=True):
        yield source, with_duplicate_id(with_unreadable(report, source), source.path, seen)


def build_result(outcome: publication.PublishResult, path: str, *, with_powers: bool = False) -> BatchResult:
    """The result of one bundle as a row of the output; `with_powers` says too what it may do."""
    files = dict(outcome.gate.report.files) if outcome.gate else {}
    return BatchResult(
        path,
        outcome.capability_id,
        outcome.status,
        outcome.revision,
        outcome.digest,
        outcome.findings,
        files,
        outcome.gate,
        outcome.gate.powers if with_powers and outcome.gate else None,
    )


def import_all(
    sources: Iterable[SourceBundle],
    *,
    by: Actor,
    mode: Mode,
    note: str = "",
    acknowledge: Collection[str] = (),
    dry_run: bool = False,
    over: Mapping[str, int] | None = None,
) -> list[BatchResult]:
    """Import each bundle or Agent Skill, as a draft (whatever its errors) or published.

    `over` names, by id, versions of drafts that may be written over rather than discarded.

    What an Agent Skill lost on the way is among its findings; one that cannot be read is refused with the cause. A dry
    run says `draft` and stores none. Raises `Forbidden` as `publish_all` does.
    """
    given = list(sources)
    if not dry_run:
        _bring(given, by)
    taken = [import_skill(source) for source in given]
    readable = [SourceBundle(entry.path, entry.files) for entry in taken if entry.files is not None]
    options = _PublishOptions(by, note, tuple(acknowledge), is_foreign=True)
    if mode == "draft":
        done = _import_drafts(readable, options, dry_run=dry_run, over=over or {})
    else:
        done = _foresee_all(readable, options) if dry_run else _publish_all(readable, options)
    results = [_unreadable(entry) if entry.files is None else _with_losses(next(done), entry) for entry in taken]
    _report_imported(given, results, by, dry_run=dry_run)
    return _require_some_allowed(results)


def _unreadable(taken: ImportedSkill) -> BatchResult:
    return BatchResult(taken.path, "", "refused", None, None, sort_findings([*taken.findings]), dict(taken.shown))


def _with_losses(result: BatchResult, taken: ImportedSkill) -> BatchResult:
    findings = sort_findings([*taken.findings, *result.findings])
    return replace(result, findings=findings, files={**taken.shown, **result.files})


def _import_drafts(
    sources: Iterable[SourceBundle], options: _PublishOptions, *, dry_run: bool, over: Mapping[str, int]
) -> Iterator[BatchResult]:
    """A draft needs an id to live under, and texts that can be stored; everything else can be fixed in the Studio."""
    given = list(_validate_in_turn(sources))
    beside = {checked.capability_id for _, checked in given}
    for source, checked in given:
        report = assess_report(replace(checked, is_foreign=options.is_foreign), beside=beside)
        name, files = report.capability_id, report.files
        refused = BatchResult(source.path, name, "refused", None, None, report.findings, dict(files))
        if not name or any(finding.code in _UNSTORABLE for finding in report.errors):
            yield refused
            continue
        try:
            own = over.get(name)
            draft = drafts.replace_draft(
                capability_id=name,
                files=files,
                by=options.by,
                note=options.note,
                dry_run=dry_run,
                over=own,
                report=report,
            )
            if draft is not None:
                held_passages.record_held_draft(draft, report.findings, by=options.by)
        except InvalidRequest:
            yield refused
        except Forbidden as error:
            yield _denied(report, source.path, error)
        else:
            yield replace(refused, status="draft")
