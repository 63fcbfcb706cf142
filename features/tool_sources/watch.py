"""The watch: what has changed in a source since its tools were taken, in the words of the semantic diff."""

from __future__ import annotations

import logging
from typing import Final

from django.utils import timezone

from capability_rules.bundles.tool_list import list_tool_contracts
from capability_rules.errors import RegistryError, SourceUnreadable
from capability_rules.semantic_diff.change import EFFECTS
from capability_rules.semantic_diff.tools import compare_tools
from features.tool_sources.drift import as_bundle, digest_tool, note_checked
from features.tool_sources.mapping.contract import named_contract
from features.tool_sources.models import ToolBinding, ToolSource, ToolSourceItem
from features.tool_sources.source_store import (
    get_source,
    read_again,
    record_event,
    require_owner,
    store_reading,
    tidy_sources,
)
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.rows import update_row
from registry.core.transactions import write_transaction
from registry.models import AuditEvent

logger = logging.getLogger(__name__)
KIND: Final = "tool_source.check"
State = ToolBinding.State
_CHANGES_MAX: Final = 50


def check_source(*, source_id: int, by: Actor, content: bytes | None = None) -> list[ToolBinding]:
    """Read the source again, or a newer document in its place, and compare: the tools that differ from it now.

    Raises `NotFound`, `Forbidden`, `InvalidRequest` for a document in the place of an address, and `SourceUnreadable`,
    which is kept with the source too.
    """
    source = get_source(source_id)
    require_owner(source, by)
    try:
        found, catalog = read_again(source, content)
    except SourceUnreadable as error:
        with write_transaction():
            update_row(source, last_error=error.message[:500])
            record_event(source, "fail", by, {"message": error.message[:500]})
        raise
    with write_transaction():
        # A tool may have been taken from it meanwhile.
        require_owner(source, by)
        had_failed = bool(source.last_error)
        store_reading(source, found, catalog)
        bindings = list(source.bindings.select_related("source", "capability__published_revision"))
        was_broken = {one.pk for one in bindings if one.is_broken}
        before = {one.pk: one.changes for one in bindings}
        noticed = [one for one in bindings if _compare(one)]
        note_checked(bindings, was_broken, by, had_failed=had_failed)
        told = [f"{one.capability.capability_id}.{one.tool_name}" for one in noticed][:50]
        record_event(source, "check", by, {"changed": told})
    for capability in {one.capability for one in bindings if one.changes != before[one.pk]}:
        drafts.refresh_digest(capability)
    return [one for one in bindings if one.state != State.SAME]


def _compare(binding: ToolBinding) -> bool:
    """Note what differs; whether that is news."""
    item = ToolSourceItem.objects.filter(source=binding.source_id, key=binding.key).first()
    before = (binding.state, binding.changes)
    state, changes = describe_changes(binding, item)
    if (state, changes) == before:
        return False
    noticed_at = None if state == State.SAME else binding.noticed_at or timezone.now()
    update_row(binding, state=state, changes=changes, noticed_at=noticed_at)
    return state != State.SAME


def describe_changes(binding: ToolBinding, item: ToolSourceItem | None) -> tuple[State, list[dict[str, str]]]:
    """How the source's operation differs from what was taken of it, each change with its effect, the heaviest first."""
    if item is None:
        words = f"`{binding.key}` is gone: calls of `{binding.tool_name}` fail now"
        return State.GONE, [{"effect": "breaks", "words": words}]
    if item.digest == binding.digest:
        return State.SAME, []
    before, after = as_bundle(binding.contract), as_bundle(named_contract(item.contract, binding.tool_name))
    changes = sorted(compare_tools(before, after), key=lambda one: EFFECTS.index(one.effect))
    found = [{"effect": str(one.effect), "words": one.words} for one in changes[:_CHANGES_MAX]]
    words = f"The schema of `{binding.tool_name}` changed in a way that no call notices"
    return State.CHANGED, found or [{"effect": "changes", "words": words}]


def check_all(lease: Lease) -> CommitAction | None:
    """The handler of the daily job: every source with an address that a tool was taken from."""
    watched = ToolSource.objects.exclude(kind=ToolSource.Kind.DOCUMENT).filter(bindings__isnull=False).distinct()
    for source_id in list(watched.values_list("pk", flat=True)):
        queue.renew_lease(lease)
        try:
            check_source(source_id=source_id, by=queue.WORKER)
        except RegistryError as error:
            # It is kept with the source, and the others are read all the same.
            logger.info("the source of tools %s could not be read: %s", source_id, error.message)
    return tidy_sources


def follow_renames(row: AuditEvent) -> None:
    """Let bindings follow tools that a saved draft has under another name; under the lock of the registry."""
    bindings = list(ToolBinding.objects.filter(capability__capability_id=row.subject).select_related("capability"))
    if not bindings:
        return
    names = list_tool_contracts(drafts.editable_files(bindings[0].capability)[0])
    lost = [one for one in bindings if one.tool_name not in names]
    free = {name: tool for name, tool in names.items() if name not in {one.tool_name for one in bindings}}
    for binding in lost:
        renamed = next(
            (name for name, tool in free.items() if digest_tool(tool) == digest_tool(binding.contract)), None
        )
        if renamed is not None:
            del free[renamed]
            update_row(binding, tool_name=renamed, contract=named_contract(binding.contract, renamed))
