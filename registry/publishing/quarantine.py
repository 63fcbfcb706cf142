"""Taking a capability from readers at once because it may do harm (docs/contract.md 3); `restore` ends it."""

from __future__ import annotations

from registry.access.teams import capability_write
from registry.common.actors import Actor
from registry.common.errors import StatusConflict
from registry.core import audit
from registry.core.queries import HELD_STATUSES, LOADABLE_STATUSES
from registry.models import Capability, RegistryState, Revision
from registry.publishing.release_pointer import set_published_revision


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
        return capability


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
