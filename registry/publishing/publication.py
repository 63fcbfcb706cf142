"""The verbs that change what readers see (docs/contract.md 3).

Texts that come in are validated before the transaction, and inside it what another writer could have changed is checked
again; a rollback and a restore check what is stored, inside it. A crash at
any moment leaves the old state or the new one whole: there is one transaction, and readers follow one pointer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from capability_kit import tracing
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.validation import RULES_VERSION, Finding, Report, validate_bundle
from features.acceptances.held_passages import (
    forget_waiting,
    list_excused_passages,
    list_revision_decisions,
    record_held,
)
from registry.access.teams import capability_write, create_capability, require_edit_permission
from registry.catalog.assessment import assess_report
from registry.catalog.drafts import discard, get_active_draft, get_draft, list_editors, validate_draft
from registry.catalog.integrity import is_intact
from registry.common.actors import Actor
from registry.common.errors import ReplacementInvalid, StatusConflict
from registry.core import audit
from registry.core.file_contents import hold_files
from registry.core.published_index import get_validation_context
from registry.core.queries import HELD_STATUSES, LOADABLE_STATUSES, files_digest, find_revision, get_next_number
from registry.core.rows import get_row, update_row
from registry.core.signatures import sign_revision
from registry.core.transactions import get_registry_revision, write_transaction
from registry.matching.near_duplicates import simhash, term_counts
from registry.models import Capability, Draft, RegistryState, Revision, ToolName
from registry.publishing import reviews
from registry.publishing.events import SUPERSEDED
from registry.publishing.gate import GateReport
from registry.publishing.gate_check import GateRequest, evaluate_gate, find_capability
from registry.publishing.proposals import mark_published
from registry.publishing.quarantine import (
    describe_end,
    end_quarantine,
    is_quarantine_open,
    require_end,
    status_after_publish,
)
from registry.publishing.release_pointer import set_published_revision, status_detail

_SPAN: Final = "publish capability"
Status = Literal["published", "unchanged", "draft", "refused", "would_publish"]


@dataclass(frozen=True)
class PublishResult:
    """The result of a publishing function, as command line and operator API return it.

    `gate` is the whole report; `findings` are those of it that decided. `revision` and `digest` are those that readers
    get from now on, or when a quarantine ends; None where nothing is published.
    """

    capability_id: str
    status: Status
    revision: int | None
    digest: str | None
    findings: tuple[Finding, ...]
    registry_revision: int
    gate: GateReport | None = None


def publish(
    *,
    files: Mapping[str, bytes | str],
    by: Actor,
    note: str = "",
    acknowledge: Collection[str] = (),
    dry_run: bool = False,
) -> PublishResult:
    """Publish the texts of a bundle. They replace the capability's draft, which is discarded and kept for 30 days.

    Content equal to the published revision makes no new one (`unchanged`). A refusal changes nothing that readers see;
    passages that a person has to decide about are kept.
    """
    report = validate_bundle(files, published=get_validation_context())
    if dry_run:
        return dry_run_publish(report, acknowledge, by=by, note=note)
    return publish_validated(report, by=by, note=note, acknowledge=acknowledge)


def publish_validated(report: Report, *, by: Actor, note: str = "", acknowledge: Collection[str] = ()) -> PublishResult:
    """As `publish`, for texts that were validated a moment ago."""
    report = assess_report(report)
    if not report.ok:
        return _refuse(report, acknowledge, report.capability_id, by=by, note=note)
    with tracing.span(_SPAN) as span, write_transaction() as state:
        outcome = _publish(state, report, by=by, note=note, acknowledge=acknowledge)
        _describe(span, outcome)
        return outcome


def publish_draft(
    *,
    capability_id: str,
    by: Actor,
    draft_version: int | None = None,
    note: str | None = "",
    acknowledge: Collection[str] = (),
    dry_run: bool = False,
    report: Report | None = None,
) -> PublishResult:
    """Publish the draft as it is stored.

    `draft_version` is the version that the caller has read: raises `DraftConflict` where the draft has moved on,
    `DraftNotFound` where there is none. In a dry run `note` may be None: none was requested yet. `report` is as for
    `validate_draft`.
    """
    draft = get_draft(capability_id, version=draft_version)
    report = validate_draft(draft, report)
    if dry_run:
        return dry_run_publish(report, acknowledge, capability_id, by=by, note=note)
    if not report.ok:
        return _refuse(report, acknowledge, capability_id, by=by, note=note or "")
    return publish_validated_draft(
        report,
        capability_id=capability_id,
        draft_version=draft.version,
        by=by,
        note=note or "",
        acknowledge=acknowledge,
    )


def publish_validated_draft(
    report: Report,
    *,
    capability_id: str,
    draft_version: int,
    by: Actor,
    note: str = "",
    acknowledge: Collection[str] = (),
) -> PublishResult:
    """As `publish_draft`, for a draft whose texts were found without an error a moment ago."""
    with tracing.span(_SPAN) as span, write_transaction() as state:
        draft = get_draft(capability_id, version=draft_version)
        outcome = _publish(state, report, draft, by=by, note=note, acknowledge=acknowledge)
        _describe(span, outcome)
        if outcome.status != "refused" and outcome.revision is not None:
            mark_published(draft, revision=outcome.revision, by=by, note=note)
        return outcome


def _describe(span: tracing.TraceSpan, outcome: PublishResult) -> None:
    span.set("studio.capability_id", outcome.capability_id)
    span.set("studio.publish.status", outcome.status)
    span.set("studio.publish.findings", len(outcome.findings))
    if outcome.revision is not None:
        span.set("studio.revision", outcome.revision)


def preview_publish(*, files: Mapping[str, bytes | str], by: Actor | None = None) -> GateReport:
    """The gate's report on texts, against what readers have now; writes nothing. `by` is who would publish them."""
    report = validate_bundle(files, published=get_validation_context())
    return evaluate_gate(report, find_capability(report.capability_id), GateRequest(by=by), run_utterance_check=True)


def preview_rollback(revision: Revision, *, by: Actor) -> GateReport:
    """The gate's report on making a revision live again; writes nothing."""
    return _gate_of(
        revision, revision.capability, GateRequest(by=by, previously_published=True), run_utterance_check=True
    )


def dry_run_publish(
    report: Report,
    acknowledge: Collection[str] = (),
    capability_id: str = "",
    *,
    by: Actor | None = None,
    note: str | None = None,
) -> PublishResult:
    """What publishing these texts would do; writes nothing."""
    return _foresee(report, GateRequest(acknowledge, by, note), capability_id, run_utterance_check=True)


def _refuse(report: Report, acknowledge: Collection[str], capability_id: str, *, by: Actor, note: str) -> PublishResult:
    """The result of texts with errors. As inside of the lock, example messages are not rehearsed: among a thousand
    bundles each that is refused would wait for an index of those before it."""
    return _foresee(report, GateRequest(acknowledge, by, note), capability_id, run_utterance_check=False)


def _foresee(report: Report, asked: GateRequest, capability_id: str, *, run_utterance_check: bool) -> PublishResult:
    name = capability_id or report.capability_id
    capability = find_capability(name)
    gate = evaluate_gate(report, capability, asked, run_utterance_check=run_utterance_check)
    unchanged = gate.unchanged and capability is not None and capability.status in HELD_STATUSES
    status: Status = "refused" if gate.refused else "unchanged" if unchanged else "would_publish"
    return _outcome(capability, name, status, gate, get_registry_revision())


def _outcome(capability: Capability | None, name: str, status: Status, gate: GateReport, at: int) -> PublishResult:
    visible = capability.published_revision if capability and capability.status in HELD_STATUSES else None
    digest = visible.digest if visible else None
    if status == "would_publish" and gate.report.bundle is not None:
        digest = gate.report.bundle.digest
    revision = visible.number if visible else None
    return PublishResult(name, status, revision, digest, gate.findings, at, gate)


def _publish(
    state: RegistryState,
    report: Report,
    draft: Draft | None = None,
    *,
    by: Actor,
    note: str,
    acknowledge: Collection[str],
) -> PublishResult:
    """Inside the lock: what is true here stays true until the commit. `draft` is the active one that the report is of;
    else the capability's own is looked for."""
    bundle = report.bundle
    if bundle is None:
        raise ValueError("only a report without errors can be published")
    require_edit_permission(bundle.capability_id, by)
    capability = draft.capability if draft is not None else find_capability(bundle.capability_id)
    if capability is not None and capability.capability_id != bundle.capability_id:
        raise ValueError(f"the report is of '{bundle.capability_id}', the draft of '{capability.capability_id}'")
    gate = evaluate_gate(_with_collisions(report, bundle), capability, GateRequest(acknowledge, by, note))
    if gate.refused:
        _record_held(gate, capability, by)
        return _outcome(capability, bundle.capability_id, "refused", gate, state.registry_revision)
    if gate.unchanged and capability is not None and capability.status in HELD_STATUSES:
        _replace_draft(draft or get_active_draft(capability))
        return _outcome(capability, bundle.capability_id, "unchanged", gate, state.registry_revision)
    # A new capability has no draft, review, incident or scheduled release to end.
    is_new = capability is None
    if capability is None:
        capability = create_capability(bundle.capability_id, by)
    draft = draft or (None if is_new else get_active_draft(capability))
    facts: dict[str, Any] = {"note": note, "created_by": str(by), "approved_by": gate.approved_by}
    facts["editors"] = _list_editors(draft, report, by)
    facts["held_decisions"] = list_revision_decisions(gate.findings)
    facts["excused_passages"] = list_excused_passages(gate.report)
    hold_files(capability, bundle.supporting_files, by)
    revision = _store_revision(capability, 1 if is_new else get_next_number(capability), bundle, facts)
    status = status_after_publish(capability)
    _replace_draft(draft)
    set_published_revision(
        state, capability, revision,
        status=status, resolves_incidents=not is_new, tool_names=bundle.tool_names, has_tool_names=not is_new,
    )  # fmt: skip
    detail = {"revision": revision.number, "digest": revision.digest, "note": note, "acknowledged": sorted(acknowledge)}
    detail |= {"approved_by": gate.approved_by} if gate.approved_by else {}
    audit.record(by=by, verb="capability.publish", subject=capability.capability_id, detail=detail)
    forget_waiting(capability.capability_id)
    if not is_new:
        reviews.close_active(capability, report, revision=revision.number, by=by)
        SUPERSEDED(capability, why=f"Revision {revision.number} was published")
    return _outcome(capability, bundle.capability_id, "published", gate, state.registry_revision)


def _record_held(gate: GateReport, capability: Capability | None, by: Actor) -> None:
    """Keep what waits for a decision, so that those who may decide hear of it."""
    draft = get_active_draft(capability) if capability is not None else None
    editors = _list_editors(draft, gate.report, by)
    record_held(gate.report.capability_id, gate.findings, gate.report.files, submitted_by=editors, by=by)


def _list_editors(draft: Draft | None, report: Report, by: Actor) -> list[str]:
    """Everyone who worked on these texts: on the draft where it has them, else the actor who sent them."""
    if draft is None or reviews.draft_digest(draft) != reviews.report_digest(report):
        return [str(by)]
    return list_editors(draft)


def _with_collisions(report: Report, bundle: SkillBundle) -> Report:
    """Collisions again, under the lock: another capability may have taken a name since the report was made."""
    owners = dict(ToolName.objects.filter(name__in=bundle.tool_names).values_list("name", "capability__capability_id"))
    if all(owner == bundle.capability_id for owner in owners.values()):
        return report
    found = validate_bundle(report.files, published=get_validation_context())
    return replace(found, is_foreign=report.is_foreign)


def _store_revision(capability: Capability, number: int, bundle: SkillBundle, facts: dict[str, Any]) -> Revision:
    """`facts` are the columns about who published it and why."""
    revision = Revision(
        capability=capability,
        number=number,
        name=bundle.capability["name"],
        digest=bundle.digest,
        content_digest=bundle.content_digest,
        files_digest=files_digest(dict(bundle.files)),
        rules_version=RULES_VERSION,
        read_only_digest=bundle.without_write_tools().digest,
        simhash=simhash(term_counts(bundle)),
        **facts,
    )
    revision.files = dict(bundle.files)
    revision.signature = sign_revision(revision)
    revision.save(force_insert=True)
    return revision


def _replace_draft(draft: Draft | None) -> None:
    """Published texts replace a draft; one that differs from them is discarded."""
    if draft is not None:
        discard(draft)


def set_visibility(*, capability_id: str, visibility: Literal["listed", "unlisted"], by: Actor, note: str = "") -> None:
    """List it, or show it only to keys that redeem its install code; readers are notified as of any change.

    Raises `CapabilityNotFound`. The same again changes nothing.
    """
    with capability_write(capability_id, by) as (state, capability):
        if capability.visibility == visibility:
            return
        now = {"visibility": visibility}
        changed = audit.changed({"visibility": capability.visibility}, now)
        update_row(capability, visibility=visibility)
        if capability.published_revision is not None:
            set_published_revision(
                state, capability, capability.published_revision, status=capability.status, resolves_incidents=False
            )
        detail = now | ({"note": note} if note else {}) | changed
        audit.record(by=by, verb="capability.visibility", subject=capability_id, detail=detail)


def rollback(
    *, capability_id: str, to: int, by: Actor, note: str = "", acknowledge: Collection[str] = ()
) -> PublishResult:
    """Point readers at an older revision again: no new number, a new registry revision, today's gate.

    Raises `CapabilityNotFound`, `RevisionNotFound`, and `StatusConflict` where nothing is published.
    """
    with capability_write(capability_id, by) as (state, capability):
        if capability.status not in HELD_STATUSES:
            raise StatusConflict(f"'{capability_id}' is {capability.status}: there is nothing to roll back")
        revision = find_revision(capability, number=to)
        gate = _gate_of(revision, capability, GateRequest(acknowledge, by, note, previously_published=True))
        if gate.refused:
            return _outcome(capability, capability_id, "refused", gate, state.registry_revision)
        _require_intact(revision, capability)
        if revision == capability.published_revision:
            return _outcome(capability, capability_id, "unchanged", gate, state.registry_revision)
        detail = {"from": _number(capability), "to": to, "note": note, "acknowledged": sorted(acknowledge)}
        detail |= audit.changed({"revision": _number(capability)}, {"revision": to})
        set_published_revision(state, capability, revision, status=capability.status)
        audit.record(by=by, verb="capability.rollback", subject=capability_id, detail=detail)
        SUPERSEDED(capability, why=f"{by.name} rolled it back to revision {to}")
        return _outcome(capability, capability_id, "published", gate, state.registry_revision)


def _number(capability: Capability) -> int | None:
    return capability.published_revision.number if capability.published_revision else None


def _gate_of(
    revision: Revision, capability: Capability, asked: GateRequest, *, run_utterance_check: bool = False
) -> GateReport:
    asked = replace(asked, was_quarantined=revision.releases.filter(status="quarantined").exists())
    report = validate_bundle(revision.files, published=get_validation_context())
    return evaluate_gate(report, capability, asked, run_utterance_check=run_utterance_check)


def _require_intact(revision: Revision, capability: Capability) -> None:
    if not is_intact(revision):
        raise StatusConflict(
            f"Revision {revision.number} of '{capability.capability_id}' was damaged where it is stored; "
            "publish its texts again"
        )


def deprecate(*, capability_id: str, by: Actor, replaced_by: str | None = None, note: str = "") -> Capability:
    """Keep it loadable and say that it is on its way out, and what to use instead.

    Raises `StatusConflict` where it is neither published nor deprecated, `ReplacementInvalid` for a bad replacement.
    """
    with capability_write(capability_id, by) as (state, capability):
        if capability.status not in LOADABLE_STATUSES or capability.published_revision is None:
            raise StatusConflict(
                f"'{capability_id}' is {capability.status}: only a published capability can be deprecated"
            )
        replacement = _replacement(capability, replaced_by) if replaced_by else None
        detail = {"replaced_by": replaced_by, "note": note}
        if capability.status == "deprecated" and capability.replaced_by == replacement:
            return capability
        was = status_detail(capability)
        _deprecate(state, capability, replacement)
        detail |= audit.changed(was, {"status": "deprecated", "replaced_by": replaced_by or None})
        audit.record(by=by, verb="capability.deprecate", subject=capability_id, detail=detail)
        return capability


def _deprecate(state: RegistryState, capability: Capability, replacement: Capability | None) -> None:
    if capability.published_revision is not None:
        set_published_revision(
            state, capability, capability.published_revision,
            status="deprecated", replaced_by=replacement, keep_replacement=False, resolves_incidents=False,
        )  # fmt: skip


def _replacement(capability: Capability, replaced_by: str) -> Capability:
    loadable = Capability.objects.filter(capability_id=replaced_by, status__in=LOADABLE_STATUSES)
    found = get_row(loadable, ReplacementInvalid(f"'{replaced_by}' is not a published capability"))
    step: Capability | None = found
    while step is not None:
        if step.pk == capability.pk:
            raise ReplacementInvalid(f"'{replaced_by}' leads back to '{capability.capability_id}'")
        step = step.replaced_by
    return found


def retire(*, capability_id: str, by: Actor, note: str = "", dry_run: bool = False) -> Capability:
    """Take it from readers, pins included; its tool names become free. Raises `StatusConflict`, in a dry run too.

    What it replaced stays deprecated without a replacement: readers are never sent to what they cannot load.
    """
    with capability_write(capability_id, by) as (state, capability):
        if capability.status not in HELD_STATUSES or capability.published_revision is None:
            raise StatusConflict(f"'{capability_id}' is {capability.status}: only what readers can load can be retired")
        if dry_run:
            return capability
        for replaced in Capability.objects.filter(replaced_by=capability, status="deprecated"):
            was = status_detail(replaced)
            _deprecate(state, replaced, None)
            detail = {"replaced_by": None, "note": f"'{capability_id}', which replaced it, was retired"}
            detail |= audit.changed(was, {"status": "deprecated", "replaced_by": None})
            audit.record(by=by, verb="capability.deprecate", subject=replaced.capability_id, detail=detail)
        detail = {"note": note} | audit.changed({"status": capability.status}, {"status": "retired"})
        set_published_revision(state, capability, capability.published_revision, status="retired")
        audit.record(by=by, verb="capability.retire", subject=capability_id, detail=detail)
        SUPERSEDED(capability, why=f"{by.name} retired it")
        return capability


def restore(*, capability_id: str, by: Actor, note: str = "", is_confirmed: bool = False) -> PublishResult:
    """Restore a deprecated or retired capability as published, a quarantined one as what it was, through today's gate.

    `is_confirmed` says that `by` has just shown who they are. Raises `StatusConflict` where it is none of these; where
    it ends a quarantine, `Forbidden` for somebody who may not, and `InvalidRequest` without a note.
    """
    with capability_write(capability_id, by) as (state, capability):
        revision = capability.published_revision
        if capability.status not in ("deprecated", "retired", "quarantined") or revision is None:
            raise StatusConflict(f"'{capability_id}' is {capability.status}: there is nothing to restore")
        is_end = is_quarantine_open(capability)
        end = require_end(capability, by, reason=note, is_confirmed=is_confirmed) if is_end else None
        gate = _gate_of(revision, capability, GateRequest((), by, note, previously_published=True))
        if gate.refused:
            return _outcome(capability, capability_id, "refused", gate, state.registry_revision)
        _require_intact(revision, capability)
        was, detail = {"status": capability.status}, {"note": note} | describe_end(end)
        if end is not None:
            end_quarantine(state, capability, revision)
        else:
            set_published_revision(state, capability, revision, status="published")
        detail |= audit.changed(was, {"status": capability.status})
        audit.record(by=by, verb="capability.restore", subject=capability_id, detail=detail)
        return _outcome(capability, capability_id, "published", gate, state.registry_revision)
