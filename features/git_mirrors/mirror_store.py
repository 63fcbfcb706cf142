"""The verbs of git mirrors: who makes and starts one, and whose consent it needs (docs/contract.md 3.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.credentials import credential_store
from features.credentials.git_logins import open_login
from features.git_mirrors import push_queue
from features.git_mirrors.git_branch import RemoteBranch, open_branch
from features.git_mirrors.mirror_content import FORMS, SKILLS, MirrorContent, own_host, read_content
from features.git_mirrors.models import GitMirror, nothing_pushed
from features.sets.set_store import get_set
from registry.access.operators import is_admin, may_publish
from registry.access.teams import require_admin
from registry.catalog.incidents import close_at_address, open_at_address
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NameConflict, NotFound, StatusConflict
from registry.core import audit
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.importing.git_reader import is_ref_name, parse_git_url
from registry.models import Incident, Operator, Team, TeamMember

MIRRORS_MAX: Final = 20
# As git writes it: the branch is not there.
NO_COMMIT: Final = "0" * 40


@dataclass(frozen=True, slots=True)
class MirrorPreview:
    """What a first push would do: the files that it writes, and those of them that are there now and are replaced."""

    content: MirrorContent
    head: str
    replaced: tuple[str, ...]


def create_mirror(
    *, url: str, branch: str, credential: str, by: Actor, form: str = SKILLS, set_id: str = ""
) -> GitMirror:  # fmt: skip
    """Keep a mirror that pushes nothing yet: its branch is asked for once.

    Raises `InvalidRequest`, `NotFound`, `NameConflict`, `Forbidden`, and `SourceUnreadable` for what the host refuses.
    """
    _require_admin(by)
    address = parse_git_url(url)
    if address.ref or address.folder:
        raise InvalidRequest("Write the address of the repository alone, and its branch beside it")
    if not is_ref_name(branch):
        raise InvalidRequest("A branch has 1 to 200 letters, digits and . / + - _, and begins with a letter or a digit")
    if form not in FORMS:
        raise InvalidRequest(f"The layout is one of {', '.join(FORMS)}")
    if form != SKILLS and not set_id:
        raise InvalidRequest(f"The layout {form} is of one set: name it")
    if set_id:
        get_set(set_id)
    row = credential_store.get_credential(credential)
    credential_store.require_host(row, address.url)
    mirror = GitMirror(
        url=address.url,
        branch=branch,
        credential=row,
        form=form,
        set_id=set_id,
        created_by=str(by),
        pushed=nothing_pushed(),
    )
    with open_mirror(mirror) as there:
        there.read_head()
    with write_transaction():
        if GitMirror.objects.filter(url=mirror.url, branch=branch).exists():
            raise NameConflict(f"There is a mirror to {mirror} already")
        if GitMirror.objects.count() >= MIRRORS_MAX:
            raise InvalidRequest(f"At most {MIRRORS_MAX} mirrors are kept; remove one first")
        mirror.save(force_insert=True)
        detail = {"credential": row.name, "form": form, "set_id": set_id}
        record(mirror, "git_mirror.add", by, detail)
    return mirror


def open_mirror(mirror: GitMirror) -> AbstractContextManager[RemoteBranch]:
    """Its branch as a context (`git_branch.open_branch`). Raises `SourceMisconfigured` without its credential."""
    login = open_login(mirror.credential, mirror.url, used_for=f"mirror {mirror}")
    return open_branch(mirror.url, mirror.branch, login, own_host())


def get_mirror(mirror_id: int) -> GitMirror:
    """The mirror with this number. Raises `NotFound`."""
    found = GitMirror.objects.select_related("credential").filter(pk=mirror_id)
    return get_row(found, NotFound(f"No git mirror has the number {mirror_id}; see: git_mirror list"))


def preview(mirror_id: int) -> MirrorPreview:
    """What a start would push. Raises `NotFound`, `SourceUnreadable`, `StatusConflict`."""
    mirror = get_mirror(mirror_id)
    content = read_content(mirror)
    with open_mirror(mirror) as there:
        head = there.read_head()
        paths = there.list_paths(head)
    return MirrorPreview(content, head, tuple(sorted(paths & set(content.files))))


def start_mirror(*, mirror_id: int, head: str, by: Actor) -> GitMirror:
    """Push from now on, on top of the commit that the preview showed (empty: there was no branch).

    Raises `NotFound`, `StatusConflict` where it is started, `Forbidden`.
    """
    _require_admin(by)
    with write_transaction():
        mirror = get_mirror(mirror_id)
        if mirror.started_at is not None:
            raise StatusConflict(f"The mirror to {mirror} is started")
        update_row(mirror, started_at=timezone.now(), started_by=str(by), head=_checked_head(head))
        record(mirror, "git_mirror.start", by, {"head": mirror.head})
        push_queue.queue_push(mirror)
    return mirror


def continue_mirror(*, mirror_id: int, head: str, by: Actor) -> GitMirror:
    """Continue from what somebody else pushed: their commit stays, our files are written again where they differ.

    Raises `NotFound`, `StatusConflict` where `head` is not the commit that was found, `Forbidden`.
    """
    _require_admin(by)
    with write_transaction():
        mirror = get_mirror(mirror_id)
        if not mirror.found_head or mirror.found_head != head:
            raise StatusConflict(f"{mirror} is at another commit than the one that you saw: look again")
        # What they changed of our files is not known here: all of them are written again.
        files = dict.fromkeys(mirror.pushed["files"], "")
        at = "" if head == NO_COMMIT else head
        update_row(mirror, head=at, found_head="", pending=None, pushed={**mirror.pushed, "files": files})
        record(mirror, "git_mirror.continue", by, {"head": head})
        push_queue.queue_push(mirror)
    return mirror


def push_now(*, mirror_id: int, by: Actor) -> GitMirror:
    """Have a worker push at once. Raises `NotFound`, `StatusConflict` where it is not started, `Forbidden`."""
    _require_admin(by)
    with write_transaction():
        mirror = get_mirror(mirror_id)
        if mirror.started_at is None:
            raise StatusConflict(f"The mirror to {mirror} is not started: look at what it would push first")
        push_queue.queue_push(mirror)
    return mirror


def remove_mirror(*, mirror_id: int, by: Actor) -> GitMirror:
    """Push nothing more; what is there stays there. Raises `NotFound`, `Forbidden`."""
    _require_admin(by)
    with write_transaction():
        mirror = get_mirror(mirror_id)
        close_incident(mirror, by=by, why="It is no longer mirrored")
        Incident.objects.filter(kind=Incident.Kind.MIRROR, source_id=mirror.pk).delete()
        record(mirror, "git_mirror.remove", by)
        GitMirror.objects.filter(pk=mirror.pk).delete()
    return mirror


def give_consent(*, mirror_id: int, team: str, by: Actor) -> GitMirror:
    """Have the capabilities of a team go out by this mirror. Raises `NotFound`, `Forbidden`."""
    return _consent(mirror_id, team, by, is_given=True)


def withdraw_consent(*, mirror_id: int, team: str, by: Actor) -> GitMirror:
    """Take the capabilities of a team out of this mirror with its next push. Raises `NotFound`, `Forbidden`."""
    return _consent(mirror_id, team, by, is_given=False)


def _consent(mirror_id: int, team: str, by: Actor, *, is_given: bool) -> GitMirror:
    with write_transaction():
        mirror = get_mirror(mirror_id)
        owner = get_row(Team.objects.filter(name=team), NotFound(f"There is no team named '{team[:80]}'"))
        if not may_consent(owner, by):
            raise Forbidden(f"Whether capabilities of the team '{owner.name}' go out is for its publishers to say")
        key = str(owner.pk)
        if (key in mirror.consents) == is_given:
            return mirror
        kept: Mapping[str, str] = {name: who for name, who in mirror.consents.items() if name != key}
        update_row(mirror, consents={**kept, key: str(by)} if is_given else dict(kept))
        record(mirror, "git_mirror.consent" if is_given else "git_mirror.withdraw", by, {"team": owner.name})
        if mirror.started_at is not None:
            push_queue.queue_push(mirror)
    return mirror


def may_consent(team: Team, by: Actor) -> bool:
    """Publishers of the team; an admin where it has none; the command line, which may do all. No key."""
    if by.kind == "agent_key":
        return False
    if by.kind != "operator":
        return True
    if TeamMember.objects.filter(team=team, operator__username=by.name).exists():
        return may_publish(by)
    roles = (Operator.Role.ADMIN, Operator.Role.PUBLISHER)
    has_publisher = TeamMember.objects.filter(team=team, operator__is_active=True, operator__role__in=roles).exists()
    return is_admin(by) and not has_publisher


def _require_admin(by: Actor) -> None:
    if by.kind == "agent_key":
        raise Forbidden("A key can neither make nor change a git mirror")
    require_admin(by, "make and change git mirrors")


def _checked_head(head: str) -> str:
    if not re.fullmatch(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?", head):
        raise InvalidRequest("A commit is named by its 40 hex digits")
    return head


def record(mirror: GitMirror, verb: str, by: Actor, detail: dict[str, Any] | None = None) -> None:
    """A row of the audit log, with the number of the mirror, because a long address is cut."""
    audit.record(by=by, verb=verb, subject=str(mirror)[:200], detail={"mirror_id": mirror.pk, **(detail or {})})


def open_incident(mirror: GitMirror, *, message: str, details: str, by: Actor) -> None:
    """A mirror has one that is open; the caller holds the lock."""
    subject = str(mirror)
    incident = open_at_address(Incident.Kind.MIRROR, mirror.pk, subject=subject, message=message, details=details)
    if incident is None:
        return
    detail = {"incident_id": incident.pk, "message": message[:500], "details": details[:500]}
    record(mirror, "git_mirror.failing", by, detail)


def close_incident(mirror: GitMirror, *, by: Actor, why: str) -> None:
    """The caller holds the lock."""
    for incident_id in close_at_address(Incident.Kind.MIRROR, mirror.pk):
        record(mirror, "git_mirror.recovered", by, {"incident_id": incident_id, "why": why})


def list_mirrors() -> list[GitMirror]:
    """In the order in which they came."""
    return list(GitMirror.objects.select_related("credential"))
