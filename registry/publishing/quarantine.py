"""Taking a capability from readers at once because it may do harm, and who may give it back (docs/contract.md 3).

Anyone who may publish it stops it. It is given back by somebody who has a second view of it: a member who neither
published nor edited what is held back, never a key.
"""

from __future__ import annotations

from typing import Final

from django.db.models import QuerySet

from capability_rules.errors import InvalidRequest
from registry.access.teams import capability_write
from registry.common.actors import Actor
from registry.common.errors import Forbidden, StatusConflict
from registry.core import audit
from registry.core.queries import HELD_STATUSES, LOADABLE_STATUSES
from registry.models import AuditEvent, Capability, RegistryState, Revision
from registry.publishing.events import SUPERSEDED
from registry.publishing.release_pointer import set_published_revision
from registry.publishing.second_person import Decider, Deed, evaluate_decider, require_confirmation

# By these an author changes a draft.
_EDITING_VERBS: Final = ("draft.save", "draft.import", "draft.restore", "draft.add_sentence")
_OWN: Final = "You published or edited what is quarantined"


def quarantine(*, capability_id: str, by: Actor, note: str = "") -> Capability:
    """Take it from readers, pins included; text, tool names and replacement stay as they are.

    Raises `CapabilityNotFound`, and `StatusConflict` where readers cannot load it anyway.
    """
    with capability_write(capability_id, by) as (state, capability):
        if capability.status not in LOADABLE_STATUSES or capability.published_revision is None:
            words = f"'{capability_id}' is {capability.status}: only what readers can load can be quarantined"
            raise StatusConflict(words)
        detail = {"note": note, "from": capability.status}
        set_published_revision(
            state, capability, capability.published_revision, status="quarantined", resolves_incidents=False
        )
        _release_what_it_replaces(state, capability)
        audit.record(by=by, verb="capability.quarantine", subject=capability_id, detail=detail)
        SUPERSEDED(capability, why=f"{by.name} quarantined it")
        return capability


def is_quarantine_open(capability: Capability) -> bool:
    """Whether it is quarantined, or was when it was retired: what is restored or published then is held back too."""
    if capability.status != "retired":
        return capability.status == "quarantined"
    earlier = capability.releases.exclude(status="retired").order_by("-registry_revision")
    return earlier.values_list("status", flat=True).first() == "quarantined"


def status_after_publish(capability: Capability) -> str:
    """What is deprecated or quarantined stays so: only `restore` changes that, and no retiring in between."""
    if is_quarantine_open(capability):
        return Capability.Status.QUARANTINED
    return capability.status if capability.status in HELD_STATUSES else Capability.Status.PUBLISHED


def evaluate_end(capability: Capability, by: Actor) -> Decider:
    """Whether `by` may end its open quarantine."""
    command = f"bundle restore {capability.capability_id} --note WHY"
    deed = Deed("end the quarantine", _OWN, command)
    return evaluate_decider(capability, by, _list_involved(capability), deed)


def describe_end(end: Decider | None) -> dict[str, bool]:
    """What the audit log keeps of the end of a quarantine; nothing where none ended."""
    if end is None:
        return {}
    return {"ended_quarantine": True} | ({"alone": True} if end.is_alone else {})


def _list_involved(capability: Capability) -> set[str]:
    """Who published or edited what is held back, as actors: the revision that was quarantined and those that were
    published or rolled back to since."""
    found: set[str] = set()
    for revision in _list_held_revisions(capability):
        editors = _read_editors(capability, revision) if revision.editors is None else revision.editors
        found |= {revision.created_by, *editors}
    return found


def _list_held_revisions(capability: Capability) -> QuerySet[Revision]:
    given = capability.releases.filter(status__in=LOADABLE_STATUSES).order_by("-registry_revision")
    since = given.values_list("registry_revision", flat=True).first() or 0
    held = capability.revisions.filter(releases__registry_revision__gt=since).distinct()
    return held.only("created_by", "editors", "created_at")


def _read_editors(capability: Capability, revision: Revision) -> list[str]:
    """Everyone who had edited a draft of the capability by then, for a revision from before its editors were kept."""
    events = AuditEvent.objects.filter(
        subject=capability.capability_id, verb__in=_EDITING_VERBS, at__lte=revision.created_at
    )
    return [f"{kind}:{name}" for kind, name in events.values_list("actor_kind", "actor_name").distinct()]


def require_end(capability: Capability, by: Actor, *, reason: str, is_confirmed: bool) -> Decider:
    """What `evaluate_end` says, for somebody who may. `is_confirmed` says that they have just shown who they are.

    Raises `Forbidden`, and `InvalidRequest` without a reason.
    """
    found = evaluate_end(capability, by)
    if found.refusal:
        raise Forbidden(found.refusal)
    if not reason.strip():
        raise InvalidRequest("Say why the quarantine ends: a few words are needed (note)")
    require_confirmation(found, by, _OWN, is_confirmed=is_confirmed)
    return found


def end_quarantine(state: RegistryState, capability: Capability, revision: Revision) -> None:
    """Give it back to readers in the status that it had before; the caller holds the lock and has run the gate."""
    earlier = capability.releases.filter(status__in=LOADABLE_STATUSES).order_by("-registry_revision")
    status = earlier.values_list("status", flat=True).first() or Capability.Status.PUBLISHED
    replacement = capability.replaced_by
    # What was to replace it may have been retired since.
    is_kept = replacement is not None and replacement.status in HELD_STATUSES
    set_published_revision(state, capability, revision, status=status, keep_replacement=is_kept)
    _release_what_it_replaces(state, capability)


def _release_what_it_replaces(state: RegistryState, capability: Capability) -> None:
    """Tell readers of what it replaces whether there is a replacement now. The rows keep it, for the way back."""
    for replaced in Capability.objects.filter(replaced_by=capability, status="deprecated").order_by("capability_id"):
        if replaced.published_revision is not None:
            set_published_revision(
                state, replaced, replaced.published_revision, status="deprecated", resolves_incidents=False
            )
