"""Bundles that agents submit for review: never published by themselves, never replacing somebody's work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet, Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length
from django.utils import timezone

from capability_rules.bundles.text_diff import FileDiff, diff_files
from capability_rules.bundles.validation_context import ValidationContext, VisibilityFilter
from capability_rules.errors import InvalidRequest
from capability_rules.validation import Report, validate_bundle
from registry.access.key_limits import require_within_limit
from registry.access.teams import get_or_create_capability, require_edit_permission
from registry.catalog.drafts import (
    UNSTORABLE_CODES,
    discard,
    get_active_draft,
    normalize_files,
    require_known_files,
    store_draft,
    validate_draft_files,
)
from registry.common.actors import Actor
from registry.common.errors import BundleRejected, ProposalNotFound, StatusConflict, TooManyProposals
from registry.core import audit
from registry.core.file_contents import hold_files
from registry.core.published_index import get_validation_context
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.matching.near_duplicates import find_near_duplicates
from registry.models import Capability, Draft, Proposal

# What one key may have open: a runaway agent must not bury the reviewers.
OPEN_PROPOSALS_MAX: Final = 50
# And their texts together, in characters: a key must not fill the disk either.
OPEN_CHARACTERS_MAX: Final = 16 * 1024 * 1024


@dataclass(frozen=True)
class ProposalResult:
    """`report` is for the proposer. `draft_version` is None where there is another author's draft, the proposal beside
    it."""

    proposal: Proposal
    report: Report
    draft_version: int | None


def propose(
    *, files: Mapping[str, str], by: Actor, note: str = "", is_visible: VisibilityFilter | None = None
) -> ProposalResult:
    """Take a bundle in for review: as the draft, or beside a draft that is not the proposer's own.

    An earlier open proposal of the same key for the same capability is superseded, and its texts are not kept. Of a
    capability that the proposer may not know, by `is_visible`, no finding reveals. Raises `BundleRejected` where the
    texts cannot be a draft of anything, `InvalidRequest` for an unknown file, `TooManyProposals`, and `Forbidden` for a
    key with a limit that the capability is not within, and a member by an assistant who may not change it.
    """
    report = validate_bundle(files, published=get_validation_context())
    told = (
        validate_bundle(files, published=_visible_context(is_visible, report.capability_id))
        if is_visible is not None
        else report
    )
    texts = _texts_of(told, files)
    near = [found.as_dict() for found in find_near_duplicates(report.bundle)] if report.bundle is not None else []
    with write_transaction():
        if by.kind == "operator":
            require_edit_permission(report.capability_id, by)
        require_within_limit(report.capability_id, by, is_visible=is_visible)
        capability, _ = get_or_create_capability(report.capability_id, by)
        _supersede(capability, by)
        if Proposal.objects.filter(key_name=by.reporter, status="draft").count() >= OPEN_PROPOSALS_MAX:
            raise TooManyProposals(f"'{by.reporter}' has {OPEN_PROPOSALS_MAX} proposals that have not been decided yet")
        _require_room(by, sum(map(len, texts.values())))
        proposal = Proposal(capability=capability, key_name=by.reporter, note=note, near_duplicates=near)
        proposal.files = texts
        proposal.save(force_insert=True)
        hold_files(capability, texts, by)
        current = get_active_draft(capability)
        draft = None
        if current is None or _is_own(current, by):
            if current is not None:
                # Nobody has worked on it, and its key has sent another: it is not kept for 30 days.
                current.delete()
            draft = _promote_to_draft(proposal, None, by, report)
        _record(proposal, by, "proposal.create", draft_version=draft.version if draft else None, note=note)
    return ProposalResult(proposal, told, draft.version if draft else None)


def _visible_context(is_visible: VisibilityFilter | None, own: str) -> ValidationContext:
    known = get_validation_context()
    return known if is_visible is None else known.visible_to(is_visible, own=own)


def _texts_of(report: Report, files: Mapping[str, str]) -> dict[str, str]:
    require_known_files(files)
    if not report.capability_id or any(finding.code in UNSTORABLE_CODES for finding in report.errors):
        raise BundleRejected("The bundle cannot be read as the draft of a capability", report.findings)
    try:
        return normalize_files(report.capability_id, files)
    except InvalidRequest as error:
        raise BundleRejected(error.message, report.findings) from error


def _require_room(by: Actor, characters: int) -> None:
    texts = [Coalesce(Length(column), 0) for column in Proposal.COLUMNS.values()]
    length = sum(texts, start=Length(Cast("supporting_files", TextField())))
    held = Proposal.objects.filter(key_name=by.reporter, status="draft").aggregate(sum=Sum(length))["sum"] or 0
    if held + characters > OPEN_CHARACTERS_MAX:
        raise TooManyProposals(
            f"The proposals of '{by.reporter}' that have not been decided yet would hold {held + characters:,} "
            f"characters; at most {OPEN_CHARACTERS_MAX:,} are allowed"
        )


def _supersede(capability: Capability, by: Actor) -> None:
    """Nobody decides on a superseded one: without its texts a key that proposes again and again takes no more room."""
    for earlier in Proposal.objects.filter(capability=capability, key_name=by.reporter, status="draft"):
        _decide(earlier, "superseded", by, note="Proposed again")
        earlier.files = {}
        earlier.save(update_fields=[*Proposal.COLUMNS.values(), "supporting_files"])


def _is_own(draft: Draft, by: Actor) -> bool:
    """Whether it came from this key, and no operator has worked on it since; of a member that cannot be known."""
    sent = draft.proposal
    return by.kind == "agent_key" and sent is not None and sent.key_name == by.name and draft.saved_by == str(by)


def _promote_to_draft(proposal: Proposal, current: Draft | None, by: Actor, report: Report) -> Draft:
    if current is not None:
        discard(current)
    return store_draft(proposal.capability, None, proposal.files, by, report=report, proposal=proposal)


def _decide(proposal: Proposal, status: str, by: Actor, *, note: str = "", revision: int | None = None) -> None:
    decided = {"decided_at": timezone.now(), "decided_by": str(by), "decision_note": note}
    update_row(proposal, status=status, published_revision=revision, **decided)


def _record(proposal: Proposal, by: Actor, verb: str, **detail: Any) -> None:
    known = {key: value for key, value in detail.items() if value not in (None, "")}
    detail = {"proposal_id": str(proposal.proposal_id), **known}
    audit.record(by=by, verb=verb, subject=proposal.capability.capability_id, detail=detail)


def accept_proposal(*, proposal_id: str | UUID, by: Actor, note: str = "") -> Draft:
    """Make a proposal the draft; another draft is discarded for 30 days. It is decided on when that is published.

    Raises `ProposalNotFound`, and `StatusConflict` where it was decided on already.
    """
    report = validate_proposal(_open(proposal_id))
    with write_transaction():
        proposal = _open(proposal_id)
        require_edit_permission(proposal.capability.capability_id, by)
        current = get_active_draft(proposal.capability)
        if current is not None and current.proposal == proposal:
            return current
        draft = _promote_to_draft(proposal, current, by, report)
        _record(proposal, by, "proposal.accept", draft_version=draft.version, note=note)
    return draft


def reject_proposal(*, proposal_id: str | UUID, by: Actor, note: str = "") -> Proposal:
    """Decline a proposal; the note is for the proposer. Its draft goes, unless an operator has worked on it since.

    Raises `ProposalNotFound`, and `StatusConflict` where it was decided on already.
    """
    with write_transaction():
        proposal = _open(proposal_id)
        require_edit_permission(proposal.capability.capability_id, by)
        draft = get_active_draft(proposal.capability)
        if draft is not None and draft.proposal == proposal:
            if draft.files == proposal.files:
                discard(draft)
            else:
                update_row(draft, proposal=None)
        _decide(proposal, "rejected", by, note=note)
        _record(proposal, by, "proposal.reject", note=note)
    return proposal


def mark_published(draft: Draft, *, revision: int, by: Actor, note: str = "") -> None:
    """The draft was published; so was the proposal that it came from, even where its proposer has made another since.

    In the publisher's transaction."""
    if draft.proposal is not None and draft.proposal.status in ("draft", "superseded"):
        _decide(draft.proposal, "published", by, note=note, revision=revision)


def _open(proposal_id: str | UUID) -> Proposal:
    proposal = get_proposal(proposal_id)
    if not proposal.is_open:
        raise StatusConflict(f"The proposal was already decided: it is {proposal.status}")
    return proposal


def get_proposal(proposal_id: str | UUID, *, key_name: str | None = None) -> Proposal:
    """A proposal; with `key_name` one of that key's own. Raises `ProposalNotFound`."""
    found = Proposal.objects.select_related("capability__published_revision").filter(proposal_id=_as_uuid(proposal_id))
    if key_name is not None:
        found = found.filter(key_name=key_name)
    return get_row(found, ProposalNotFound(f"There is no proposal '{proposal_id}' that you may see"))


def _as_uuid(value: str | UUID) -> UUID:
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except ValueError:
        raise ProposalNotFound(f"There is no proposal '{value}' that you may see") from None


def list_proposals(*, status: str = "", search: str = "", limit: int | None = 100) -> QuerySet[Proposal]:
    """The newest first, with capability.json alone of their texts; `search` looks in ids, notes and names of keys,
    and `limit` None is all."""
    texts = (column for name, column in Proposal.COLUMNS.items() if name != "capability.json")
    found = Proposal.objects.select_related("capability").defer(*texts)
    if search:
        words = Q(capability__capability_id__icontains=search) | Q(note__icontains=search)
        found = found.filter(words | Q(key_name__icontains=search))
    if status:
        found = found.filter(status=status)
    return found[:limit]


def validate_proposal(proposal: Proposal, *, is_visible: VisibilityFilter | None = None) -> Report:
    """The validation report of the texts in the registry's current state; `is_visible` as for `propose`. An empty one
    where the texts are not kept."""
    own = proposal.capability.capability_id
    if not proposal.files:
        return Report({}, (), None, own)
    seen = None if is_visible is None else _visible_context(is_visible, own)
    return validate_draft_files(own, proposal.files, published=seen)


@dataclass(frozen=True)
class ProposalReview:
    """A proposal as a reviewer sees it. `against` is `draft`, `published`, or empty where there is neither; `draft` is
    another author's, and `is_draft` says that the proposal is the draft, as it came."""

    report: Report
    diffs: tuple[FileDiff, ...]
    against: str
    draft: Draft | None
    is_draft: bool


def get_proposal_review(proposal: Proposal, *, against: str = "") -> ProposalReview:
    """Its findings, and how it differs from the draft that it would replace, or from what is published."""
    capability = proposal.capability
    current = get_active_draft(capability)
    is_draft = current is not None and current.proposal == proposal
    other = None if is_draft else current
    published = capability.published_revision
    choices = {"draft": other, "published": published}
    chosen = against if choices.get(against) is not None else "draft" if other else "published" if published else ""
    base = choices.get(chosen)
    diffs = diff_files(base.files if base else {}, proposal.files) if proposal.files else ()
    return ProposalReview(validate_proposal(proposal), diffs, chosen, other, is_draft)
