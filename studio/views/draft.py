"""The four-file editor: check while typing, save, discard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from registry import drafts, queries
from registry.errors import DraftConflict, RegistryError
from registry.validation import BUNDLE_FILES, Report, validate
from studio.access import StudioRequest, actor_of, author_required
from studio.views.capability import get_capability_or_404

# Form fields cannot hold a dot in every tool; the file's own name stands beside it.
FIELDS: Final = {name: name.replace(".", "_") for name in BUNDLE_FILES}
HELP: Final = {
    "capability.json": "What it is, and which phrases lead to it.",
    "skill.md": "Instructions for the agent.",
    "tools.json": "The tools that it may call, with their policies.",
    "ui_schemas.json": "Forms that the agent can show.",
}


@dataclass(frozen=True)
class FilePanel:
    """One file of the editor with what was found in it."""

    name: str
    field: str
    help: str
    text: str
    errors: int
    warnings: int


def _panels(files: Mapping[str, str], report: Report) -> list[FilePanel]:
    panels = []
    for name in BUNDLE_FILES:
        found = [finding for finding in report.findings if finding.file == name]
        errors = sum(finding.is_error for finding in found)
        panels.append(FilePanel(name, FIELDS[name], HELP[name], files.get(name, ""), errors, len(found) - errors))
    return panels


def _submitted(request: StudioRequest) -> dict[str, str]:
    """The four texts. Browsers send CRLF; an optional file that is empty is absent."""
    texts = {name: request.POST.get(field, "").replace("\r\n", "\n") for name, field in FIELDS.items()}
    return {name: text for name, text in texts.items() if text or name in ("capability.json", "skill.md")}


def _based_on(request: StudioRequest) -> int | None:
    value = request.POST.get("based_on", "")
    return int(value) if value.isdecimal() and len(value) < 10 else None


def _context(capability_id: str, files: Mapping[str, str], based_on: int | None, report: Report) -> dict[str, Any]:
    return {
        "capability_id": capability_id,
        "panels": _panels(files, report),
        "findings": report.findings,
        "report": report,
        "based_on": based_on,
    }


@author_required
@require_safe
def draft_edit(request: StudioRequest, capability_id: str) -> HttpResponse:
    """The draft, or the published texts to begin one from."""
    capability = get_capability_or_404(capability_id)
    files, version = drafts.editable_files(capability)
    report = validate(files, published=queries.published_names())
    return render(request, "studio/draft/edit.html", _context(capability_id, files, version, report))


@author_required
@require_POST
def draft_check(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Findings for the texts as they stand in the browser; stores nothing."""
    files = _submitted(request)
    report = validate(files, published=queries.published_names())
    return render(request, "studio/draft/edit.html#findings", _context(capability_id, files, _based_on(request), report))


@author_required
@require_POST
def draft_save(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Keep the texts. A stale save shows both, and loses neither."""
    get_capability_or_404(capability_id)
    files = _submitted(request)
    try:
        saved = drafts.save_draft(
            capability_id=capability_id, files=files, based_on=_based_on(request), by=actor_of(request)
        )
    except DraftConflict as conflict:
        return _conflict(request, capability_id, conflict)
    except RegistryError as error:
        context = _context(capability_id, files, _based_on(request), validate(files)) | {"error": error.message}
        template = "studio/draft/edit.html" + ("#findings" if request.htmx else "")
        return render(request, template, context, status=400)
    if request.POST.get("then") == "publish":
        return redirect("studio:gate_show", capability_id)
    if request.htmx:
        context = _context(capability_id, saved.files, saved.version, saved.report) | {"saved": True}
        return render(request, "studio/draft/edit.html#findings", context)
    messages.success(request, "Draft saved.")
    return redirect("studio:draft_edit", capability_id)


def _conflict(request: StudioRequest, capability_id: str, conflict: DraftConflict) -> HttpResponse:
    yours, theirs = conflict.extra["yours"], conflict.extra["theirs"]
    rows = [
        {"name": name, "field": FIELDS[name], "yours": yours.get(name, ""), "theirs": theirs.get(name, "")}
        for name in BUNDLE_FILES
        if yours.get(name, "") != theirs.get(name, "")
    ]
    context = {
        "capability_id": capability_id,
        "rows": rows,
        "yours": [(FIELDS[name], text) for name, text in yours.items()],
        "theirs": [(FIELDS[name], text) for name, text in theirs.items()],
        "draft_version": conflict.extra["draft_version"],
    }
    response = render(request, "studio/draft/conflict.html", context, status=409)
    response["HX-Retarget"], response["HX-Reswap"] = "body", "innerHTML"
    return response


@author_required
@require_POST
def draft_discard(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Put the draft away for 30 days."""
    get_capability_or_404(capability_id)
    try:
        drafts.discard_draft(capability_id=capability_id, by=actor_of(request))
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The draft is put away. It is kept for 30 days.")
    return redirect("studio:capability_show", capability_id)
