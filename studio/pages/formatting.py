"""Text, times and numbers as pages show them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from registry.selectors.effects import NAMES_SHOWN
from studio.middleware.time_zones import moment_words, utc_words, zone_name

CANNOT_UNDO: Final = gettext_lazy("This can't be undone.")
_CODE: Final = re.compile(r"`([^`\n]+)`")


def inline_code(text: object) -> SafeString:
    """The escaped text, with text in backticks as code."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", conditional_escape(str(text))))  # noqa: S308 (escaped first)


def breakable(name: str) -> SafeString:
    """The escaped name, which may go on in the next line after each underscore."""
    return mark_safe(conditional_escape(name).replace("_", "_<wbr>"))  # noqa: S308 (escaped first)


def time_ago(moment: datetime) -> str:
    """How long it is since then, such as `2 hours, 5 minutes ago`."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(how_long)s ago") % {"how_long": timesince(moment, depth=2)}


def relative_time(moment: datetime) -> SafeString:
    """As `time_ago`; the moment itself, in the reader's zone and in UTC, is the element's title."""
    exact = moment_words(moment) if zone_name() == "UTC" else f"{moment_words(moment)} ({utc_words(moment)})"
    return format_html('<time datetime="{}" title="{}">{}</time>', _iso(moment), exact, time_ago(moment))


def local_time(moment: datetime) -> SafeString:
    """The moment in the reader's zone, with the zone's name, such as `Nov 22, 2026, 10:15 PM EST`; UTC is the title."""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', _iso(moment), utc_words(moment), moment_words(moment)
    )


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def interval(minutes: int) -> str:
    """How often, such as `every 90 minutes`, `every 2 hours` or `every day`."""
    days, hours = minutes // (24 * 60), minutes // 60
    if minutes % (24 * 60) == 0:
        return ngettext("every day", "every %(n)s days", days) % {"n": days}
    if minutes % 60 == 0:
        return ngettext("every hour", "every %(n)s hours", hours) % {"n": hours}
    return ngettext("every minute", "every %(n)s minutes", minutes) % {"n": minutes}


def actor_name(actor: str) -> str:
    """An actor as it is stored (`registry.common.actors.Actor`), in words: people by their name alone."""
    kind, _colon, name = actor.partition(":")
    kinds = {
        "operator": name,
        "agent_key": _("API key %(name)s") % {"name": name},
        "command_line": _("%(name)s (CLI)") % {"name": name},
    }
    return kinds.get(kind, "Capability Studio" if kind == "system" else actor)


def author_names(editors: Sequence[str] | None) -> str:
    """Those who edited some texts, such as `Revision.editors`; empty where that was not kept."""
    return names_words([actor_name(editor) for editor in editors or ()])


def figure(number: int) -> str:
    """A number with separators, such as 1,360."""
    return number_format(number, force_grouping=True)


def loads_words(number: int) -> str:
    """Such as `520 loads`."""
    return ngettext("%(n)s load", "%(n)s loads", number) % {"n": figure(number)}


def keys_words(number: int) -> str:
    """Such as `16 keys`."""
    return ngettext("%(n)s key", "%(n)s keys", number) % {"n": figure(number)}


def capabilities_words(number: int) -> str:
    """Such as `3 capabilities`."""
    return ngettext("%(n)s capability", "%(n)s capabilities", number) % {"n": figure(number)}


def names_words(names: Sequence[str], total: int | None = None) -> str:
    """The first few names, and how many more there are."""
    total = len(names) if total is None else total
    shown = ", ".join(names[:NAMES_SHOWN])
    left = total - min(len(names), NAMES_SHOWN)
    return _("%(names)s and %(n)s more") % {"names": shown, "n": figure(left)} if left else shown
