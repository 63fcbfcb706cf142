"""*What happened*: what hosts say of the uses of a capability, by what failures have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from registry.authoring.call_words import ShownMessage, describe_message
from registry.authoring.failure_places import find_line
from registry.catalog import drafts
from registry.catalog.facets import get_display_name
from registry.core import queries
from registry.core.chosen_settings import get_setting
from registry.models import Incident, OutcomeReport
from registry.usage import outcome_reports
from registry.usage.outcome_reports import KEEP, ReportGroup
from registry.usage.revision_health import BAD_OUTCOMES, OutcomeCounts, count_outcomes_by_revision
from studio.pages.actions import run_action
from studio.pages.confirmations.outcomes import erase_report_question, find_named_report
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_int_at
from studio.pages.permissions import StudioRequest, author_required

# Of a group; the figure beside its words says how many there are.
_OF_GROUP_MAX: Final = 5


@author_required("GET")
def outcome_list(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Failed uses first, each group with its reasons, conversations, and what can be done about it."""
    capability = queries.get_capability(capability_id)
    revision = get_int_at(request.GET, "revision")
    groups = outcome_reports.list_groups(capability, revision=revision)
    skill_doc = drafts.editable_files(capability)[0].get("skill.md", "") if groups else ""
    names = {capability_id: get_display_name(capability)}
    figures = count_outcomes_by_revision([capability.pk]).get(capability.pk, {})
    total = sum(figures.values(), OutcomeCounts()) if revision is None else figures.get(revision, OutcomeCounts())
    context: dict[str, Any] = {
        "capability": capability,
        "groups": [_describe(capability_id, group, skill_doc, names) for group in groups],
        "revision": revision,
        "revisions": sorted(figures, reverse=True),
        "total": total,
        "incident": Incident.objects.filter(capability=capability, kind="use", closed_at__isnull=True).first(),
        "keeps_conversations": get_setting(KEEP),
        "bad_outcomes": BAD_OUTCOMES,
    }
    return render(request, "studio/feedback/outcomes.html", context)


def _describe(capability_id: str, group: ReportGroup, skill_doc: str, names: Mapping[str, str]) -> dict[str, Any]:
    line = find_line(skill_doc, tool=group.tool, missing=group.missing, reason=group.newest.reason)
    place = f"?{urlencode({'file': 'skill.md', 'line': line})}" if line else ""
    return {
        "title": _title(group),
        "group": group,
        "shown": [(one, _read_conversation(one, names)) for one in group.reports[:_OF_GROUP_MAX]],
        "more": max(0, len(group.reports) - _OF_GROUP_MAX),
        "line": line,
        "editor": reverse("studio:draft_edit", args=[capability_id]) + place,
    }


def _read_conversation(report: OutcomeReport, names: Mapping[str, str]) -> list[ShownMessage]:
    return [
        describe_message(
            one["role"], one["text"], [(call["tool"], call["arguments"]) for call in one.get("calls", ())], names
        )
        for one in report.conversation or ()
    ]


def _title(group: ReportGroup) -> str:
    if group.missing:
        return _("%(tool)s was called without %(name)s") % {"tool": group.tool, "name": group.missing}
    if group.code:
        return _("%(tool)s failed: %(code)s") % {"tool": group.tool, "code": group.code}
    return group.newest.reason or _("Without a reason")


@author_required("GET", "POST")
@confirmed_first(erase_report_question, page="studio:outcome_list")
def outcome_erase(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Forget what was said of one use."""
    event_id = find_named_report(request, capability_id).event.event_id
    to = redirect("studio:outcome_list", capability_id)
    return run_action(request, outcome_reports.erase_report, _("Erased."), to=to, event_id=event_id)
