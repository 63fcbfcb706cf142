"""What a tool's difference from its source means: a finding on its capability, and an incident where a published tool
can no longer be called as it says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.finding import Finding
from capability_rules.bundles.json_locations import build_pointer, locate_path
from capability_rules.bundles.tool_list import list_tool_contracts, locate_tool
from capability_rules.semantic_diff.tools import compare_tools
from features.tool_sources.models import ToolBinding, ToolSource, ToolSourceItem
from registry.catalog.incidents import cause_of, close_incidents, open_tool_incident
from registry.common.actors import SYSTEM, Actor
from registry.core.queries import LOADABLE_STATUSES
from registry.core.rows import update_row
from registry.models import AuditEvent, Capability, Incident

CHANGED: Final = "TOOL_SOURCE_CHANGED"
BROKEN: Final = "TOOL_SOURCE_BROKEN"
_TOOLS: Final = "tools.json"
_SHOWN_MAX: Final = 3
_HINT: Final = "Take the change over on the page Tools of the capability, or edit the tool."
_GONE_HINT: Final = "Remove the tool, or have an admin waive this where the source's description is wrong."
Changes = list[dict[str, str]]
State = ToolBinding.State


def find_drift(capability_id: str, files: Mapping[str, str]) -> list[Finding]:
    """A finding for each tool of these texts that differs from its source now; what its author has changed in the same
    way is not counted. One query where nothing differs."""
    found = ToolBinding.objects.filter(capability__capability_id=capability_id).exclude(state=State.SAME)
    if not found.exists():
        return []
    bindings = list(found.select_related("source"))
    tools, items = list_tool_contracts(files), _items_of(bindings)
    found_here = []
    for binding in bindings:
        tool = tools.get(binding.tool_name)
        changes = _open_changes(binding, tool, items.get((binding.source_id, binding.key))) if tool else []
        if changes:
            found_here.append(_finding(binding, changes, files[_TOOLS]))
    return found_here


def _items_of(bindings: Iterable[ToolBinding]) -> dict[tuple[int, str], ToolSourceItem]:
    keys, sources = {one.key for one in bindings}, {one.source_id for one in bindings}
    items = ToolSourceItem.objects.filter(source__in=sources, key__in=keys).only("source_id", "key", "contract")
    return {(item.source_id, item.key): item for item in items}


def _open_changes(binding: ToolBinding, tool: Mapping[str, Any], item: ToolSourceItem | None) -> Changes:
    """The source's changes that the tool does not have yet."""
    if item is None:
        return list(binding.changes) if binding.state == State.GONE else []
    # Only where a tool differs from its source is the mapping of operations loaded: each publish asks.
    from features.tool_sources.mapping.contract import named_contract

    theirs = named_contract(item.contract, binding.tool_name)
    missing = {change.words for change in compare_tools(as_bundle(tool), as_bundle(theirs))}
    return [change for change in binding.changes if change["words"] in missing]


def as_bundle(contract: Mapping[str, Any]) -> SkillBundle:
    """A bundle with this tool alone, as the semantic diff takes it."""
    return SkillBundle({}, {}, "", [dict(contract)], [])


def _finding(binding: ToolBinding, changes: Changes, text: str) -> Finding:
    is_broken = any(change["effect"] == "breaks" for change in changes)
    path = locate_tool(text, binding.tool_name)
    line, column = locate_path(text, path)
    message = f"`{binding.tool_name}` differs from {binding.source.title}: {_words(changes)}"
    hint = _GONE_HINT if binding.state == State.GONE else _HINT
    code, severity = (BROKEN, "error") if is_broken else (CHANGED, "warning")
    return Finding(code, severity, _TOOLS, build_pointer(path), line, column, message, hint)  # type: ignore[arg-type]


def _words(changes: Changes) -> str:
    shown = "; ".join(change["words"] for change in changes[:_SHOWN_MAX])
    more = len(changes) - _SHOWN_MAX
    return f"{shown}; and {more} more" if more > 0 else shown


def note_checked(
    bindings: Iterable[ToolBinding], was_broken: Collection[int], by: Actor, *, had_failed: bool = False
) -> None:  # fmt: skip
    """Open an incident for each capability with published tools that are broken after a check of their source, and
    close it where the last one of those that were broken before is fine again, or the source can be read again; the
    caller holds the lock.

    A tool that was taken over into a draft was not broken before the check: its incident waits for the release.
    """
    for capability, listed in _by_capability(bindings).items():
        if not _open(capability, listed, by) and (had_failed or any(one.pk in was_broken for one in listed)):
            close_incident(capability, listed[0].source_id)


def _by_capability(bindings: Iterable[ToolBinding]) -> dict[Capability, list[ToolBinding]]:
    found: dict[Capability, list[ToolBinding]] = {}
    for binding in bindings:
        found.setdefault(binding.capability, []).append(binding)
    return found


def _open(capability: Capability, bindings: Iterable[ToolBinding], by: Actor) -> bool:
    """An incident for these tools of one source, where one of them is published and broken; whether one is."""
    broken = [one for one in bindings if one.is_broken]
    tools = _published_tools(capability) if broken else {}
    names = [(name, one) for one in broken if (name := _find_name(tools, one))]
    if not names:
        return False
    shown = ", ".join(f"`{name}`" for name, _ in names[:_SHOWN_MAX])
    more = f" and {len(names) - _SHOWN_MAX} more" if len(names) > _SHOWN_MAX else ""
    what = f"The tool {shown}" if len(names) == 1 else f"The tools {shown}{more}"
    message = f"{what} can no longer be called as {'it says' if len(names) == 1 else 'they say'}"
    words = "; ".join(_words(one.changes) for _, one in names[:_SHOWN_MAX])
    details = f"{broken[0].source.title}: {words}."
    cause = _cause(broken[0].source_id)
    open_tool_incident(capability=capability, cause=cause, message=message, details=details, by=by)
    return True


def stop_without_credential(event: AuditEvent) -> None:
    """For `Feature.audit_observers`: tools of a source whose credential is ended are compared no more, which is an
    incident of each capability at once; under the lock of the registry."""
    words = f"The credential '{event.subject}' is ended"
    by = Actor(event.actor_kind, event.actor_name)  # type: ignore[arg-type]
    for source in ToolSource.objects.filter(credential__name=event.subject):
        update_row(source, last_error=words)
        bindings = source.bindings.select_related("capability")
        for capability in _by_capability(bindings):
            message = f"Its tools of {source.title} are no longer compared with it"
            details = f"{words}: add the server again with another one."
            cause = _cause(source.pk)
            open_tool_incident(capability=capability, cause=cause, message=message, details=details, by=by)


def close_incident(capability: Capability, source_id: int) -> None:
    """The tools of this source can be called again, or are no longer watched; the caller holds the lock."""
    close_incidents(capability, kind=Incident.Kind.TOOL, cause=_cause(source_id))


def _cause(source_id: int) -> str:
    return cause_of("tool", str(source_id))


def _published_tools(capability: Capability) -> dict[str, dict[str, Any]]:
    """What agents can load; empty where they cannot."""
    if capability.status not in LOADABLE_STATUSES or capability.published_revision is None:
        return {}
    return list_tool_contracts(capability.published_revision.files)


def _find_name(tools: Mapping[str, Mapping[str, Any]], binding: ToolBinding) -> str:
    """What the tool is called there, where a draft may have renamed it; empty where it is not there."""
    if binding.tool_name in tools:
        return binding.tool_name
    wanted = digest_tool(binding.contract)
    return next((name for name, tool in tools.items() if digest_tool(tool) == wanted), "")


def digest_tool(tool: Mapping[str, Any]) -> str:
    """What two contracts have in common whatever their names are; empty for one without a canonical form."""
    try:
        from features.tool_sources.mapping.contract import digest_contract

        return digest_contract(dict(tool))
    except (ValueError, TypeError):
        # A draft may hold numbers that have no canonical form.
        return ""


def follow_release(row: AuditEvent) -> None:
    """Open and close incidents of a capability's tools after a change of what agents can load; under the lock of the
    registry."""
    found = ToolBinding.objects.filter(capability__capability_id=row.subject)
    # Each release asks, and hardly any has such tools: the columns of four tables are listed for those that have.
    if not found.exists():
        return
    sources: dict[int, list[ToolBinding]] = {}
    for binding in found.select_related("source", "capability__published_revision"):
        sources.setdefault(binding.source_id, []).append(binding)
    for source_id, bindings in sources.items():
        if not _open(bindings[0].capability, bindings, SYSTEM):
            close_incident(bindings[0].capability, source_id)
