"""The pointer that readers follow, and what moves with it; its callers hold the lock (`registry.core.transactions`)."""

from __future__ import annotations

from collections.abc import Collection

from django.utils import timezone

from registry.catalog.incidents import close_incidents
from registry.core import checkpoints
from registry.core.queries import HELD_STATUSES, LOADABLE_STATUSES, load_bundle
from registry.core.rows import update_row
from registry.core.transactions import bump_registry_revision
from registry.matching import training_job
from registry.models import Capability, RegistryState, Release, Revision, ToolName


def set_published_revision(
    state: RegistryState,
    capability: Capability,
    revision: Revision,
    *,
    status: str,
    replaced_by: Capability | None = None,
    keep_replacement: bool = True,
    resolves_incidents: bool = True,
    tool_names: Collection[str] | None = None,
    has_tool_names: bool = True,
) -> None:
    """Move the pointer: capability row, tool names, release row and registry revision, together.

    `resolves_incidents` closes incidents about a bundle that is valid now, or no longer published.
    `tool_names` are those of the revision, where the caller has them; else its stored texts are read. `has_tool_names`
    is False where the capability is so new that it holds none.
    """
    if status == "published":
        replaced_by = None
    elif replaced_by is None and keep_replacement:
        replaced_by = capability.replaced_by
    moved = {"status": status, "published_revision": revision, "replaced_by": replaced_by}
    update_row(capability, **moved, updated_at=timezone.now())
    if status not in HELD_STATUSES:
        tool_names = ()
    held = set(capability.tool_names.values_list("name", flat=True)) if has_tool_names else set()
    _take_tool_names(capability, held, load_bundle(revision).tool_names if tool_names is None else tool_names)
    if resolves_incidents:
        close_incidents(capability)
    training_job.queue_training()
    checkpoints.queue_checkpoint()
    Release.objects.create(
        registry_revision=bump_registry_revision(state),
        capability=capability,
        revision=revision,
        status=status,
        replaced_by=_replacement_for_readers(capability),
        visibility=capability.visibility,
    )


def _replacement_for_readers(capability: Capability) -> str:
    """What readers are sent to; empty for none, and while it is quarantined."""
    replacement = capability.replaced_by
    return replacement.capability_id if replacement and replacement.status in LOADABLE_STATUSES else ""


def _take_tool_names(capability: Capability, held: set[str], tool_names: Collection[str]) -> None:
    """The table's primary key refuses a name that another capability has, whatever was checked before."""
    wanted = set(tool_names)
    if freed := held - wanted:
        capability.tool_names.filter(name__in=freed).delete()
    ToolName.objects.bulk_create([ToolName(name=name, capability=capability) for name in sorted(wanted - held)])


def status_detail(capability: Capability) -> dict[str, str | None]:
    """What a change of its status changes, as the audit log has it before and after."""
    replaced_by = capability.replaced_by.capability_id if capability.replaced_by else None
    return {"status": capability.status, "replaced_by": replaced_by}
