"""The gallery: every component in every state, in both themes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django import forms
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.validation import Finding
from registry.selectors.capability_list import STATUSES
from studio.pages.charts import build_bar_chart, build_sparkline
from studio.pages.lists import TableColumn, build_column
from studio.pages.permissions import StudioRequest, operator_required
from studio.pages.tour import STEPS, Tour

_COLORS: Final = (
    "app", "surface", "subtle", "inset", "text", "text2", "text3", "accent", "success", "warning", "danger", "info",
    "plan",
)  # fmt: skip
_NOW: Final = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


class _Fields(forms.Form):
    """One field of each kind."""

    line = forms.CharField(label=gettext_lazy("A line"), help_text=gettext_lazy("With help below it."))
    text = forms.CharField(label=gettext_lazy("A text"), widget=forms.Textarea(attrs={"rows": 2}), required=False)
    choice = forms.ChoiceField(
        label=gettext_lazy("A choice"),
        choices=[("a", gettext_lazy("One")), ("b", gettext_lazy("Another"))],
        widget=forms.Select(attrs={"class": "select"}),
    )
    ticks = forms.MultipleChoiceField(
        label=gettext_lazy("Several"),
        choices=[("a", gettext_lazy("One")), ("b", gettext_lazy("Another"))],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )


@operator_required("GET")
def gallery_show(request: StudioRequest) -> HttpResponse:
    """Nothing here is read from the registry."""
    return render(request, "studio/gallery/show.html", {"themes": [_theme("light"), _theme("dark")]})


def _theme(theme: str) -> dict[str, Any]:
    """What the components of one half are given; ids differ between the two."""
    faulty = _Fields({"line": "", "choice": "c"}, auto_id=f"{theme}-faulty-%s")
    faulty.is_valid()
    days = [(date(2026, 1, 1) + timedelta(days=number), number * 7 % 23) for number in range(30)]
    return {
        "name": theme,
        "title": _("Light") if theme == "light" else _("Dark"),
        "statuses": STATUSES,
        "findings": [
            _finding(
                "error", "TOOL_SCHEMA_INVALID", "`type` is `dict`, which JSON Schema does not know", "Write `object`."
            ),
            _finding("warning", "TOOL_PROPERTY_UNDESCRIBED", "`limit` has no description", ""),
        ],
        "fields": _Fields(auto_id=f"{theme}-%s"),
        "faulty": faulty,
        "pages": Paginator(range(500), 50).get_page(3),
        "colors": _COLORS,
        "ids": ("billing_refund", "meals", "weights", "workouts", "disk_pressure"),
        "spark": build_sparkline([3, 4, 4, 6, 5, 8, 9, 8, 12]),
        "tabs": [
            {"label": _("Overview"), "url": "#main", "current": "page"},
            {"label": _("Tools"), "url": "#main", "count": 4},
            {"label": _("History"), "url": "#main", "count": 7},
        ],
        "columns": [
            build_column(_("Name"), key="name", sorted_by="name", query=QueryDict()),
            TableColumn(_("Status")),
            build_column(_("Loads"), key="loads", sorted_by="name", query=QueryDict(), is_number=True),
        ],
        "snippets": [
            (
                _("curl"),
                'curl -H "Authorization: Bearer $CAP_KEY" \\\n  "$CAP_URL/capability_skill_load?capability_id=weights"',
            ),
            ("Python", 'registry = Registry.from_env()\nskill = registry.load("weights")'),
            ("MCP", '{"mcpServers": {"capabilities": {"url": "https://studio.example/mcp"}}}'),
        ],
        "snippets_key": f"{theme}-snippets",
        "answer": '{"status": "ok"}',
        "answer_key": f"{theme}-answer",
        "effect": [("3,214", _("loads in 30 days")), ("16", _("API keys"))],
        "chart": build_bar_chart(days, before=[number * 5 % 19 for number in range(30)], releases={days[9][0]}),
        "tour": Tour([(step, place < 3) for place, step in enumerate(STEPS)]),
        "moment": _NOW,
        "diff": {
            "file": "skill.md",
            "added": 1,
            "removed": 1,
            "lines": ["---", "+++", "@@ -1,3 +1,3 @@", " # Weights", "-Answer in one sentence.", "+Answer in two."],
        },
    }


def _finding(severity: Any, code: str, message: str, hint: str) -> Finding:
    return Finding(
        code=code, severity=severity, file="tools.json", pointer="/0", line=12, column=5, message=message, hint=hint
    )
