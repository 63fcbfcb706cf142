"""Earlier versions of drafts: what a save replaced is kept for a while, so that a removal can be taken back.

Autosaves come every few seconds, so not every one keeps a version: the first save of an author in five minutes does,
and every save that removes much, replaces the text of another author, or changes what was submitted for review.
Drafts that were discarded, published or replaced by an import are kept whole as drafts
(`registry.catalog.drafts.discard`); the lists here contain both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from capability_kit.json_text import parse_json
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.bundles.supporting_files import find_supporting_files
from registry.common.actors import Actor
from registry.common.errors import DraftNotFound
from registry.core.rows import get_row
from registry.models import Capability, Draft, DraftVersion, Review

KEPT: Final = timedelta(days=30)
VERSIONS_MAX: Final = 50
# Of the compressed texts, for each capability: the newest versions are kept, whatever their size.
BYTES_MAX: Final = 20 * 1024 * 1024
PERIOD: Final = timedelta(minutes=5)
# A save that removes this many lines, or makes the texts this many characters shorter, is not typing.
LINES_REMOVED: Final = 5
CHARACTERS_REMOVED: Final = 200
PARTS: Final = ("sections", "tools", "arguments", "forms", "supporting_files")


@dataclass(frozen=True)
class EarlierDraft:
    """An earlier text of a capability's draft.

    `ended_at` is when it was replaced or discarded. `replaced_by` is the actor whose save replaced it and `change` what
    that save changed, as in `count_changes`; both are empty where the draft was discarded, published or replaced whole.
    """

    version: int
    saved_at: datetime
    saved_by: str
    editors: tuple[str, ...]
    ended_at: datetime
    replaced_by: str
    change: Mapping[str, int]

    @property
    def is_set_aside(self) -> bool:
        """Whether it was a whole draft that was discarded, published or replaced."""
        return not self.replaced_by


def keep_version(draft: Draft, texts: Mapping[str, str], by: Actor, *, always: bool = False) -> None:
    """Store the draft's content before a save of `by` replaces it with `texts`, where the save calls for it or with
    `always`; delete versions past their time or number. The caller holds the lock."""
    before = draft.files
    if before == texts:
        return
    change = count_changes(before, texts)
    is_wanted = always or _begins_period(draft, by) or _removes_much(before, texts, change) or _is_submitted(draft)
    if not is_wanted:
        return
    kept = DraftVersion(
        capability=draft.capability,
        version=draft.version,
        saved_at=draft.saved_at,
        saved_by=draft.saved_by,
        editors=draft.editors,
        replaced_at=timezone.now(),
        replaced_by=str(by),
        change=change,
    )
    kept.files = before
    kept.save(force_insert=True)
    _prune(draft.capability)


def _begins_period(draft: Draft, by: Actor) -> bool:
    """Whether the author's last version is old enough, or the text is another author's."""
    if draft.saved_by != str(by):
        return True
    since = timezone.now() - PERIOD
    return not draft.capability.draft_versions.filter(replaced_by=str(by), replaced_at__gt=since).exists()


def _is_submitted(draft: Draft) -> bool:
    """Whether a review is about this version: its next round is compared with it."""
    return Review.objects.filter(capability=draft.capability, draft_version=draft.version).exists()


def _removes_much(before: Mapping[str, str], after: Mapping[str, str], change: Mapping[str, int]) -> bool:
    if any(change.get(part, 0) < 0 for part in PARTS) or change.get("lines_removed", 0) >= LINES_REMOVED:
        return True
    return sum(map(len, before.values())) - sum(map(len, after.values())) >= CHARACTERS_REMOVED


def _kept_since() -> datetime:
    return timezone.now() - KEPT


def _prune(capability: Capability) -> None:
    DraftVersion.objects.filter(replaced_at__lt=_kept_since()).delete()
    rows = capability.draft_versions.order_by("-version").values_list("pk", "size_bytes")
    total, old = 0, []
    for place, (pk, size) in enumerate(rows):
        total += size
        if place >= VERSIONS_MAX or (place and total > BYTES_MAX):
            old.append(pk)
    DraftVersion.objects.filter(pk__in=old).delete()


def count_changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, int]:
    """`{lines_added, lines_removed, sections, tools, arguments, forms, supporting_files}` without what did not change:
    the parts as the difference in number. A line that moved counts as neither; parts of a file that is not JSON are not
    counted."""
    old, new = _lines(before), _lines(after)
    counts = {"lines_added": (new - old).total(), "lines_removed": (old - new).total()}
    parts_before, parts_after = _count_parts(before), _count_parts(after)
    for part in PARTS:
        if part in parts_before and part in parts_after:
            counts[part] = parts_after[part] - parts_before[part]
    return {name: count for name, count in counts.items() if count}


def _lines(files: Mapping[str, str]) -> Counter[tuple[str, str]]:
    return Counter((name, line) for name, text in files.items() for line in text.split("\n") if line.strip())


def _count_parts(files: Mapping[str, str]) -> dict[str, int]:
    counts = {
        "supporting_files": len(find_supporting_files(files)),
        "sections": _count_sections(files.get("skill.md", "")),
    }
    tools = _entries(files.get("tools.json", ""), "tools")
    if tools is not None:
        counts |= {"tools": len(tools), "arguments": sum(map(_count_arguments, tools))}
    forms = _entries(files.get("ui_schemas.json", ""), None)
    return counts if forms is None else counts | {"forms": len(forms)}


def _count_sections(text: str) -> int:
    """Second and third level: a step of a playbook is one of the third."""
    return sum(heading.level in (2, 3) for heading in SkillDocument(text).outline.headings)


def _count_arguments(tool: Any) -> int:
    """All properties of its arguments, at any depth."""
    return _count_properties(tool.get("args_schema")) if isinstance(tool, dict) else 0


def _count_properties(schema: Any) -> int:
    if not isinstance(schema, dict):
        return 0
    properties = schema.get("properties")
    named = list(properties.values()) if isinstance(properties, dict) else []
    return len(named) + sum(map(_count_properties, [*named, schema.get("items")]))


def _entries(text: str, key: str | None) -> list[Any] | None:
    """The entries of a file that is a list, or an object of it; None where it cannot be read."""
    found = parse_json(text) if text.strip() else []
    if isinstance(found, dict):
        found = found.get(key) if key else list(found.values())
    return found if isinstance(found, list) else None


def list_earlier_drafts(capability: Capability) -> list[EarlierDraft]:
    """All that can be restored, the newest first, without the texts."""
    versions = capability.draft_versions.filter(replaced_at__gt=_kept_since()).defer("content")
    set_aside = capability.drafts.filter(discarded_at__gt=_kept_since()).defer(
        *Draft.COLUMNS.values(), "supporting_files"
    )
    found = [*map(_of_version, versions), *map(_of_set_aside, set_aside)]
    return sorted(found, key=lambda one: one.version, reverse=True)


def has_earlier_drafts(capability: Capability) -> bool:
    """Whether there is anything to restore."""
    return (
        capability.drafts.filter(discarded_at__gt=_kept_since()).exists()
        or capability.draft_versions.filter(replaced_at__gt=_kept_since()).exists()
    )


def get_earlier_draft(capability: Capability, version: int) -> tuple[EarlierDraft, dict[str, str]]:
    """An earlier version of a draft, with its texts. Raises `DraftNotFound`."""
    kept = capability.draft_versions.filter(version=version, replaced_at__gt=_kept_since()).first()
    if kept is not None:
        return _of_version(kept), kept.files
    set_aside = capability.drafts.filter(version=version, discarded_at__gt=_kept_since())
    draft = get_row(set_aside, DraftNotFound(f"'{capability.capability_id}' has no earlier draft {version}"))
    return _of_set_aside(draft), draft.files


def _of_version(kept: DraftVersion) -> EarlierDraft:
    editors = tuple(kept.editors or [kept.saved_by])
    return EarlierDraft(
        kept.version, kept.saved_at, kept.saved_by, editors, kept.replaced_at, kept.replaced_by, kept.change
    )


def _of_set_aside(draft: Draft) -> EarlierDraft:
    editors = tuple(draft.editors or [draft.saved_by])
    return EarlierDraft(
        draft.version, draft.saved_at, draft.saved_by, editors, draft.discarded_at or draft.saved_at, "", {}
    )
