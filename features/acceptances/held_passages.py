"""Deciding about passages that the security checks doubt: who may, and what waits (docs/contract.md 2 and 3).

A decision is for one passage of one file of a capability. What it does to findings is in
`accepted_findings.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from capability_rules.bundles.finding import Finding
from capability_rules.bundles.finding_fingerprints import Passage, find_passages
from capability_rules.validation import Report, validate_bundle
from features.acceptances.acceptance_write import acceptance_write, check_reason
from features.acceptances.models import Acceptance, as_moment
from registry.access.teams import require_edit_permission
from registry.catalog.assessment import assess_report
from registry.catalog.drafts import get_active_draft, get_draft, list_editors, validate_draft
from registry.common.actors import Actor, parse_actor
from registry.common.errors import Forbidden, NotFound
from registry.core import audit
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.published_index import get_validation_context
from registry.core.rows import update_row
from registry.core.transactions import write_transaction
from registry.models import AuditEvent, Capability, Draft, Review
from registry.publishing import reviews
from registry.publishing.second_person import Decider, Deed, evaluate_decider, require_confirmation

# Of one refused publish; a text with more is not decided passage by passage.
_RECORDED_MAX: Final = 200
_WAITING_MAX: Final = 5_000
_LINES_AROUND: Final = 4
_LINE_LENGTH_MAX: Final = 300
_RETENTION_DAYS: Final = 30
_OWN: Final = "You edited or sent these texts"


def page_of(capability_id: str) -> str:
    """The path of the Studio's page where a capability's passages are decided."""
    return f"/capabilities/{capability_id}/decisions/"


def find_held(findings: Iterable[Finding], files: Mapping[str, str]) -> list[tuple[Finding, Passage]]:
    """The first finding of each passage that is held, with the passage."""
    held = [one for one in findings if one.held]
    by_passage: dict[str, tuple[Finding, Passage]] = {}
    for finding, passage in zip(held, find_passages(held, files), strict=True):
        by_passage.setdefault(passage.fingerprint, (finding, passage))
    return list(by_passage.values())


def list_waiting(capability_id: str) -> list[Acceptance]:
    """What waits in a capability: passages of its draft, of texts whose publishing was refused, and of what is
    quarantined. The draft is checked for it; a row that was stored alone has `seen_at`."""
    capability = Capability.objects.filter(capability_id=capability_id).select_related("published_revision").first()
    found = _list_of_draft(capability) + _list_of_quarantine(capability) if capability is not None else []
    known = {one.fingerprint for one in found}
    rows = _pending().filter(capability_id=capability_id).order_by("id")
    return found + [row for row in rows if row.fingerprint not in known]


def _list_of_draft(capability: Capability) -> list[Acceptance]:
    draft = get_active_draft(capability)
    if draft is None:
        return []
    report = assess_report(validate_draft(draft))
    return _waiting(capability.capability_id, report.findings, report.files, list_editors(draft))


def _list_of_quarantine(capability: Capability) -> list[Acceptance]:
    revision = capability.published_revision
    if capability.status != Capability.Status.QUARANTINED or revision is None:
        return []
    report = assess_report(validate_bundle(revision.files, published=get_validation_context()))
    editors = {revision.created_by, *(revision.editors or ())}
    return _waiting(capability.capability_id, report.findings, report.files, sorted(editors))


def _waiting(
    capability_id: str, findings: Iterable[Finding], files: Mapping[str, str], submitted_by: Sequence[str]
) -> list[Acceptance]:
    """A row for each passage that is held, which is not stored."""
    return [
        Acceptance(
            kind=Acceptance.Kind.HELD_PASSAGE,
            capability_id=capability_id,
            fingerprint=passage.fingerprint,
            file=finding.file,
            line=finding.line,
            passage=passage.text,
            message=finding.message,
            submitted_by=list(submitted_by),
            around=_lines_around(files.get(finding.file, ""), finding.line),
        )
        for finding, passage in find_held(findings, files)
    ]


def _lines_around(text: str, line: int | None) -> str:
    """The lines before and behind a place, as their author wrote them."""
    if line is None:
        return ""
    lines = text.split("\n")[max(line - 1 - _LINES_AROUND, 0) : line + _LINES_AROUND]
    return "\n".join(one[:_LINE_LENGTH_MAX] for one in lines).strip("\n")


def _pending() -> QuerySet[Acceptance]:
    return Acceptance.passages.filter(accepted_at__isnull=True)


def list_pending() -> list[Acceptance]:
    """What waits of texts whose publishing was refused, the newest first; drafts are checked when they are opened."""
    return list(_pending().order_by("-seen_at", "-id"))


def list_pending_capabilities(*, excluding: QuerySet[Any, Any], most: int) -> list[tuple[str, datetime, int, str]]:
    """`(capability_id, last seen, how many passages, one doubt)` of each with passages of a refused publish that wait.

    `excluding` has the ids of those that are not to be shown.
    """
    found = _pending().exclude(capability_id__in=excluding).values("capability_id")
    found = found.annotate(latest=Max("seen_at"), number=Count("id"), one=Min("message")).order_by("-latest")
    return [(row["capability_id"], row["latest"], row["number"], row["one"]) for row in found[:most]]


def list_accepted(*, search: str = "") -> QuerySet[Acceptance]:
    """Every decision, the newest first, those that a quarantine ended too; `search` is in its id, passage, reason or
    who decided."""
    found = Acceptance.passages.filter(accepted_at__isnull=False).order_by("-accepted_at", "-id")
    columns = ("capability_id", "passage", "reason", "accepted_by")
    return found.filter(reduce(or_, (Q(**{f"{one}__icontains": search}) for one in columns))) if search else found


def evaluate_right(capability_id: str, submitted_by: Collection[str], by: Actor) -> Decider:
    """Whether `by` may decide about a passage of texts that these actors edited or sent."""
    capability = Capability.objects.filter(capability_id=capability_id).first()
    command = f"bundle accept {capability_id} --all --reason WHY"
    return evaluate_decider(capability, by, submitted_by, Deed("decide about this passage", _OWN, command))


def is_decided_alone(chosen: Mapping[str, Collection[str]], by: Actor) -> bool:
    """Whether somebody decides about what they edited or sent, where they may: `chosen` are fingerprints by
    capability."""
    for capability_id, fingerprints in chosen.items():
        found = [one for one in list_waiting(capability_id) if one.fingerprint in fingerprints]
        if evaluate_right(capability_id, _list_senders(found), by).is_alone:
            return True
    return False


def accept_passages(
    *,
    capability_id: str,
    by: Actor,
    reason: str,
    fingerprints: Collection[str] | None = None,
    place: str = "",
    is_confirmed: bool = False,
) -> list[Acceptance]:
    """Decide that held passages are fine: those with these fingerprints, the one at `FILE:LINE`, or all.

    `is_confirmed` says that `by` has just shown who they are. Raises `InvalidRequest` for a reason that is not allowed,
    `NotFound` where nothing like it waits, and `Forbidden`.
    """
    reason = check_reason(reason)
    waiting = _choose(list_waiting(capability_id), capability_id, fingerprints, place)
    with acceptance_write(capability_id, by, "passage.accept") as detail:
        decider = _require_right(capability_id, _list_senders(waiting), by)
        require_confirmation(decider, by, _OWN, is_confirmed=is_confirmed)
        rows = [_accept(one, by, reason, is_alone=decider.is_alone) for one in waiting]
        detail.update(reason=reason, passages=[_describe(row) for row in rows])
        detail.update({"alone": True} if decider.is_alone else {})
    return rows


def _list_senders(rows: Iterable[Acceptance]) -> set[str]:
    return {actor for row in rows for actor in row.submitted_by}


def _require_right(capability_id: str, submitted_by: Collection[str], by: Actor) -> Decider:
    decider = evaluate_right(capability_id, submitted_by, by)
    if decider.refusal:
        raise Forbidden(decider.refusal)
    return decider


def send_back(*, capability_id: str, by: Actor, reason: str) -> None:
    """Send the draft that held passages are in back to who edited it, as a review does: one that is open, or one that
    is opened in the name of who saved the draft.

    Raises `InvalidRequest` without a reason, `DraftNotFound` where there is no draft, `Forbidden`, and what reviews
    raise.
    """
    reason = check_reason(reason)
    draft = get_draft(capability_id)
    require_edit_permission(capability_id, by)
    _require_right(capability_id, list_editors(draft), by)
    review = Review.objects.filter(capability=draft.capability, state=Review.State.OPEN).first()
    if review is None or not reviews.is_current(review):
        author = parse_actor(draft.saved_by)
        review = reviews.request_review(capability_id=capability_id, draft_version=draft.version, by=author, note=None)
    reviews.request_changes(review_id=review.pk, round_seen=review.round, by=by, words=reason)


def decline_passages(*, capability_id: str, by: Actor, reason: str, fingerprints: Collection[str]) -> int:
    """Say no to passages of texts that were refused and have no draft: they wait no more, and the history has the
    reason. Sent again, they wait again. How many.

    Raises `InvalidRequest` for a reason that is not allowed, `NotFound` where nothing like it waits, and `Forbidden`.
    """
    reason = check_reason(reason)
    sent = {one.fingerprint for one in list_waiting(capability_id) if one.seen_at is not None}
    with acceptance_write(capability_id, by, "passage.decline") as detail:
        rows = _pending().filter(capability_id=capability_id, fingerprint__in=sent.intersection(fingerprints))
        if not rows:
            raise NotFound(f"Nothing of '{capability_id[:64]}' that was sent without a draft waits for a decision")
        _require_right(capability_id, _list_senders(rows), by)
        detail.update(reason=reason, passages=[_describe(row) for row in rows])
        return rows.delete()[0]


def _choose(
    waiting: list[Acceptance], capability_id: str, fingerprints: Collection[str] | None, place: str
) -> list[Acceptance]:
    found = [one for one in waiting if fingerprints is None or one.fingerprint in fingerprints]
    found = [one for one in found if not place or place in (one.place, one.file)]
    if found:
        return found
    if not waiting:
        raise NotFound(f"Nothing of '{capability_id[:64]}' waits for a decision")
    there = ", ".join(one.place for one in waiting[:5]) + (" ..." if len(waiting) > 5 else "")
    raise NotFound(f"No passage of '{capability_id[:64]}' waits at {place[:300] or 'this place'}; there are {there}")


def _accept(one: Acceptance, by: Actor, reason: str, *, is_alone: bool) -> Acceptance:
    known = Acceptance.passages.filter(
        capability_id=one.capability_id, fingerprint=one.fingerprint, ended_at__isnull=True
    )
    row = known.first() or one
    row.file, row.line, row.submitted_by = one.file, one.line, one.submitted_by
    row.accepted_at, row.accepted_by, row.reason, row.is_alone = timezone.now(), str(by), reason, is_alone
    row.seen_at = row.seen_at or row.accepted_at
    row.save()
    return row


def _describe(row: Acceptance) -> dict[str, Any]:
    return {"file": row.file, "line": row.line, "fingerprint": row.fingerprint, "doubt": row.message}


def describe_accepted(row: Acceptance) -> dict[str, Any]:
    """One entry of `{"accepted": [...]}` (docs/contract.md 5)."""
    return {
        "capability_id": row.capability_id,
        "file": row.file,
        "line": row.line,
        "passage": row.passage,
        "doubt": row.message,
        "reason": row.reason,
        "at": as_moment(row.accepted_at),
        "by": row.accepted_by,
        "alone": row.is_alone,
    }


def record_held(
    capability_id: str, findings: Iterable[Finding], files: Mapping[str, str], *, submitted_by: Sequence[str], by: Actor
) -> None:
    """Keep the passages for which a publish of these texts was refused, so that they can be decided without a draft.

    The caller holds the lock. What waits already is kept as it is, with who sent it now.
    """
    found = _waiting(capability_id, findings, files, submitted_by)[:_RECORDED_MAX]
    rows = _pending().filter(capability_id=capability_id, fingerprint__in=[one.fingerprint for one in found])
    known = {row.fingerprint: row for row in rows}
    room = max(0, _WAITING_MAX - _pending().count())
    new = [one for one in found if one.fingerprint not in known][:room]
    for one in found:
        row = known.get(one.fingerprint)
        if row is not None and not set(one.submitted_by) <= set(row.submitted_by):
            update_row(row, submitted_by=sorted({*row.submitted_by, *one.submitted_by}), seen_at=timezone.now())
    if new:
        for one in new:
            one.seen_at = timezone.now()
        Acceptance.objects.bulk_create(new)
        detail = {"passages": [_describe(row) for row in new]}
        audit.record(by=by, verb="passage.hold", subject=capability_id, detail=detail)


def record_held_draft(draft: Draft, findings: Collection[Finding], *, by: Actor) -> None:
    """Keep the passages of a draft that somebody imported: others decide without opening each draft."""
    if not any(one.held for one in findings):
        return
    capability_id = draft.capability.capability_id
    with write_transaction():
        record_held(capability_id, findings, draft.files, submitted_by=list_editors(draft), by=by)


def forget_waiting(capability_id: str) -> None:
    """What waited was of texts before those that are published now; the caller holds the lock."""
    _pending().filter(capability_id=capability_id).delete()


def prune_waiting(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets what has waited for `_RETENTION_DAYS` days; publishing again finds it again."""
    return _pending().filter(seen_at__lt=timezone.now() - timedelta(days=_RETENTION_DAYS)).delete


def end_decisions(event: AuditEvent) -> None:
    """The observer of `capability.quarantine`: what was thought to be fine is decided again before it is given back."""
    Acceptance.passages.in_force().filter(capability_id=event.subject).update(ended_at=timezone.now())


def list_revision_decisions(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """What a revision keeps of the decisions about its passages: `Revision.held_decisions`."""
    return [
        {**one.accepted.as_dict(), "alone": one.accepted.is_alone, "file": one.file, "line": one.line}
        for one in findings
        if one.accepted is not None
    ]


def list_excused_passages(report: Report) -> list[str]:
    """What a revision keeps of the passages that are examples by the text around them: `excused_passages`."""
    return sorted({passage.fingerprint for passage in find_passages(report.excused, report.files)})
