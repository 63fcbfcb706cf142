"""Teams that own capabilities: who is in them, what is theirs, and who may change it.

Everybody reads. What a team owns is changed by its members, as far as their role goes, by admins, and by the command
line. A key may be limited to a team (registry/access/key_limits.py); one without a limit changes what its scopes allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from capability_rules.errors import InvalidRequest
from registry.access.key_limits import find_team, require_within_limit
from registry.access.operators import get_operator, is_admin
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NameConflict, NotFound, StatusConflict
from registry.core import audit
from registry.core.queries import get_capability
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import Capability, Operator, RegistryState, SkillGroup, Team, TeamMember


@dataclass(frozen=True, slots=True)
class TeamRow:
    """A line of the list."""

    key: int
    name: str
    description: str
    members: int
    capabilities: int


def list_teams(*, search: str = "") -> list[TeamRow]:
    """All of them, or those whose name or description has `search` in it, by name, in one query."""
    counted = Team.objects.annotate(
        member_count=Count("memberships", distinct=True), capability_count=Count("capabilities", distinct=True)
    )
    if search:
        counted = counted.filter(Q(name__icontains=search) | Q(description__icontains=search))
    columns = ("pk", "name", "description", "member_count", "capability_count")
    return [TeamRow(*row) for row in counted.order_by("name").values_list(*columns)]


@dataclass(frozen=True, slots=True)
class TeamPage:
    """One team; `members` are its people by name, `owned` its capabilities by id."""

    team: Team
    members: Sequence[Operator]
    owned: Sequence[str]


def get_team_page(key: int) -> TeamPage:
    """A team with its members and capabilities. Raises `NotFound`."""
    team = _get(key)
    members = Operator.objects.filter(memberships__team=team).order_by("username")
    owned = Capability.objects.filter(team=team).order_by("capability_id").values_list("capability_id", flat=True)
    return TeamPage(team, list(members), list(owned))


def create_team(*, name: str, by: Actor, description: str = "") -> Team:
    """Raises `InvalidRequest` for an invalid name, `NameConflict`."""
    name = _good_name(name)
    with write_transaction():
        _require_free(name)
        team = Team.objects.create(name=name, description=description.strip()[:400], created_by=str(by))
        audit.record(by=by, verb="team.create", subject=name)
    return team


def update_team(*, key: int, name: str, by: Actor, description: str = "") -> Team:
    """Another name or description. Raises `NotFound`, `InvalidRequest`, `NameConflict`."""
    name = _good_name(name)
    with write_transaction():
        team = _get(key)
        if name != team.name:
            _require_free(name)
        was = {"name": team.name, "description": team.description}
        detail = {"was": team.name} if name != team.name else {}
        now = {"name": name, "description": description.strip()[:400]}
        update_row(team, **now)
        audit.record(by=by, verb="team.change", subject=name, detail=detail | audit.changed(was, now))
    return team


def delete_team(*, key: int, by: Actor) -> str:
    """Delete the team; returns its name. Raises `NotFound`, and `StatusConflict` while it owns anything."""
    with write_transaction():
        team = _get(key)
        owned = team.capabilities.count()
        if owned:
            raise StatusConflict(f"'{team.name}' owns {owned} of the capabilities: give them to another team first")
        groups = ", ".join(team.skill_groups.values_list("group_id", flat=True)[:5])
        if groups:
            raise StatusConflict(f"'{team.name}' owns the skill groups {groups}: give them to another team first")
        keys = ", ".join(team.keys.filter(revoked_at__isnull=True).values_list("name", flat=True)[:5])
        if keys:
            raise StatusConflict(f"'{team.name}' has the keys {keys}: revoke them, or limit them otherwise first")
        # A revoked key changes nothing any more, whatever its limit was.
        team.keys.update(team=None)
        team.delete()
        audit.record(by=by, verb="team.delete", subject=team.name)
    return team.name


def add_member(*, key: int, username: str, by: Actor) -> None:
    """Raises `NotFound`; adding twice changes nothing."""
    with write_transaction():
        team, operator = _get(key), get_operator(username)
        _, is_new = TeamMember.objects.get_or_create(team=team, operator=operator)
        if is_new:
            audit.record(by=by, verb="team.add_member", subject=team.name, detail={"operator": username})


def remove_member(*, key: int, username: str, by: Actor) -> None:
    """Raises `NotFound`; removing twice changes nothing."""
    with write_transaction():
        team, operator = _get(key), get_operator(username)
        removed, _ = TeamMember.objects.filter(team=team, operator=operator).delete()
        if removed:
            audit.record(by=by, verb="team.remove_member", subject=team.name, detail={"operator": username})


def set_owning_team(*, capability_id: str, key: int | None, by: Actor) -> Team | None:
    """Give a capability to a team, or to none. Raises `CapabilityNotFound`, `NotFound`."""
    with write_transaction():
        capability = get_capability(capability_id)
        team = _get(key) if key is not None else None
        if capability.team_id != key:
            was = capability.team
            update_row(capability, team=team)
            _record_owner(capability, was, team, by)
    return team


def _record_owner(capability: Capability, was: Team | None, team: Team | None, by: Actor) -> None:
    now = {"team": team.name if team else None}
    detail = now | audit.changed({"team": was.name if was else None}, now)
    audit.record(by=by, verb="capability.set_owner", subject=capability.capability_id, detail=detail)


def get_team(name: str) -> Team:
    """The team with this name. Raises `NotFound`."""
    return get_row(Team.objects.filter(name=name), NotFound(f"There is no team named '{name[:80]}'"))


def blocking_team(username: str, capability_id: str) -> str:
    """The name of the team that alone may change the capability, where this operator is not in it; else empty."""
    return _team_of_others(Capability.objects.filter(capability_id=capability_id), username)


def list_publishers(capability: Capability | None) -> QuerySet[Operator]:
    """Active members who may publish it, by username: publishers and admins, of its team if it has one.

    None is a capability that does not exist yet.
    """
    found = Operator.objects.filter(is_active=True, role__in=[Operator.Role.PUBLISHER, Operator.Role.ADMIN])
    if capability is not None and capability.team_id is not None:
        members = TeamMember.objects.filter(team=capability.team_id, operator=OuterRef("pk"))
        found = found.filter(Q(role=Operator.Role.ADMIN) | Exists(members))
    return found.order_by("username")


def require_edit_permission(capability_id: str, by: Actor) -> None:
    """The permission check of every function that changes one capability, under the lock. Raises `Forbidden`."""
    require_within_limit(capability_id, by)
    team = blocking_team(by.name, capability_id) if by.kind == "operator" else ""
    if team and not is_admin(by):
        raise Forbidden(blocked_message(capability_id, team))


def create_capability(capability_id: str, by: Actor) -> Capability:
    """Make it; what a key of a team makes belongs to that team. The caller holds the lock and has checked the right."""
    team = find_team(by)
    capability = Capability.objects.create(capability_id=capability_id, team=team)
    if team is not None:
        _record_owner(capability, None, team, by)
    return capability


def get_or_create_capability(capability_id: str, by: Actor) -> tuple[Capability, bool]:
    """The capability, made as above where there is none, and whether it was."""
    known = Capability.objects.filter(capability_id=capability_id).first()
    return (known, False) if known is not None else (create_capability(capability_id, by), True)


@contextmanager
def capability_write(capability_id: str, by: Actor) -> Iterator[tuple[RegistryState, Capability]]:
    """The transaction of a verb that changes one capability: the lock and the capability, for who may change it.

    Raises `Forbidden`, `CapabilityNotFound`.
    """
    with write_transaction() as state:
        require_edit_permission(capability_id, by)
        yield state, get_capability(capability_id)


def require_group_permission(group_id: str, by: Actor) -> None:
    """The permission check of every function that changes a group, under the lock. Raises `Forbidden`."""
    team = blocking_group_team(by.name, group_id) if by.kind == "operator" else ""
    if team and not is_admin(by):
        raise Forbidden(f"Only members of the team '{team}' and admins can change the skill group '{group_id[:64]}'")


def blocking_group_team(username: str, group_id: str) -> str:
    """The name of the team that alone may change the group, where this operator is not in it; else empty."""
    return _team_of_others(SkillGroup.objects.filter(group_id=group_id), username)


def _team_of_others(found: QuerySet[Any], username: str) -> str:
    closed = found.filter(team__isnull=False).exclude(team__memberships__operator__username=username)
    return closed.values_list("team__name", flat=True).first() or ""


def require_admin(by: Actor, action: str) -> None:
    """Raises `Forbidden` for an operator who is not an admin."""
    if by.kind == "operator" and not is_admin(by):
        raise Forbidden(f"Only admins can {action}")


def blocked_message(capability_id: str, team: str) -> str:
    """The message for operators who are not in the team."""
    return f"Only members of the team '{team}' and admins can edit '{capability_id}'"


def _good_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise InvalidRequest("A team's name has 1 to 80 printable characters")
    return name


def _require_free(name: str) -> None:
    if Team.objects.filter(Q(name=name)).exists():
        raise NameConflict(f"There is a team named '{name}'")


def _get(key: int) -> Team:
    return get_row(Team.objects.filter(pk=key), NotFound("There is no such team"))
