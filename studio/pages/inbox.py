"""What needs a person's attention, as rows of the list on Home (components/inbox_row.html)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from registry.selectors.inbox import InboxItem, Kind
from studio.pages.formatting import actor_name, figure, local_time, relative_time

_TEXT_MAX: Final = 240


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One row: `quote` is what somebody wrote; `meta` says when, and what else there is to say."""

    icon: str
    tone: str
    title: str
    url: str
    action: str
    meta: SafeString
    quote: str = ""
    action_url: str = ""


def build_inbox_row(item: InboxItem) -> InboxRow:
    """The row of an item."""
    return _ROWS[item.kind](item)


def _joined(*parts: object) -> SafeString:
    return format_html_join(" · ", "{}", ((part,) for part in parts if part))


def _since(item: InboxItem) -> str:
    return relative_time(item.at) if item.at else ""


def _text(item: InboxItem) -> str:
    return Truncator(" ".join(item.text.split())).chars(_TEXT_MAX)


def _rolled_back(item: InboxItem) -> InboxRow:
    title = _("%(who)s rolled %(name)s back from revision %(old)s to %(new)s")
    title %= {"who": actor_name(item.by), "name": item.name, "old": item.before, "new": item.count}
    return _taken(item, "rotate-ccw", "warning", title)


def _quarantined(item: InboxItem) -> InboxRow:
    title = _("%(who)s quarantined %(name)s") % {"who": actor_name(item.by), "name": item.name}
    return _taken(item, "shield-alert", "danger", title)


def _retired(item: InboxItem) -> InboxRow:
    title = _("%(who)s retired %(name)s") % {"who": actor_name(item.by), "name": item.name}
    return _taken(item, "archive", "", title)


def _taken(item: InboxItem, icon: str, tone: str, title: str) -> InboxRow:
    url = reverse("studio:capability_show", args=[item.capability_id])
    history = reverse("studio:revision_list", args=[item.capability_id])
    return InboxRow(icon, tone, title, url, _("View history"), _joined(_since(item)), _text(item), history)


def _changes_requested(item: InboxItem) -> InboxRow:
    title = _("%(who)s requested changes on %(name)s") % {"who": actor_name(item.by), "name": item.name}
    url = reverse("studio:review_show", args=[item.key])
    return InboxRow(
        "message-square-warning", "warning", title, url, _("Open review"), _joined(_since(item)), _text(item)
    )


def _review(item: InboxItem) -> InboxRow:
    title = _("%(who)s asks you to review %(name)s") % {"who": actor_name(item.by), "name": item.name}
    url = reverse("studio:review_show", args=[item.key])
    return InboxRow("git-pull-request", "info", title, url, _("Open review"), _joined(_since(item)), _text(item))


def _decision(item: InboxItem) -> InboxRow:
    title = ngettext(
        "%(count)s passage of %(name)s needs a decision", "%(count)s passages of %(name)s need a decision", item.count
    )
    title %= {"count": figure(item.count), "name": item.name}
    url = reverse("studio:decision_show", args=[item.capability_id])
    # The doubt quotes the passage by itself.
    meta = _joined(format_html("<bdi>{}</bdi>", _text(item)), _since(item))
    return InboxRow("shield-alert", "warning", title, url, _("Decide"), meta)


def _times(item: InboxItem) -> str:
    return ngettext("%(count)s time", "%(count)s times", item.count) % {"count": figure(item.count)}


def _failing(item: InboxItem) -> InboxRow:
    title = _("%(name)s is failing for agents") % {"name": item.name}
    url = reverse("studio:capability_show", args=[item.capability_id])
    fix = reverse("studio:draft_edit", args=[item.capability_id])
    meta = _joined(format_html("<bdi>{}</bdi>", _text(item)), _times(item), _since(item))
    return InboxRow("triangle-alert", "danger", title, url, _("Fix in editor"), meta, action_url=fix)


def _at_capability(item: InboxItem, icon: str, tone: str, title: str, page: str, link: str) -> InboxRow:
    url = reverse(page, args=[item.capability_id])
    meta = _joined(format_html("<bdi>{}</bdi>", _text(item)), _since(item))
    return InboxRow(icon, tone, title % {"name": item.name}, url, link, meta)


def _release_failed(item: InboxItem) -> InboxRow:
    title = _("The scheduled release of %(name)s failed")
    return _at_capability(item, "calendar-clock", "danger", title, "studio:gate_show", _("Open draft"))


def _release_stopped(item: InboxItem) -> InboxRow:
    title = _("Your scheduled release of %(name)s won't go out")
    return _at_capability(item, "calendar-clock", "warning", title, "studio:gate_show", _("Schedule again"))


def _tool_broken(item: InboxItem) -> InboxRow:
    title = _("A tool of %(name)s can no longer be called as it says")
    return _at_capability(item, "triangle-alert", "danger", title, "studio:capability_show", _("View tool"))


def _source(item: InboxItem) -> InboxRow:
    return _at_address(item, _("Sync of %(name)s is failing"), "studio:source_show", _("Open source"))


def _mirror(item: InboxItem) -> InboxRow:
    return _at_address(item, _("Push to %(name)s is failing"), "studio:git_mirror_show", _("Open mirror"))


def _at_address(item: InboxItem, title: str, url_name: str, link: str) -> InboxRow:
    meta = _joined(format_html("<bdi>{}</bdi>", _text(item)), _times(item), _since(item))
    named = title % {"name": Truncator(item.by).chars(80)}
    return InboxRow("folder-git-2", "danger", named, reverse(url_name, args=[item.key]), link, meta)


def _regression(item: InboxItem) -> InboxRow:
    title = _("Revision %(number)s of %(name)s fails more often") % {"number": item.key, "name": item.name}
    url = reverse("studio:feedback_show", args=[item.capability_id])
    words = _("%(now)s%% of uses, %(before)s%% before") % {"now": item.count, "before": item.before}
    # One key's word alone, which may be wrong or meant to mislead.
    by = _("Only the API key %(key)s has reported on it") % {"key": item.by} if item.by else ""
    return InboxRow("arrow-down", "danger", title, url, _("View feedback"), _joined(words, by))


def _fails_in_use(item: InboxItem) -> InboxRow:
    title = _("%(name)s fails in use") % {"name": item.name}
    url = reverse("studio:outcome_list", args=[item.capability_id])
    figures = {"count": figure(item.count), "total": figure(item.before), "number": item.key}
    words = _("%(count)s of %(total)s known uses of revision %(number)s failed") % figures
    by = _("Only the API key %(key)s has reported on it") % {"key": item.by} if item.by else ""
    return InboxRow("triangle-alert", "danger", title, url, _("See why"), _joined(words, by, _since(item)))


def _release(item: InboxItem) -> InboxRow:
    title = _("%(name)s goes live today") % {"name": item.name}
    by = _("Scheduled by %(who)s") % {"who": actor_name(item.by)}
    meta = _joined(local_time(item.at) if item.at else "", by)
    url = reverse("studio:gate_show", args=[item.capability_id])
    schedule = reverse("studio:release_list")
    return InboxRow("calendar-clock", "plan", title, url, _("View schedule"), meta, _text(item), schedule)


def _proposal(item: InboxItem) -> InboxRow:
    title = _("An agent suggested a change to %(name)s") % {"name": item.name}
    meta = _joined(_("via %(key)s") % {"key": item.by}, _since(item))
    url = reverse("studio:proposal_show", args=[item.key])
    return InboxRow("sparkles", "info", title, url, _("Review proposal"), meta, _text(item))


def _draft(item: InboxItem) -> InboxRow:
    title = _("Your draft of %(name)s has errors") % {"name": item.name}
    url = reverse("studio:draft_edit", args=[item.capability_id])
    saved = format_html("{} {}", _("Saved"), _since(item))
    return InboxRow("pencil-line", "warning", title, url, _("Fix in editor"), saved)


_ROWS: Final[dict[Kind, Callable[[InboxItem], InboxRow]]] = {
    "quarantined": _quarantined,
    "rolled_back": _rolled_back,
    "retired": _retired,
    "changes_requested": _changes_requested,
    "review": _review,
    "decision": _decision,
    "failing": _failing,
    "fails_in_use": _fails_in_use,
    "release_failed": _release_failed,
    "release_stopped": _release_stopped,
    "tool_broken": _tool_broken,
    "source": _source,
    "mirror": _mirror,
    "regression": _regression,
    "release": _release,
    "proposal": _proposal,
    "draft": _draft,
}
