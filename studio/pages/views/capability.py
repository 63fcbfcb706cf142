"""Capabilities: one of them, and the verbs that change its status."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.profile import profile_from_text
from capability_rules.errors import RegistryError
from registry.authoring.phrase_suggestions import PhraseSuggestion, suggest_phrases
from registry.catalog import draft_versions, drafts
from registry.catalog.facets import get_display_name, list_facets
from registry.catalog.integrity import is_intact
from registry.common.errors import Forbidden
from registry.core import queries
from registry.models import Capability, Draft, Incident, Revision
from registry.publishing import publication, reviews
from registry.publishing.bundle_powers import get_powers
from registry.publishing.quarantine import evaluate_end, is_quarantine_open, quarantine
from registry.selectors.capability_overview import describe_use, find_status_event
from registry.selectors.need_overview import describe_needs
from studio.pages.actions import Undo, report_done
from studio.pages.bundle_view import build_bundle_context
from studio.pages.charts import build_sparkline
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_note, get_text
from studio.pages.permissions import StudioRequest, actor_of, operator_required, publisher_required
from studio.pages.powers import group_powers
from studio.pages.reauthentication import is_recently_confirmed
from studio.pages.scheduled import build_scheduled_context
from studio.pages.snippets import build_load_snippets, needs_key


@operator_required("GET")
def capability_show(request: StudioRequest, capability_id: str) -> HttpResponse:
    """One capability: what agents see of it, and what can be done."""
    capability = queries.get_capability(capability_id)
    revision = capability.published_revision
    # A row that was damaged may hold anything: it is not shown as what agents get, since they do not get it.
    intact = revision is not None and is_intact(revision)
    draft = capability.drafts.filter(discarded_at__isnull=True).first()
    # What was never published has no other name than its draft's.
    drafted = list_facets(draft.capability_json) if draft and not revision else None
    bundle = queries.load_bundle(revision) if revision and intact else None
    context = {
        "capability": capability,
        "revision": revision,
        "is_damaged": not intact and revision is not None,
        "bundle": bundle,
        **(_published_context(request, capability, bundle) if bundle else {}),
        **(_drafted_context(draft) if draft and not revision else {}),
        "draft": draft,
        "changes_requested": reviews.list_changes_requested().filter(capability=capability).first(),
        **build_scheduled_context(capability),
        "drafted": drafted,
        "has_earlier_drafts": draft is None and draft_versions.has_earlier_drafts(capability),
        # What is wrong with a tool, the feature that compares it says beside the way to fix it.
        "incidents": capability.incidents.filter(closed_at__isnull=True).exclude(kind=Incident.Kind.TOOL),
        "status_event": find_status_event(capability),
        "suggestions": _suggestions(request, draft or revision),
        # None where it is not quarantined, and was not when it was retired.
        "quarantine_end": evaluate_end(capability, actor_of(request)) if is_quarantine_open(capability) else None,
    }
    return render(request, "studio/capability/show.html", context)


def _drafted_context(draft: Draft) -> dict[str, Any]:
    """What was never published is drawn from its draft, where that can be."""
    report = drafts.validate_draft(draft)
    return build_bundle_context(report.bundle) if report.ok and report.bundle is not None else {}


def _suggestions(request: StudioRequest, text: Draft | Revision | None) -> list[PhraseSuggestion]:
    """Phrases that who may edit it can take into the draft."""
    if text is None or not request.user.can_edit:
        return []
    return suggest_phrases(profile_from_text(text.capability_json or ""))


def _show_part(request: StudioRequest, capability_id: str, part: str, title: str) -> HttpResponse:
    """One part of what agents get, as a tab; without anything that can be shown, the overview says why."""
    capability = queries.get_capability(capability_id)
    revision = capability.published_revision
    if revision is None or not is_intact(revision):
        return redirect("studio:capability_show", capability_id)
    bundle = queries.load_bundle(revision)
    context = {"capability": capability, "part": part, "part_title": title, **build_bundle_context(bundle)}
    return render(request, "studio/capability/part.html", context)


@operator_required("GET")
def capability_instructions(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Show the instructions of the published revision."""
    return _show_part(request, capability_id, "instructions", _("Instructions"))


@operator_required("GET")
def capability_tools(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Show the tools of the published revision."""
    return _show_part(request, capability_id, "tools", _("Tools"))


@operator_required("GET")
def capability_forms(request: StudioRequest, capability_id: str) -> HttpResponse:
    """The published forms, drawn."""
    return _show_part(request, capability_id, "forms", _("Forms"))


def _published_context(request: StudioRequest, capability: Capability, bundle: SkillBundle) -> dict[str, Any]:
    """What the overview shows of a bundle that agents can load, and of its use."""
    use = describe_use(capability)
    is_loadable = capability.status in queries.LOADABLE_STATUSES
    return {
        **build_bundle_context(bundle),
        "use": use,
        "needs": describe_needs(bundle.capability),
        "power_groups": group_powers(get_powers(capability).comparison),
        "spark": build_sparkline(use.by_day),
        "snippets": build_load_snippets(request, capability) if is_loadable else [],
        "needs_key": needs_key(capability),
    }


def _run(request: StudioRequest, capability_id: str, words: str, verb: Any, **arguments: Any) -> HttpResponse:
    """Do one verb and come back to the capability with `words` on what happened, which hold its `%(name)s`."""
    capability = queries.get_capability(capability_id)
    try:
        outcome = verb(capability_id=capability_id, by=actor_of(request), note=get_note(request), **arguments)
    except Forbidden:
        raise
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        if isinstance(outcome, publication.PublishResult) and outcome.status == "refused":
            reasons = "; ".join(finding.message for finding in outcome.findings if finding.is_error)
            messages.error(request, _("It doesn't pass the current checks: %(reasons)s") % {"reasons": reasons})
            if any(finding.code == "SEC_HELD" for finding in outcome.findings):
                return redirect("studio:decision_show", capability_id)
        else:
            report_done(request, words % {"name": get_display_name(capability)}, _undo_of(capability, verb))
    return redirect("studio:capability_show", capability_id)


def _undo_of(before: Capability, verb: Any) -> Undo | None:
    """The way back to the status before, where it is one click: retiring asks first, and so does a quarantine."""
    if verb is quarantine:
        return None
    if verb is publication.restore:
        replaced_by = before.replaced_by.capability_id if before.replaced_by else ""
        name, is_back = Undo.by("capability_deprecate", before.capability_id, replaced_by=replaced_by), "deprecated"
    else:
        name, is_back = Undo.by("capability_restore", before.capability_id), "published"
    return name if before.status == is_back else None


@publisher_required(form_on="studio:capability_show")
def capability_deprecate(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Say that it is on its way out."""
    replaced_by = get_text(request, "replaced_by", most=64) or None
    words = _("%(name)s is deprecated. Agents that load it see a notice.")
    return _run(request, capability_id, words, publication.deprecate, replaced_by=replaced_by)


@publisher_required("GET", "POST")
@confirmed_first(questions.retire_capability, page="studio:capability_show")
def capability_retire(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Retire the capability: agents can no longer load it."""
    words = _("%(name)s is retired. Agents can no longer load it.")
    return _run(request, capability_id, words, publication.retire)


@publisher_required("GET", "POST")
@confirmed_first(questions.quarantine_capability, page="studio:capability_show")
def capability_quarantine(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Quarantine the capability: agents can no longer load it, and must stop using it."""
    words = _("%(name)s is quarantined. Agents can no longer load it.")
    return _run(request, capability_id, words, quarantine)


@publisher_required("GET", "POST")
@confirmed_first(questions.restore_capability, page="studio:capability_show")
def capability_restore(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Restore a deprecated, retired or quarantined capability."""
    words = _("%(name)s is published again.")
    if is_quarantine_open(queries.get_capability(capability_id)):
        words = _("%(name)s is out of quarantine. Agents can load it again.")
    is_confirmed = is_recently_confirmed(request)
    return _run(request, capability_id, words, publication.restore, is_confirmed=is_confirmed)
