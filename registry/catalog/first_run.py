"""Which capability introduces new users, for the registry as a whole."""

from __future__ import annotations

from registry.common.actors import Actor
from registry.common.errors import StatusConflict
from registry.core import audit
from registry.core.queries import LOADABLE_STATUSES, get_capability
from registry.core.rows import update_row
from registry.core.transactions import bump_registry_revision, write_transaction
from registry.models import RegistryState


def set_first_run(*, capability_id: str, by: Actor) -> None:
    """What the session of a new user begins with; empty for nothing. Lists report it to the keys that see it.

    Raises `CapabilityNotFound`, and `StatusConflict` for what agents cannot load.
    """
    with write_transaction() as state:
        capability = get_capability(capability_id) if capability_id else None
        if capability is not None and capability.status not in LOADABLE_STATUSES:
            raise StatusConflict(f"'{capability_id}' is {capability.status}: agents cannot load it")
        if state.first_run == capability:
            return
        was = {"capability_id": state.first_run.capability_id if state.first_run else ""}
        update_row(state, first_run=capability)
        bump_registry_revision(state)
        now = {"capability_id": capability_id}
        audit.record(by=by, verb="registry.set", subject="first_run", detail=now | audit.changed(was, now))


def get_first_run() -> str:
    """The capability_id, or empty."""
    state = RegistryState.objects.filter(id=1).select_related("first_run").first()
    return state.first_run.capability_id if state is not None and state.first_run is not None else ""
