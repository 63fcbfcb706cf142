"""The pointer that readers follow, and what moves with it; its callers hold the lock (`registry.writing`)."""

from __future__ import annotations

from django.utils import timezone

from registry.incidents import close_incidents
from registry.matching import learning
from registry.models import Capability, RegistryState, Release, Revision, ToolName
from registry.queries import LISTED, bundle_of
from registry.writing import move_registry


def move_pointer(
    state: RegistryState,
    capability: Capability,
    revision: Revision,
    *,
    status: str,
    replaced_by: Capability | None = None,
    keep_replacement: bool = True,
    mends: bool = True,
) -> None:
    """Move the pointer: capability row, tool names, release row and registry revision, together.

    `mends` says that what agents could not be given before is good now, or no longer asked for.
    """
    capability.status = status
    capability.published_revision = revision
    if status == "published":
        capability.replaced_by = None
    elif replaced_by is not None or not keep_replacement:
        capability.replaced_by = replaced_by
    capability.updated_at = timezone.now()
    capability.save(update_fields=["status", "published_revision", "replaced_by", "updated_at"])
    _take_tool_names(capability, revision if status in LISTED else None)
    if mends:
        close_incidents(capability)
    learning.queue()
    Release.objects.create(
        registry_revision=move_registry(state),
        capability=capability,
        revision=revision,
        status=status,
        replaced_by=capability.replaced_by.capability_id if capability.replaced_by else "",
        visibility=capability.visibility,
    )


def _take_tool_names(capability: Capability, revision: Revision | None) -> None:
    """The table's primary key refuses a name that another capability has, whatever was checked before."""
    wanted = set(bundle_of(revision).tool_names) if revision else set()
    held = set(capability.tool_names.values_list("name", flat=True))
    capability.tool_names.filter(name__in=held - wanted).delete()
    ToolName.objects.bulk_create([ToolName(name=name, capability=capability) for name in sorted(wanted - held)])
