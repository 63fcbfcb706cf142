"""Who is concerned when readers lose what somebody wrote: by a rollback, a quarantine or a retirement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from registry.common.actors import PEOPLE
from registry.models import AuditEvent, Capability, Revision, TeamMember

# The verbs by which readers lose what somebody wrote.
TAKING_VERBS: Final = ("capability.rollback", "capability.quarantine", "capability.retire")


def find_concerned(events: Sequence[AuditEvent]) -> dict[int, set[str]]:
    """`{row id of the event: usernames}` of those who wrote or published what readers lost, and of the members of the
    team that owns it; without the person who did it. Of a rollback only the revisions that readers lost count.

    `events` have verbs of `TAKING_VERBS`. Takes three queries, however many there are.
    """
    subjects = {event.subject for event in events}
    teams = dict(Capability.objects.filter(capability_id__in=subjects).values_list("capability_id", "team_id"))
    written: dict[str, list[tuple[int, set[str]]]] = defaultdict(list)
    rows = Revision.objects.filter(capability__capability_id__in=subjects).order_by()
    for subject, number, editors, publisher in rows.values_list(
        "capability__capability_id", "number", "editors", "created_by"
    ):
        written[subject].append((number, _usernames([*(editors or ()), publisher])))
    members: dict[int, set[str]] = defaultdict(set)
    belonging = TeamMember.objects.filter(team__in=[team for team in teams.values() if team])
    for team, username in belonging.values_list("team_id", "operator__username"):
        members[team].add(username)
    return {event.pk: _concerned(event, written[event.subject], members, teams.get(event.subject)) for event in events}


def _concerned(
    event: AuditEvent, written: Sequence[tuple[int, set[str]]], members: Mapping[int, set[str]], team: int | None
) -> set[str]:
    first, last = _lost(event.detail) if event.verb == "capability.rollback" else (1, None)
    found = set(members.get(team, ())) if team is not None else set()
    for number, people in written:
        if first <= number and (last is None or number <= last):
            found |= people
    return found - ({event.actor_name} if event.actor_kind in PEOPLE else set())


def _lost(detail: Mapping[str, Any]) -> tuple[int, int]:
    """The first and the last number that readers lost; of a move to a newer revision the one that they had."""
    old, new = detail.get("from") or 0, detail.get("to") or 0
    return (new + 1, old) if new < old else (old, old)


def _usernames(actors: Sequence[str]) -> set[str]:
    parts = (actor.partition(":") for actor in actors)
    return {name for kind, _colon, name in parts if kind in PEOPLE}
