"""How our own sentences are shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from django import template
from django.utils import timezone
from django.utils.html import conditional_escape, format_html, json_script
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from studio.middleware.time_zones import ZONE_SUFFIX, moment_words, utc_words, zone_name, zone_words
from studio.pages.js_translations import Part, list_translations

register = template.Library()
_CODE: Final = re.compile(r"`([^`\n]+)`")


@register.filter
def words(text: object) -> SafeString:
    """Escaped, with what stands in backticks as code."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", conditional_escape(str(text))))  # noqa: S308 (escaped first)


@register.simple_tag
def script_words(part: Part) -> SafeString:
    """The translations of what scripts say, where words.js finds them."""
    return json_script(list_translations(part), f"{part}-words")


@register.filter
def ago(moment: datetime) -> str:
    """How long it is since then, such as `2 hours, 5 minutes ago`."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(how_long)s ago") % {"how_long": timesince(moment, depth=2)}


@register.filter
@register.simple_tag
def since(moment: datetime) -> SafeString:
    """As `ago`; the moment itself, in the reader's zone and in UTC, is the element's title."""
    exact = moment_words(moment) if zone_name() == "UTC" else f"{moment_words(moment)} ({utc_words(moment)})"
    return format_html('<time datetime="{}" title="{}">{}</time>', _iso(moment), exact, ago(moment))


@register.filter
@register.simple_tag
def when(moment: datetime) -> SafeString:
    """The moment in the reader's zone, with the zone's name, such as `Nov 22, 2026, 10:15 PM EST`; UTC is the title."""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', _iso(moment), utc_words(moment), moment_words(moment)
    )


# As `when`, where no element can stand, such as in a drawing.
register.filter("moment_words", moment_words)


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


@register.inclusion_tag("components/time_zone.html")
def time_zone(field: str, at: datetime | None = None, zone: tzinfo | str | None = None) -> dict[str, str]:
    """What stands beside a field that takes a time: the zone in which it is read, in words and for the form to send.

    `at` is the moment that the field shows, `zone` the one in which it shows it where that is not the reader's.
    """
    # A template that finds no zone gives the empty string.
    zone = zone if isinstance(zone, tzinfo) else None
    return {
        "field": f"{field}{ZONE_SUFFIX}",
        "name": zone_name(zone),
        "words": zone_words(at or timezone.now(), zone),
    }


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
    """An actor as it is stored (`registry.common.actors.Actor`), in words: people by their name alone."""
    kind, _colon, name = actor.partition(":")
    kinds = {
        "operator": name,
        "agent_key": _("the key %(name)s") % {"name": name},
        "command_line": _("%(name)s at the command line") % {"name": name},
    }
    return kinds.get(kind, "Capability Studio" if kind == "system" else actor)
