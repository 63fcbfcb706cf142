"""The reader's time zone: the one in which a page shows each time, and in which a field takes one.

The browser names its zone in a cookie (static/studio/time_zone.js). Until it has, and without scripts, the zone is UTC.
A zone is never implied: each time is shown with its name, and each form sends the zone that it was shown in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.dateformat import format as formatted
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from capability_rules.errors import InvalidRequest

COOKIE: Final = "timezone"
# The name of the hidden field that says in which zone another field was shown.
ZONE_SUFFIX: Final = "_zone"
# Of the database, but not the zone of any place that a reader would recognize.
_NOT_OFFERED: Final = frozenset(("Factory", "localtime"))
# Zone offsets reach to 14 hours: one day away from these years, no calculation leaves the range of dates.
_YEARS: Final = range(2, 9999)


@lru_cache(maxsize=1)
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones() - _NOT_OFFERED)


def find_zone(name: str) -> ZoneInfo | None:
    """The zone of an IANA name such as `America/New_York`; None for any other text."""
    if name not in _zone_names():
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError):
        # A file of the system's database that is damaged or gone since it was listed.
        return None


class TimeZoneMiddleware:
    """Activates the reader's zone while a page of the Studio is made; everything else keeps UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.get_response(request)
        finally:
            # The thread serves other readers next.
            timezone.deactivate()

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """The address is resolved by now: API answers do not depend on a browser's cookie."""
        zone = find_zone(request.COOKIES.get(COOKIE, ""))
        if zone is not None and request.resolver_match and "studio" in request.resolver_match.app_names:
            timezone.activate(zone)


def zone_name(zone: tzinfo | None = None) -> str:
    """The IANA name of a zone, by default of the reader's."""
    zone = zone or timezone.get_current_timezone()
    return getattr(zone, "key", "UTC")


def zone_words(moment: datetime, zone: tzinfo | None = None) -> str:
    """The zone's label beside a field, such as `America/New_York (UTC-5)`; the offset is that of the moment."""
    name = zone_name(zone)
    local = moment.astimezone(zone or timezone.get_current_timezone())
    return name if name == "UTC" else f"{name} ({_offset_words(local)})"


def moment_words(moment: datetime) -> str:
    """A moment in the reader's zone, with its name, such as `Nov 22, 2026, 10:15 PM EST`."""
    local = moment.astimezone(timezone.get_current_timezone())
    return f"{_local_words(local)} {_abbreviation(local)}"


def stored_moment_words(text: str) -> str:
    """As `moment_words`, of a moment that a row keeps as text; the text itself where it is something else."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if moment.tzinfo is None or moment.year not in _YEARS else moment_words(moment)


def utc_words(moment: datetime) -> str:
    """A moment in UTC, such as `2026-11-23 03:15 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _local_words(local: datetime) -> str:
    # Translators: letters as in Django's `date` filter.
    return formatted(local, pgettext("format of a time", "M j, Y, g:i A"))


def _abbreviation(local: datetime) -> str:
    """`EST`, or the offset if the database has no abbreviation for a zone."""
    name = local.tzname() or ""
    return name if name[:1].isalpha() else _offset_words(local)


def _offset_words(local: datetime) -> str:
    """`UTC-5`, `UTC+5:30` or `UTC+0`."""
    offset = local.utcoffset()
    minutes = round(offset.total_seconds() / 60) if offset is not None else 0
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'−' if minutes < 0 else '+'}{hours}{f':{rest:02}' if rest else ''}"  # noqa: RUF001 (a minus sign, for people)


def zone_sent(given: Mapping[str, Any], field: str) -> tzinfo:
    """The zone in which a field was shown, as its form says; UTC where it names none.

    Raises `InvalidRequest` for a name that is not a zone's.
    """
    name = given.get(f"{field}{ZONE_SUFFIX}", "")
    if not name:
        return UTC
    zone = find_zone(name)
    if zone is None:
        raise InvalidRequest(_("The form names an unknown time zone. Reload the page and enter the time again."))
    return zone


def typed_zone(given: Mapping[str, Any], field: str) -> tzinfo | None:
    """The zone in which what was typed is shown again; None, for the reader's, where nothing was or none is named."""
    return find_zone(given.get(f"{field}{ZONE_SUFFIX}", "")) if given.get(field) else None


def time_sent(given: Mapping[str, Any], field: str) -> datetime:
    """The moment that a field of day and time names, in UTC. An offset in the text wins over the form's zone.

    Raises `InvalidRequest` for something else, and for a time that does not exist or exists twice in the zone.
    """
    zone = zone_sent(given, field)
    try:
        found = datetime.fromisoformat(given.get(field, "").replace("\0", "").strip()[:32])
    except ValueError:
        found = None
    if found is None or found.year not in _YEARS:
        raise InvalidRequest(_("Enter a day and a time, such as 2030-05-01T09:00."))
    if found.tzinfo is not None:
        return found.astimezone(UTC)
    return _only_moment(found, zone)


def _only_moment(found: datetime, zone: tzinfo) -> datetime:
    words = {"time": _local_words(found), "zone": zone_name(zone)}
    first, second = (found.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first.astimezone(zone).replace(tzinfo=None) != found:
        raise InvalidRequest(
            _("%(time)s does not exist in %(zone)s: the clocks go forward then. Enter another time.") % words
        )
    if first != second:
        raise InvalidRequest(
            _("%(time)s happens twice in %(zone)s: the clocks go back then. Enter a time outside that hour.") % words
        )
    return first


def day_start(day: date, zone: tzinfo) -> datetime:
    """When a day begins in a zone, in UTC. Raises `InvalidRequest` for a day that is too far away."""
    if day.year not in _YEARS:
        raise InvalidRequest(_("This day is too far away."))
    # Where midnight is skipped, the earlier offset gives the moment of the change; where it comes twice, the first one.
    return datetime.combine(day, time(), zone).astimezone(UTC)
