"""The four figures on Home, each with the change against the period before (components/stat.html)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from registry.selectors.home import DAYS, Home, MatchesOfDay
from studio.pages.charts import Sparkline, build_sparkline


@dataclass(frozen=True, slots=True)
class Figure:
    """`delta` is empty where nothing changed, or nothing is known of the period before; `trend` is its direction and
    `is_worse` its color."""

    label: str
    value: str
    url: str
    delta: str = ""
    trend: Literal["", "up", "down"] = ""
    is_worse: bool = False
    note: str = ""
    spark: Sparkline | None = None
    spark_label: str = ""
    tone: str = ""


def build_figures(home: Home) -> list[Figure]:
    """Loads, match rate, published, failing."""
    return [_loads(home), _match_rate(home.matched), _published(home.published), _failing(home)]


def _number(value: float, places: int = 0) -> str:
    return number_format(value, places, use_l10n=True, force_grouping=True)


def _trend(change: float) -> Literal["", "up", "down"]:
    return "up" if change > 0 else "down" if change < 0 else ""


def _loads(home: Home) -> Figure:
    # The chart may show more.
    counts = [count for _day, count in home.loads[-2 * DAYS :]]
    now, before = sum(counts[DAYS:]), sum(counts[:DAYS])
    change = now - before
    return Figure(
        _("Loads"),
        _number(now),
        reverse("studio:usage_show"),
        delta=f"{_number(abs(100 * change / before), 1)}%" if before and change else "",
        trend=_trend(change),
        is_worse=change < 0,
        note=_("from %(number)s") % {"number": _number(before)} if before else _("in 30 days"),
        spark=build_sparkline(counts[DAYS:]) if now else None,
        spark_label=_("Loads a day, last 30 days"),
    )


def _share(days: Sequence[MatchesOfDay]) -> float | None:
    asked = sum(day.asked for day in days)
    return 100 * sum(day.matched for day in days) / asked if asked else None


def _match_rate(days: Sequence[MatchesOfDay]) -> Figure:
    now, before = _share(days[DAYS:]), _share(days[:DAYS])
    change = round(now - before, 1) if now is not None and before is not None else 0
    shares = [share for day in days[DAYS:] if (share := _share([day])) is not None]
    note = _("No messages in 30 days") if now is None else _("of messages found a capability")
    return Figure(
        _("Match rate"),
        "-" if now is None else f"{_number(now, 1)}%",
        reverse("studio:demand_list") + "?what=messages",
        delta=_("%(number)s pt") % {"number": _number(abs(change), 1)} if change else "",
        trend=_trend(change),
        is_worse=change < 0,
        note=_("from %(number)s") % {"number": f"{_number(before, 1)}%"} if change and before is not None else note,
        spark=build_sparkline(shares),
        spark_label=_("Match rate, last 30 days"),
    )


def _counted(figure: Figure, counts: Sequence[int], *, is_good: bool) -> Figure:
    """A figure of counts a day, the last of which is now; `is_good` says that more of them are better."""
    change = counts[-1] - counts[0]
    return replace(
        figure,
        value=_number(counts[-1]),
        delta=_number(abs(change)) if change else "",
        trend=_trend(change),
        is_worse=change < 0 if is_good else change > 0,
        note=_("in 30 days") if change else _("no change in 30 days"),
        spark=build_sparkline(counts) if any(counts) else None,
    )


def _published(counts: Sequence[int]) -> Figure:
    url, label = f"{reverse('studio:capability_list')}?status=published", _("Published capabilities, last 30 days")
    return _counted(Figure(_("Published"), "", url, spark_label=label), counts, is_good=True)


def _failing(home: Home) -> Figure:
    counts, url = home.failing, reverse("studio:incident_list")
    label = _("Open incidents, last 30 days")
    tone = "danger" if counts[-1] else "flat"
    return _counted(Figure(_("Failing"), "", url, spark_label=label, tone=tone), counts, is_good=False)
