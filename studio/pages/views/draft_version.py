"""Draft history: earlier texts of a draft, how they differ from it, and restoring one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from capability_rules.bundles.text_diff import diff_files
from capability_rules.errors import RegistryError
from registry.catalog import draft_versions, drafts
from registry.catalog.facets import get_display_name
from registry.common.errors import DraftConflict, DraftNotFound, Forbidden
from registry.core import queries
from studio.pages.actions import Undo, report_done
from studio.pages.form_data import get_int
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, actor_of, author_required


@author_required("GET")
def draft_version_list(request: StudioRequest, capability_id: str) -> HttpResponse:
    """All earlier drafts that can be restored, the newest first."""
    capability = queries.get_capability(capability_id)
    found = draft_versions.list_earlier_drafts(capability)
    context = {
        "capability": capability,
        "capability_name": get_display_name(capability),
        "draft": drafts.get_active_draft(capability),
        "page": get_page(request, found),
        "days": draft_versions.KEPT.days,
        "versions_max": draft_versions.VERSIONS_MAX,
    }
    return render(request, "studio/draft_version/list.html", context)


@author_required("GET")
def draft_version_show(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """One of them against the current draft, or against what is published where there is none."""
    capability = queries.get_capability(capability_id)
    earlier, texts = draft_versions.get_earlier_draft(capability, number)
    current, version = drafts.editable_files(capability)
    context = {
        "capability": capability,
        "capability_name": get_display_name(capability),
        "earlier": earlier,
        "draft_version": version,
        "diffs": diff_files(current, texts),
        "files": texts,
    }
    return render(request, "studio/draft_version/show.html", context)


@author_required(form_on="studio:draft_version_show")
def draft_version_restore(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """Make it the draft again; the text that it replaces becomes a version."""
    queries.get_capability(capability_id)
    based_on = get_int(request, "based_on")
    try:
        draft = drafts.restore_version(
            capability_id=capability_id, version=number, based_on=based_on, by=actor_of(request)
        )
    except DraftNotFound as error:
        messages.error(request, error.message)
        return redirect("studio:draft_version_list", capability_id)
    except Forbidden:
        raise
    except RegistryError as error:
        changed = _("The draft has changed since you opened this page. Check the differences again.")
        messages.error(request, changed if isinstance(error, DraftConflict) else error.message)
        return redirect("studio:draft_version_show", capability_id, number)
    undo = None
    if based_on is not None and draft.version != based_on:
        undo = Undo.by("draft_version_restore", capability_id, based_on, based_on=str(draft.version))
    report_done(request, _("Draft version %(number)s restored.") % {"number": number}, undo)
    return redirect("studio:draft_edit", capability_id)
