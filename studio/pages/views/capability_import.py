"""A capability from what somebody has: an archive, a folder, pasted texts, or a git address."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import IO, Any, Final

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from capability_kit.json_text import parse_json
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.discovery.bundle_discovery import with_id
from capability_rules.errors import RegistryError, SourceUnreadable
from registry.catalog.facets import find_display_names
from registry.importing import bundle_import, git_import_jobs
from registry.importing.bundle_import import ImportResult
from registry.importing.git_reader import redact_address
from studio.pages.form_data import get_query_text, get_text
from studio.pages.permissions import StudioRequest, actor_of, author_required
from studio.pages.views.draft import FIELDS, get_submitted_files

_ENDED: Final = ("stored", "refused")


@author_required("GET", "POST")
def import_files(request: StudioRequest) -> HttpResponse:
    """Take an archive, a folder or pasted texts as drafts: all that is in it, or nothing."""
    context: dict[str, Any] = {"way": "files", "pasted": [(name, field, "") for name, field in FIELDS.items()]}
    if request.method != "POST":
        return render(request, "studio/capability/files.html", context)
    pasted = {name: text for name, text in get_submitted_files(request).items() if text.strip()}
    context |= {
        "pasted": [(name, field, pasted.get(name, "")) for name, field in FIELDS.items()],
        "replace_existing": bool(request.POST.get("replace")),
        "skip_existing": bool(request.POST.get("skip")),
        "was_uploaded": bool(request.FILES),
        "as_id": get_text(request, "as_id", most=64),
    }
    try:
        outcome = bundle_import.import_all_or_none(
            with_id(_sources(request, pasted), context["as_id"]),
            by=actor_of(request),
            replace_existing=context["replace_existing"],
            skip_existing=context["skip_existing"],
        )
    except RegistryError as error:
        return render(request, "studio/capability/files.html", context | {"error": error.message}, status=400)
    if outcome.is_stored and len(outcome.lines) == 1 and not outcome.has_losses:
        messages.success(request, _("Imported as a draft. Trigger phrases help agents to find it."))
        return redirect("studio:draft_edit", outcome.lines[0].capability_id)
    status = 200 if outcome.is_stored else 400
    return render(request, "studio/capability/files.html", context | _result_context(outcome), status=status)


def _result_context(outcome: ImportResult) -> dict[str, Any]:
    lines = [line.as_dict() for line in outcome.lines]
    summary = {"is_stored": outcome.is_stored, "known": outcome.known, "stored": _count_stored(lines)}
    return {"outcome": summary, "lines": _with_names(lines)}


def _with_names(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What a person calls each, where the registry has it by now; the id else."""
    names = find_display_names({line["capability_id"] for line in lines})
    return [{**line, "display_name": names.get(line["capability_id"], line["capability_id"])} for line in lines]


def _count_stored(lines: Iterable[Mapping[str, Any]]) -> int:
    """How many became drafts; jobs of before have no `is_skipped`."""
    return sum(not line.get("is_skipped") for line in lines)


def _sources(request: StudioRequest, pasted: dict[str, str]) -> list[SourceBundle]:
    """What was brought: an archive before a folder before what was pasted. Raises `SourceUnreadable`."""
    archive = request.FILES.get("archive")
    if archive is not None:
        return bundle_import.import_archive(_opened(archive), str(archive.name)[:100])
    folder = request.FILES.getlist("folder")
    if not folder:
        return bundle_import.import_texts(pasted, "pasted")
    paths = _paths(request, len(folder)) or [str(each.name) for each in folder]
    return bundle_import.import_files(
        [(path, _opened(each)) for path, each in zip(paths, folder, strict=True)], "folder"
    )


def _opened(upload: UploadedFile[Any]) -> IO[bytes]:
    """On disk, or in memory where it is small."""
    file: IO[bytes] = upload.file or io.BytesIO()
    return file


def _paths(request: StudioRequest, count: int) -> list[str] | None:
    """Where each file stands in its folder: a browser sends the names alone, and a script adds this."""
    sent = request.POST.get("paths", "")
    if not sent:
        return None
    paths = parse_json(sent)
    if not isinstance(paths, list) or len(paths) != count or not all(isinstance(path, str) for path in paths):
        raise SourceUnreadable(_("The paths of the folder's files are missing. Upload an archive instead"))
    return paths


@author_required("GET", "POST")
def import_git(request: StudioRequest) -> HttpResponse:
    """Queue the fetch of a git URL; its page shows the progress."""
    context: dict[str, Any] = {"way": "git"}
    if request.method == "POST":
        source, as_id = get_text(request, "source", most=501), get_text(request, "as_id", most=64)
        credential = get_text(request, "credential", most=70)
        replace_existing = bool(request.POST.get("replace"))
        try:
            run = git_import_jobs.start_import(
                source=source,
                by=actor_of(request),
                replace_existing=replace_existing,
                as_id=as_id,
                credential=credential,
            )
        except RegistryError as error:
            context |= {
                "error": error.message,
                "source": redact_address(source),
                "replace_existing": replace_existing,
                "as_id": as_id,
                "credential": credential,
            }
        else:
            return redirect("studio:capability_git_show", run.pk)
    else:
        # From a finished import, so that an address need not be typed again.
        context["source"] = get_query_text(request, "source", most=500)
    context["runs"] = git_import_jobs.list_recent_imports()
    return render(request, "studio/capability/git.html", context, status=400 if "error" in context else 200)


@author_required("GET")
def git_import_show(request: StudioRequest, number: int) -> HttpResponse:
    """How far an import is, and what came of it. It asks again by itself until it has ended."""
    run = git_import_jobs.get_import(number)
    has_ended = run.state in _ENDED
    context = {"way": "git", "run": run, "has_ended": has_ended, "lines": _with_names(run.results)}
    known = [line for line in run.results if line["is_known"]]
    context["outcome"] = {"is_stored": run.state == "stored", "known": known, "stored": _count_stored(run.results)}
    template = "studio/capability/git_import.html" + ("#progress" if request.htmx else "")
    return render(request, template, context)
