"""The four-file editor: check while typing, save, discard and bring back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from registry import drafts
from registry.errors import DraftConflict, RegistryError
from registry.models import Capability
from registry.validation import BUNDLE_FILES, Report
from studio.access import StudioRequest, actor_of, author_required, posted_from
from studio.views.capability import get_capability_or_404
from studio.views.given import number_of

# Form fields cannot hold a dot in every tool; the file's own name stands beside it.
FIELDS: Final[dict[str, str]] = {name: name.replace(".", "_") for name in BUNDLE_FILES}
HELP: Final[dict[str, str]] = {
    "capability.json": "What it is, and which phrases lead to it.",
    "skill.md": "Instructions for the agent.",
    "tools.json": "The tools that it may call, with their policies.",
    "ui_schemas.json": "Forms that the agent can show.",
}
# More than anybody mends at once; the rest shows as these go.
FINDINGS_SHOWN: Final = 200


@dataclass(frozen=True)
class FilePanel:
    """One file of the editor."""

    name: str
    field: str
    help: str
    text: str


def _panels(files: Mapping[str, str]) -> list[FilePanel]:
    return [FilePanel(name, FIELDS[name], HELP[name], files.get(name, "")) for name in BUNDLE_FILES]


def _submitted(request: StudioRequest) -> dict[str, str]:
    """The four texts. Browsers send CRLF; a file whose text is empty is absent."""
    texts = {name: request.POST.get(field, "").replace("\r\n", "\n") for name, field in FIELDS.items()}
    return {name: text for name, text in texts.items() if text}


def _kept(capability: Capability, files: dict[str, str]) -> dict[str, str]:
    """The texts, and where one was not touched the stored form of it.

    A textarea turns a lone CR into the end of a line, and cannot tell an empty file from an absent one.
    """
    stored, _ = drafts.editable_files(capability)
    untouched = {name: text for name, text in stored.items() if text.replace("\r", "\n") == files.get(name, "")}
    return files | untouched


def _context(capability_id: str, files: Mapping[str, str], based_on: int | None, report: Report) -> dict[str, Any]:
    return {
        "capability_id": capability_id,
        "panels": _panels(files),
        "findings": report.findings[:FINDINGS_SHOWN],
        "findings_left_out": max(0, len(report.findings) - FINDINGS_SHOWN),
        "report": report,
        "based_on": based_on,
    }


@author_required
@require_safe
def draft_edit(request: StudioRequest, capability_id: str) -> HttpResponse:
    """The draft, or the published texts to begin one from."""
    capability = get_capability_or_404(capability_id)
    files, version = drafts.editable_files(capability)
    report = drafts.check_texts(capability_id, files)
    return render(request, "studio/draft/edit.html", _context(capability_id, files, version, report))


@author_required
@require_POST
def draft_check(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Findings for the texts as they stand in the browser; stores nothing."""
    files = _submitted(request)
    report = drafts.check_texts(capability_id, files)
    return render(request, "studio/draft/edit.html#findings", _context(capability_id, files, None, report))


@author_required
@posted_from("studio:draft_edit")
def draft_save(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Keep the texts. A stale save shows both, and loses neither."""
    files = _kept(get_capability_or_404(capability_id), _submitted(request))
    based_on = number_of(request, "based_on")
    try:
        saved = drafts.save_draft(capability_id=capability_id, files=files, based_on=based_on, by=actor_of(request))
    except DraftConflict as conflict:
        return _conflict(request, capability_id, conflict)
    except RegistryError as error:
        context = _context(capability_id, files, based_on, drafts.check_texts(capability_id, files))
        return _answer(request, context | {"error": error.message}, status=422)
    if request.htmx:
        context = _context(capability_id, saved.files, saved.version, saved.report)
        return _answer(request, context | {"saved": True}, status=200)
    if request.POST.get("then") == "publish":
        return redirect("studio:gate_show", capability_id)
    messages.success(request, "Draft saved.")
    return redirect("studio:draft_edit", capability_id)


def _answer(request: StudioRequest, context: dict[str, Any], *, status: int) -> HttpResponse:
    """The editor, or the two parts of it that a save changes."""
    template = "studio/draft/edit.html" + ("#saved" if request.htmx else "")
    return render(request, template, context | {"swap": bool(request.htmx)}, status=status)


def _conflict(request: StudioRequest, capability_id: str, conflict: DraftConflict) -> HttpResponse:
    """A page of its own; editor.js sends its form as a browser does when it is told 409."""
    yours, theirs = conflict.extra["yours"], conflict.extra["theirs"]
    rows = [
        {"name": name, "yours": yours.get(name, ""), "theirs": theirs.get(name, "")}
        for name in BUNDLE_FILES
        if yours.get(name, "") != theirs.get(name, "")
    ]
    context = {
        "capability_id": capability_id,
        "rows": rows,
        "yours": [(FIELDS[name], text) for name, text in yours.items()],
        "draft_version": conflict.extra["draft_version"],
    }
    return render(request, "studio/draft/conflict.html", context, status=409)


@author_required
@posted_from("studio:capability_show")
def draft_discard(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Put the draft away for 30 days."""
    get_capability_or_404(capability_id)
    try:
        drafts.discard_draft(capability_id=capability_id, by=actor_of(request))
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The draft is put away. It is kept for 30 days and can be brought back below.")
    return redirect("studio:capability_show", capability_id)


@author_required
@posted_from("studio:capability_show")
def draft_restore(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Bring back a draft that was put away."""
    get_capability_or_404(capability_id)
    try:
        drafts.restore_draft(
            capability_id=capability_id, version=number_of(request, "version") or 0, by=actor_of(request)
        )
    except DraftConflict:
        messages.error(request, "There is a draft already: publish it or put it away first.")
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The draft is back.")
    return redirect("studio:capability_show", capability_id)
