"""How our own sentences are shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from django import template
from django.utils import timezone
from django.utils.html import conditional_escape, format_html, json_script
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from studio.script_words import Part, translations

register = template.Library()
_CODE: Final = re.compile(r"`([^`\n]+)`")


@register.filter
def words(text: object) -> SafeString:
    """Escaped, with what stands in backticks as code."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", conditional_escape(str(text))))  # noqa: S308 (escaped first)


@register.simple_tag
def script_words(part: Part) -> SafeString:
    """The translations of what scripts say, where words.js finds them."""
    return json_script(translations(part), f"{part}-words")


@register.filter
def ago(moment: datetime) -> str:
    """How long it is since then, such as `2 hours, 5 minutes ago`."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(how_long)s ago") % {"how_long": timesince(moment, depth=2)}


@register.filter
@register.simple_tag
def since(moment: datetime) -> SafeString:
    """As `ago`, in an element that knows the moment: times.js tells it in the reader's zone."""
    utc = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', utc.isoformat(timespec="seconds"), _utc_words(utc), ago(moment)
    )


@register.filter
@register.simple_tag
def when(moment: datetime) -> SafeString:
    """The moment itself, such as `2026-01-31 09:30 UTC`; times.js shows it in the reader's zone."""
    utc = moment.astimezone(UTC)
    return format_html('<time datetime="{}">{}</time>', utc.isoformat(timespec="seconds"), _utc_words(utc))


def _utc_words(utc: datetime) -> str:
    return utc.strftime("%Y-%m-%d %H:%M UTC")


@register.filter
def every(minutes: int) -> str:
    """How often, such as `every 90 minutes`, `every 2 hours` or `every day`."""
    for length, unit in ((24 * 60, "day"), (60, "hour")):
        if minutes % length == 0:
            number = minutes // length
            return f"every {unit}" if number == 1 else f"every {number} {unit}s"
    return f"every {minutes} minutes"


@register.filter
def who(actor: str) -> str:
    """An actor as it is stored (`registry.actors.Actor`), in words: people by their name alone."""
    kind, _colon, name = actor.partition(":")
    kinds = {
        "operator": name,
        "agent_key": _("the key %(name)s") % {"name": name},
        "command_line": _("%(name)s at the command line") % {"name": name},
    }
    return kinds.get(kind, "Capability Studio" if kind == "system" else actor)
