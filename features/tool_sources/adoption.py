"""Takes tools of a source into drafts, and notes where each came from."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from capability_rules.errors import InvalidRequest
from features.tool_sources.drafting import TOOLS_MAX, add_contracts, build_files
from features.tool_sources.mapping.contract import named_contract
from features.tool_sources.models import ToolBinding, ToolSource, ToolSourceItem
from features.tool_sources.source_store import get_source, record_event
from registry.authoring.capability_creation import CapabilitySpec
from registry.catalog import drafts
from registry.catalog.drafts import SavedDraft
from registry.common.actors import Actor
from registry.core.published_index import get_validation_context
from registry.core.queries import get_capability
from registry.core.transactions import write_transaction
from registry.models import Capability

_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """An operation that becomes a tool, its name (empty: the suggested one), and whether it gets a form."""

    key: str
    name: str = ""
    has_form: bool = False


def create_capability(*, source_id: int, chosen: Sequence[ToolChoice], wish: CapabilitySpec, by: Actor) -> SavedDraft:
    """The draft of a new capability with these tools.

    Raises `NotFound`, `DraftConflict` where the id exists, and `InvalidRequest`.
    """
    source, taken = _chosen(source_id, chosen, wish.capability_id)
    files = build_files(wish, [one.contract for one in taken], forms=_forms(taken))
    with write_transaction():
        saved = drafts.save_draft(capability_id=wish.capability_id, files=files, based_on=None, by=by, create=True)
        _bind(source, get_capability(wish.capability_id), taken, by)
    return saved


def add_tools(*, capability_id: str, source_id: int, chosen: Sequence[ToolChoice], by: Actor) -> SavedDraft:
    """The draft of a capability, or a new one of what is published, with these tools beside its own.

    Raises `CapabilityNotFound`, `NotFound`, `InvalidRequest`, and `DraftConflict` where somebody saves meanwhile.
    """
    source, taken = _chosen(source_id, chosen, capability_id)
    capability = get_capability(capability_id)
    held, version = drafts.editable_files(capability)
    files = add_contracts(held, [one.contract for one in taken], forms=_forms(taken))
    with write_transaction():
        saved = drafts.save_draft(capability_id=capability_id, files=files, based_on=version, by=by)
        _bind(source, capability, taken, by)
    return saved


@dataclass(frozen=True, slots=True)
class _Taken:
    item: ToolSourceItem
    contract: dict[str, Any]
    has_form: bool


def _forms(taken: Iterable[_Taken]) -> list[str]:
    return [one.contract["name"] for one in taken if one.has_form]


def _chosen(source_id: int, chosen: Sequence[ToolChoice], capability_id: str) -> tuple[ToolSource, list[_Taken]]:
    source = get_source(source_id)
    if not chosen or len(chosen) > TOOLS_MAX:
        raise InvalidRequest(f"Choose 1 to {TOOLS_MAX} operations; found {len(chosen)}")
    items = {item.key: item for item in find_items(source, [one.key for one in chosen])}
    unknown = next((one.key for one in chosen if one.key not in items), None)
    if unknown is not None:
        raise InvalidRequest(f"The source has no operation '{unknown[:100]}'")
    names = suggest_names(items.values(), capability_id)
    taken = [_take(items[one.key], replace(one, name=one.name or names[one.key])) for one in chosen]
    used = [one.contract["name"] for one in taken]
    twice = next((name for name in used if used.count(name) > 1), None)
    if twice is not None:
        raise InvalidRequest(f"Two tools would be named '{twice}': choose another name for one")
    return source, taken


def _take(item: ToolSourceItem, choice: ToolChoice) -> _Taken:
    if item.refused:
        raise InvalidRequest(f"'{item.key[:100]}' cannot be a tool: {item.refused}")
    if not _NAME.fullmatch(choice.name):
        form = "a letter, then letters, digits, _ or -, at most 64"
        raise InvalidRequest(f"'{choice.name[:64]}' is not a name of a tool: {form}")
    return _Taken(item, named_contract(item.contract, choice.name), choice.has_form)


def find_items(source: ToolSource, keys: Collection[str]) -> list[ToolSourceItem]:
    """The operations with these keys, in the order of the source."""
    # PostgreSQL takes no NUL, and no key has one.
    asked = [key for key in keys if "\0" not in key]
    return list(ToolSourceItem.objects.filter(source=source, key__in=asked[: TOOLS_MAX + 1]))


def suggest_names(items: Iterable[ToolSourceItem], capability_id: str) -> dict[str, str]:
    """A name for each operation by its key that no other capability's published tool has."""
    owners = get_validation_context().tool_owners
    taken = {name for name, owner in owners.items() if owner != capability_id}
    names: dict[str, str] = {}
    for item in items:
        prefixed = f"{capability_id}_{item.name}"[:64].rstrip("_") if capability_id else item.name
        numbered = (f"{item.name[:59]}_{number}" for number in range(2, 1000))
        choices = (item.name, prefixed, *numbered)
        names[item.key] = next(name for name in choices if name not in taken and _NAME.fullmatch(name))
        taken.add(names[item.key])
    return names


def _bind(source: ToolSource, capability: Capability, taken: Iterable[_Taken], by: Actor) -> None:
    for one in taken:
        ToolBinding.objects.update_or_create(
            capability=capability, tool_name=one.contract["name"],
            defaults={
                "source": source, "key": one.item.key, "contract": one.contract, "digest": one.item.digest,
                "state": ToolBinding.State.SAME, "changes": [], "noticed_at": None, "created_by": str(by),
            },
        )  # fmt: skip
    names = [one.contract["name"] for one in taken]
    record_event(source, "use", by, {"capability_id": capability.capability_id, "tools": names})


def list_bindings(capability: Capability) -> list[ToolBinding]:
    """The tools of a capability that came from a source, by their names."""
    return list(ToolBinding.objects.filter(capability=capability).select_related("source"))
