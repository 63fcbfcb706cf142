"""What an operator sets for the registry as a whole."""

from __future__ import annotations

from registry import audit
from registry.actors import Actor
from registry.errors import StatusConflict
from registry.models import RegistryState
from registry.queries import LISTED, get_capability
from registry.writing import move_registry, writing


def set_first_run(*, capability_id: str, by: Actor) -> None:
    """What the session of a new user begins with; empty for nothing. Lists tell it to the keys that see it.

    Raises `CapabilityNotFound`, and `StatusConflict` for what agents cannot load.
    """
    with writing() as state:
        capability = get_capability(capability_id) if capability_id else None
        if capability is not None and capability.status not in LISTED:
            raise StatusConflict(f"'{capability_id}' is {capability.status}: agents cannot load it")
        if state.first_run == capability:
            return
        state.first_run = capability
        state.save(update_fields=["first_run"])
        move_registry(state)
        audit.record(by=by, verb="registry.set", subject="first_run", detail={"capability_id": capability_id})


def first_run() -> str:
    """The capability_id, or empty."""
    state = RegistryState.objects.filter(id=1).select_related("first_run").first()
    return state.first_run.capability_id if state is not None and state.first_run is not None else ""
