"""Skill groups: what several capabilities have in common, in words that messages are matched against (SPEC C).

A capability names its groups in capability.json; a group without a description is known by its id alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.errors import InvalidRequest
from registry.access.teams import get_team, require_admin, require_group_permission
from registry.common.actors import Actor
from registry.common.errors import NotFound, StatusConflict
from registry.core import audit
from registry.core.transactions import bump_access_revision, write_transaction
from registry.matching import training_job
from registry.matching.capability_profiles import published_profiles
from registry.models import SkillGroup, Team

EXAMPLES_MAX: Final = 50
GROUPS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group as operators see it. `members` are published capabilities; one without is an orphan."""

    group_id: str
    name: str
    description: str
    examples: tuple[str, ...]
    is_exclusive: bool
    is_described: bool
    members: int
    # The name of the team that alone may change it; empty where every publisher may.
    team: str = ""


def set_group(
    *,
    group_id: str,
    by: Actor,
    name: str | None = None,
    description: str | None = None,
    examples: Sequence[str] | None = None,
    is_exclusive: bool | None = None,
    team: str | None = None,
) -> SkillGroup:
    """Make a group, or change what is given of one; `team` is the name of the team that alone may change it from then
    on, empty for every publisher. Raises `InvalidRequest` with what to fix, `NotFound` for an unknown team, and
    `Forbidden` for who is not of the group's team, or would set it without being an admin; nothing changes then."""
    _check(group_id, name, description, examples)
    with write_transaction() as state:
        require_group_permission(group_id, by)
        group = SkillGroup.objects.filter(group_id=group_id).first()
        before = _described(group)
        if group is None:
            group = SkillGroup(group_id=group_id, name=group_id.replace("_", " ").capitalize()[:80])
        given = {"name": name, "description": description, "is_exclusive": is_exclusive}
        changes: dict[str, Any] = {column: value for column, value in given.items() if value is not None}
        if examples is not None:
            changes["examples"] = list(dict.fromkeys(text.strip() for text in examples))
        for column, value in changes.items():
            setattr(group, column, value)
        if team is not None and _owner(team) != group.team:
            require_admin(by, "give a skill group to a team")
            group.team, changes["team"] = _owner(team), team or None
        group.save()
        # The matcher of each process is made of these words too.
        bump_access_revision(state)
        training_job.queue_training()
        detail = changes | audit.changed(before, _described(group))
        audit.record(by=by, verb="skill_group.set", subject=group_id, detail=detail)
    return group


def _described(group: SkillGroup | None) -> dict[str, Any]:
    """What the audit log keeps of a group."""
    if group is None:
        return {}
    columns = ("name", "description", "examples", "is_exclusive")
    return {column: getattr(group, column) for column in columns} | {"team": group.team.name if group.team else None}


def _owner(team: str) -> Team | None:
    """The team of that name; None for an empty one. Raises `NotFound`."""
    return get_team(team) if team else None


def import_groups(text: str, *, by: Actor) -> list[str]:
    """Make or change all groups of a YAML or JSON text, or none of them: their ids.

    `{id: {name, description, examples, exclusive}}`, or the same under `groups` or `skill_groups`; a string instead of
    the object is the description. Other keys are ignored: each capability.json names its groups. Raises
    `InvalidRequest` with the group and what to fix.
    """
    import yaml

    from capability_kit.bundles.yaml_tree import ValueReader, compose_tree

    try:
        root, reader = compose_tree(text).root, ValueReader()
        # Bounds what aliases unfold to; of merge keys each level would double what is copied.
        _ = reader.read(root) if root is not None else None
        if any(path[-1] == "<<" for path in reader.places):
            raise InvalidRequest("Not valid YAML or JSON: merge keys (<<) are not read; write the values out")
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidRequest(f"Not valid YAML or JSON: {str(error)[:200]}") from None
    found = document if isinstance(document, dict) else {}
    found = next((found[key] for key in ("groups", "skill_groups") if isinstance(found.get(key), dict)), found)
    if not 1 <= len(found) <= GROUPS_MAX:
        raise InvalidRequest(f"Name 1 to {GROUPS_MAX} groups by id, such as 'writing: {{description: ...}}'")
    with write_transaction():
        for group_id, given in found.items():
            set_group(group_id=str(group_id), by=by, **_given(str(group_id), given))
    return [str(group_id) for group_id in found]


def _given(group_id: str, value: Any) -> dict[str, Any]:
    """What `set_group` takes of one group of a file. Raises `InvalidRequest` for a value of another type."""
    given = {"description": value} if isinstance(value, str) else value
    if not isinstance(given, dict):
        raise InvalidRequest(f"Group '{group_id[:80]}': write an object, or its description as a string")
    examples = given.get("examples", given.get("example_triggers"))
    texts = [given.get("name"), given.get("description")]
    is_list = examples is None or (isinstance(examples, list) and all(isinstance(text, str) for text in examples))
    if not is_list or not all(isinstance(text, str | None) for text in texts):
        raise InvalidRequest(f"Group '{group_id[:80]}': name and description are strings, examples an array of strings")
    exclusive = given.get("exclusive")
    if not isinstance(exclusive, bool | None):
        raise InvalidRequest(f"Group '{group_id[:80]}': exclusive is true or false")
    return {"name": texts[0], "description": texts[1], "examples": examples, "is_exclusive": exclusive}


def _check(group_id: str, name: str | None, description: str | None, examples: Sequence[str] | None) -> None:
    # A group is named as a capability is (schemas/capability.schema.json).
    if not is_capability_id(group_id):
        rule = "use lower-case words joined by _, at most 64 characters"
        raise InvalidRequest(f"'{group_id[:80]}' is not a valid group id: {rule}")
    if name is not None and not (name.strip() and len(name) <= 80):
        raise InvalidRequest("A group's name has 1 to 80 characters")
    if description is not None and len(description) > 1024:
        raise InvalidRequest("A group's description has at most 1,024 characters")
    for text in examples or ():
        if not text.strip() or len(text) > 500:
            raise InvalidRequest("An example sentence has 1 to 500 characters")
    if examples is not None and len(examples) > EXAMPLES_MAX:
        raise InvalidRequest(f"A group has at most {EXAMPLES_MAX} example sentences")


def list_groups() -> list[GroupRow]:
    """Every group that is described, or that a published capability names, by id."""
    members = Counter(group for one in published_profiles().values() for group in set(one.skill_groups))
    described = {group.group_id: group for group in SkillGroup.objects.select_related("team")}
    return [_row(group_id, described.get(group_id), members[group_id]) for group_id in sorted({*members, *described})]


def _row(group_id: str, group: SkillGroup | None, members: int) -> GroupRow:
    shown = group or SkillGroup(group_id=group_id, name=group_id, examples=[])
    return GroupRow(
        group_id=group_id,
        name=shown.name,
        description=shown.description,
        examples=tuple(shown.examples),
        is_exclusive=shown.is_exclusive,
        is_described=group is not None,
        members=members,
        team=shown.team.name if shown.team else "",
    )


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A published capability of a group; one in no group has none."""

    capability_id: str
    name: str


@dataclass(frozen=True, slots=True)
class GroupPage:
    """A group with its members, by id."""

    group: GroupRow
    members: Sequence[GroupMember]


def get_group(group_id: str) -> GroupPage:
    """A group that is described, or that a published capability names. Raises `NotFound`."""
    members = [one for one in published_profiles().values() if group_id in one.skill_groups]
    group = SkillGroup.objects.filter(group_id=group_id).first()
    if group is None and not members:
        raise NotFound(f"There is no skill group '{group_id[:64]}'")
    return GroupPage(_row(group_id, group, len(members)), [GroupMember(one.capability_id, one.name) for one in members])


def create_group(*, group_id: str, by: Actor, **given: Any) -> SkillGroup:
    """As `set_group`, for a group without a description. Raises `StatusConflict` where it has one."""
    with write_transaction():
        if SkillGroup.objects.filter(group_id=group_id).exists():
            raise StatusConflict(f"A skill group '{group_id}' exists already")
        return set_group(group_id=group_id, by=by, **given)


def delete_group(*, group_id: str, by: Actor) -> None:
    """Forget the words of a group, which capabilities go on naming: it is known by its id alone then.

    Raises `NotFound`.
    """
    with write_transaction() as state:
        require_group_permission(group_id, by)
        found = SkillGroup.objects.filter(group_id=group_id).first()
        if found is None:
            raise NotFound(f"There is no description of a skill group '{group_id[:64]}'")
        before = _described(found)
        found.delete()
        bump_access_revision(state)
        training_job.queue_training()
        audit.record(by=by, verb="skill_group.remove", subject=group_id, detail=audit.changed(before, {}))
