"""Diffs with comments on their lines, a capability's timeline, and the rows of the audit log."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from capability_rules.bundles.text_diff import DiffBlock
from registry.core.events import EVENTS
from registry.models import AuditEvent
from studio.middleware.time_zones import stored_moment_words
from studio.pages.formatting import actor_name

register = template.Library()
_OF_MOMENTS: Final = ("_at", "_until")
_DIGEST: Final = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}")


@register.filter
def at(table: Mapping[Any, Any] | None, key: object) -> Any:
    """The value of a key; empty if there is none."""
    return table.get(key) if table else None


@register.filter
def holds(block: DiffBlock, said: Mapping[int, Any] | None) -> bool:
    """Whether it has a comment on one of its lines: then it is not folded."""
    return said is not None and any(row.new_number in said for row in block.rows)


@register.filter
def happened(event: AuditEvent) -> str:
    """What a row of the audit log did, such as "Published as revision 3"; its verb where the table has no label."""
    kind = EVENTS.get(event.verb)
    detail = dict(event.detail)
    if "due_at" in detail:
        detail["due_at"] = stored_moment_words(str(detail["due_at"]))
    label = str(kind.label_for(detail)) if kind is not None else ""
    return label % defaultdict(str, detail) if label else event.verb


# For each count of `registry.catalog.draft_versions.count_changes`: when it fell, and when it rose.
_COUNTED: Final = {
    "sections": (
        ngettext_lazy("%(number)s section removed", "%(number)s sections removed", "number"),
        ngettext_lazy("%(number)s section added", "%(number)s sections added", "number"),
    ),
    "tools": (
        ngettext_lazy("%(number)s tool removed", "%(number)s tools removed", "number"),
        ngettext_lazy("%(number)s tool added", "%(number)s tools added", "number"),
    ),
    "arguments": (
        ngettext_lazy("%(number)s argument removed", "%(number)s arguments removed", "number"),
        ngettext_lazy("%(number)s argument added", "%(number)s arguments added", "number"),
    ),
    "forms": (
        ngettext_lazy("%(number)s form removed", "%(number)s forms removed", "number"),
        ngettext_lazy("%(number)s form added", "%(number)s forms added", "number"),
    ),
    "supporting_files": (
        ngettext_lazy("%(number)s attached file removed", "%(number)s attached files removed", "number"),
        ngettext_lazy("%(number)s attached file added", "%(number)s attached files added", "number"),
    ),
}
_LINES_REMOVED: Final = ngettext_lazy("%(number)s line removed", "%(number)s lines removed", "number")
_LINES_ADDED: Final = ngettext_lazy("%(number)s line added", "%(number)s lines added", "number")


@register.filter
def counted(change: Mapping[str, int]) -> str:
    """Counts of what a save changed, such as `1 section removed, 155 lines removed`; removals first."""
    parts = [(name, change[name]) for name in _COUNTED if change.get(name)]
    removed = [(_COUNTED[name][0], -number) for name, number in parts if number < 0]
    added = [(_COUNTED[name][1], number) for name, number in parts if number > 0]
    lines = [(_LINES_REMOVED, change.get("lines_removed", 0)), (_LINES_ADDED, change.get("lines_added", 0))]
    said = [words % {"number": number} for words, number in [*removed, *added, *lines] if number]
    return ", ".join(said) or _("Only the order or the blank lines changed")


@register.filter
def actor(event: AuditEvent) -> str:
    """Who did what an audit row tells, in words."""
    return actor_name(f"{event.actor_kind}:{event.actor_name}")


@register.filter
def reason(event: AuditEvent) -> str:
    """The note or the words that were given; empty where none were."""
    return next((str(event.detail[key]) for key in ("note", "words", "why", "details") if event.detail.get(key)), "")


# For each verb whose icon is not the plain one: the icon and its tone.
_MARKS: Final = {
    "capability.publish": ("rocket", "success"),
    "release.done": ("rocket", "success"),
    "capability.rollback": ("rotate-ccw", "warning"),
    "capability.deprecate": ("archive", ""),
    "capability.retire": ("archive", ""),
    "capability.quarantine": ("shield-alert", "danger"),
    "draft.discard": ("trash-2", ""),
    "incident.open": ("triangle-alert", "danger"),
    "incident.close": ("circle-check", "success"),
    "release.cancel": ("calendar-clock", ""),
    "release.change": ("calendar-clock", "plan"),
    "release.fail": ("calendar-clock", "danger"),
    "release.schedule": ("calendar-clock", "plan"),
    "review.approve": ("check", "success"),
    "review.ask": ("git-pull-request", ""),
    "review.send_back": ("message-square-warning", "warning"),
}


@register.filter
def event_icon(event: AuditEvent) -> str:
    """The icon of what happened."""
    return _MARKS.get(event.verb, ("pencil", ""))[0]


@register.filter
def event_tone(event: AuditEvent) -> str:
    """The tone of that icon; empty for the neutral one."""
    return _MARKS.get(event.verb, ("", ""))[1]


@register.filter
def plain(value: object) -> str:
    """A value of a JSON document as people write it."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value) or "(empty)"
    if isinstance(value, str):
        return value or "(empty)"
    return json.dumps(value, ensure_ascii=False)


@register.filter
def detail_shown(event: AuditEvent) -> list[tuple[str, str, str]]:
    """`(name, words, whole)` of a row's details, without empty ones. A digest is shown by its beginning and a
    time in the reader's zone; then `whole` is the stored value."""
    shown = []
    for name, value in event.detail.items():
        if value in ("", [], {}):
            continue
        whole = plain(value)
        words = stored_moment_words(whole) if name.endswith(_OF_MOMENTS) else _DIGEST.sub(r"\1…", whole)
        shown.append((name, words, whole if words != whole else ""))
    return shown
