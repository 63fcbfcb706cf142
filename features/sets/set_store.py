"""The verbs of sets: who may change one, in one audited step (docs/contract.md 3.1 and 6.1)."""

from __future__ import annotations

from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.sets.models import CapabilitySet, SetRevision
from features.sets.set_document import SetDocument, compare_sets, parse_set
from registry.access.key_limits import find_team, has_limit
from registry.access.operators import is_admin, may_publish
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound, StatusConflict
from registry.core import audit
from registry.core.rows import get_row, update_row
from registry.core.transactions import bump_access_revision, write_transaction
from registry.models import Capability, Revision, Team, TeamMember

SETS_MAX: Final = 200


def query_sets() -> QuerySet[CapabilitySet]:
    """Those that are not deleted, by id, with their teams."""
    return CapabilitySet.objects.filter(deleted_at__isnull=True).select_related("team")


def get_set(set_id: str) -> CapabilitySet:
    """One that is there. Raises `NotFound`."""
    return get_row(query_sets().filter(set_id=set_id[:64]), NotFound(f"There is no set '{set_id[:64]}'"))


def read_document(row: CapabilitySet) -> SetDocument:
    """The document of a set as it is now."""
    return parse_set({"set_id": row.set_id, **row.document})


def save_set(
    values: dict[str, Any], *, by: Actor, expected_revision: int | None = None, team: str | None = None
) -> CapabilitySet:
    """Make the set of this document, or change it to it; the same one again changes nothing.

    `team` is the name of its team, empty for none; None leaves it as it is. Raises `InvalidRequest`, `Forbidden`,
    `StatusConflict` where `expected_revision` is not the present one (0: there is no set yet), and `NotFound`.
    """
    document = parse_set(values)
    with write_transaction() as state:
        row = CapabilitySet.objects.select_related("team").filter(set_id=document.set_id).first()
        present = row if row is not None and row.deleted_at is None else None
        _require_right(present, by)
        if expected_revision is not None and expected_revision != (present.revision if present else 0):
            words = "has changed since you read it: read it again" if expected_revision else "is there already"
            raise StatusConflict(f"The set '{document.set_id}' {words}")
        before = read_document(present) if present is not None else None
        _require_members(before, document)
        owner = _find_owner(present, team, by)
        changes = compare_sets(before, document)
        if owner != (present.team if present else None):
            changes["team"] = owner.name if owner else None
        if present is not None and not changes:
            return present
        if present is None and query_sets().count() >= SETS_MAX:
            raise StatusConflict(f"A registry has at most {SETS_MAX} sets: delete one first")
        stored = document.as_dict()
        del stored["set_id"]
        columns: dict[str, Any] = {"document": stored, "visibility": document.visibility, "team": owner}
        if row is None:
            row = CapabilitySet.objects.create(set_id=document.set_id, revision=1, created_by=str(by), **columns)
        else:
            update_row(row, revision=row.revision + 1, deleted_at=None, **columns)
        SetRevision.objects.create(
            of_set=row, number=row.revision, document=stored, changes=changes, created_by=str(by)
        )  # fmt: skip
        bump_access_revision(state)
        audit.record(by=by, verb="set.save", subject=row.set_id, detail={"revision": row.revision} | changes)
    return row


def delete_set(*, set_id: str, by: Actor) -> CapabilitySet:
    """End a set: no reader gets it any more; its capabilities stay. Raises `NotFound`, `Forbidden`."""
    with write_transaction() as state:
        row = get_set(set_id)
        _require_right(row, by)
        update_row(row, deleted_at=timezone.now())
        bump_access_revision(state)
        audit.record(by=by, verb="set.delete", subject=row.set_id, detail={"revision": row.revision})
    return row


def may_change(row: CapabilitySet | None, by: Actor) -> bool:
    """Whether `save_set` and `delete_set` are for this actor; None for a set that is to be made."""
    try:
        _require_right(row, by)
    except Forbidden:
        return False
    return True


def _require_right(row: CapabilitySet | None, by: Actor) -> None:
    if not may_publish(by):
        raise Forbidden("Only publishers and admins can change a set")
    if by.kind == "agent_key" and has_limit(by):
        team = find_team(by)
        if team is None:
            raise Forbidden("A key that is limited to capabilities changes no set")
        if row is not None and row.team_id != team.pk:
            raise Forbidden(f"The key '{by.name}' may change sets of the team '{team.name}' only")
    if by.kind == "operator" and row is not None and row.team is not None and not is_admin(by):
        _require_member(row.team, by)


def _require_member(team: Team, by: Actor) -> None:
    if not TeamMember.objects.filter(team=team, operator__username=by.name).exists():
        raise Forbidden(f"Only members of the team '{team.name}' and admins can change this set")


def _find_owner(row: CapabilitySet | None, team: str | None, by: Actor) -> Team | None:
    """The team that it belongs to from now on: that of the key that makes it, or the one that is named."""
    limited = find_team(by)
    if limited is not None:
        return limited
    if team is None:
        return row.team if row is not None else None
    if not team:
        return None
    owner = get_row(Team.objects.filter(name=team), NotFound(f"There is no team named '{team[:80]}'"))
    if by.kind == "operator" and not is_admin(by):
        _require_member(owner, by)
    return owner


def _require_members(before: SetDocument | None, document: SetDocument) -> None:
    """What comes in has been published, and is not retired or quarantined now; a pinned revision exists."""
    was = before.members if before is not None else {}
    changed = {name: pin for name, pin in document.members.items() if name not in was or was[name] != pin}
    published = [Capability.Status.PUBLISHED, Capability.Status.DEPRECATED]
    found = Capability.objects.filter(capability_id__in=changed, published_revision__isnull=False, status__in=published)
    known = set(found.values_list("capability_id", flat=True))
    if missing := [name for name in changed if name not in known]:
        raise InvalidRequest(f"Not published: {', '.join(missing[:5])}. A set has published capabilities alone")
    pinned = {(name, pin) for name, pin in changed.items() if pin is not None}
    rows = Revision.objects.filter(capability__capability_id__in=[name for name, _ in pinned])
    there = set(rows.values_list("capability__capability_id", "number")) if pinned else set()
    for name, pin in sorted(pinned - there):
        raise InvalidRequest(f"'{name}' has no revision {pin}")


def list_revisions(row: CapabilitySet) -> list[SetRevision]:
    """Its last hundred revisions, the newest first."""
    return list(row.revisions.all()[:100])
