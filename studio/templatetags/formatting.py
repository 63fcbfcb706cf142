"""Tags and filters that show text and times: the functions of `studio/pages/formatting.py`."""

from __future__ import annotations

from datetime import datetime, tzinfo

from django import template
from django.utils import timezone

from studio.middleware.time_zones import ZONE_SUFFIX, moment_words, zone_name, zone_words
from studio.pages import formatting

register = template.Library()
# In templates they have short names.
register.filter("words", formatting.inline_code)
register.filter("breakable", formatting.breakable)
register.filter("every", formatting.interval)
register.filter("who", formatting.actor_name)
register.filter("authors", formatting.author_names)
for _name, _function in (("since", formatting.relative_time), ("when", formatting.local_time)):
    register.filter(_name, _function)
    register.simple_tag(_function, name=_name)


# As `when`, where no element can stand, such as in a drawing.
register.filter("moment_words", moment_words)


@register.simple_tag
def zone_now() -> str:
    """The reader's time zone in words."""
    return zone_words(timezone.now())


@register.inclusion_tag("components/time_zone.html")
def time_zone(field: str, at: datetime | None = None, zone: tzinfo | str | None = None) -> dict[str, str]:
    """The zone beside a time field: the zone in which it is read, in words and for the form to send.

    `at` is the time that the field shows, `zone` the one in which it shows it where that is not the reader's.
    """
    # A template that finds no zone gives the empty string.
    zone = zone if isinstance(zone, tzinfo) else None
    return {
        "field": f"{field}{ZONE_SUFFIX}",
        "name": zone_name(zone),
        "words": zone_words(at or timezone.now(), zone),
    }
