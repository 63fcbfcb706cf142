"""The files beside a bundle's four: listed, read, written, brought and taken away, as a part of the draft."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.bundles import supporting_files
from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX, parse_pointer
from capability_rules.bundles.supporting_files import build_file_facts, find_supporting_files, is_in_folder
from capability_rules.bundles.text import FILE_BYTES_MAX, decode_text, is_binary
from capability_rules.errors import InvalidRequest, RegistryError
from capability_rules.validation import Finding, Report
from registry.catalog import drafts
from registry.catalog.facets import get_display_name
from registry.common.errors import DraftConflict
from registry.common.picture_preview import can_draw, draw_preview
from registry.core import queries
from registry.core.file_contents import FileBytes, store_content
from registry.models import Capability
from studio.pages.actions import Undo, report_done
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.downloads import file_response
from studio.pages.draft_findings import group_equal
from studio.pages.form_data import get_int, get_text
from studio.pages.permissions import StudioRequest, actor_of, author_required, operator_required

DRAFT_CHANGED: Final = gettext_lazy(
    "Someone else saved the draft. Your text is below: check the list, then submit it again."
)
_UPLOADS_MAX: Final = 20
_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_KINDS: Final = (
    (f"{_OFFICE}wordprocessingml", gettext_lazy("Word document")),
    (f"{_OFFICE}spreadsheetml", gettext_lazy("Spreadsheet")),
    (f"{_OFFICE}presentationml", gettext_lazy("Presentation")),
    ("application/vnd.oasis.opendocument", gettext_lazy("OpenDocument")),
    ("application/pdf", gettext_lazy("PDF")),
    ("application/zip", gettext_lazy("Archive")),
    ("image/", gettext_lazy("Picture")),
    ("font/", gettext_lazy("Font")),
    ("audio/", gettext_lazy("Audio")),
    ("video/", gettext_lazy("Video")),
    ("text/", gettext_lazy("Text")),
)


@operator_required("GET")
def supporting_list(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Those of the draft, else of what is published."""
    return _page(request, queries.get_capability(capability_id))


def _page(request: StudioRequest, capability: Capability, *, status: int = 200, **more: Any) -> HttpResponse:
    files, version = drafts.editable_files(capability)
    report = drafts.validate_draft_files(capability.capability_id, files)
    found = find_supporting_files(files)
    context = {
        "capability": capability,
        "capability_name": get_display_name(capability),
        "version": version,
        "files": [
            facts | {"place": _place(facts["path"], report), "kind": _kind(facts.get("type", ""))}
            for facts in build_file_facts(found)
        ],
        "findings": group_equal([one for one in report.findings if one.file in found or _is_of_mark(one)]),
        "folders": supporting_files.FOLDERS,
        "most": supporting_files.COUNT_MAX,
    }
    return render(request, "studio/supporting/list.html", context | more, status=status)


def _kind(media_type: str) -> str:
    """What people call a file of this type; the type itself where they have no word."""
    found = (str(word) for start, word in _KINDS if media_type.startswith(start))
    return next(found, media_type)


def _place(path: str, report: Report) -> str:
    """Why the file counts as one of the bundle: `folder` or `named`; `unnamed` where it does not, and `unread` where
    nobody can say, for capability.json cannot be read."""
    if path in report.files:
        return "folder" if is_in_folder(path) else "named"
    is_told = any(finding.code == "FILE_UNKNOWN" and finding.file == path for finding in report.findings)
    return "unnamed" if is_told else "unread"


def _is_of_mark(finding: Finding) -> bool:
    return finding.file == "capability.json" and finding.pointer == f"/metadata/{supporting_files.METADATA_KEY}"


@operator_required("GET")
def supporting_show(request: StudioRequest, capability_id: str, path: str) -> HttpResponse:
    """One of them, to be read and, by authors, to be written."""
    capability = queries.get_capability(capability_id)
    files, version = drafts.editable_files(capability)
    text = find_supporting_files(files).get(path)
    if text is None:
        raise Http404(
            _("'%(capability_id)s' has no file '%(path)s'") % {"capability_id": capability_id, "path": path[:200]}
        )
    pointer = parse_pointer(text)
    context = {"capability": capability, "version": version, "path": path, "text": text, "pointer": pointer}
    is_picture = pointer is not None and can_draw(pointer.media_type)
    return render(request, "studio/supporting/show.html", context | {"is_picture": is_picture})


@operator_required("GET")
def supporting_content(request: StudioRequest, capability_id: str, path: str) -> HttpResponse:  # noqa: ARG001 (a view)
    """The bytes of one of them, as a download."""
    content = FileBytes({path: _read_text(capability_id, path)})[path]
    response = file_response(path.rpartition("/")[2], "application/octet-stream", content)
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


@operator_required("GET")
def supporting_preview(request: StudioRequest, capability_id: str, path: str) -> HttpResponse:  # noqa: ARG001 (a view)
    """A picture as this server has drawn it, never the file itself; of what it cannot draw, the page."""
    text = _read_text(capability_id, path)
    pointer = parse_pointer(text)
    is_picture = pointer is not None and can_draw(pointer.media_type)
    drawn = draw_preview(FileBytes({path: text})[path]) if is_picture else None
    if drawn is None:
        return redirect("studio:supporting_show", capability_id, path)
    return HttpResponse(drawn, content_type="image/png", headers={"Content-Security-Policy": "default-src 'none'"})


def _read_text(capability_id: str, path: str) -> str:
    files, _version = drafts.editable_files(queries.get_capability(capability_id))
    text = find_supporting_files(files).get(path)
    if text is None:
        raise Http404
    return text


@author_required(form_on="studio:supporting_list")
def supporting_save(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Write one, or bring several; whatever is wrong comes back with what was typed."""
    capability = queries.get_capability(capability_id)
    path = get_text(request, "path", most=300)
    text = request.POST.get("text", "").replace("\r\n", "\n")
    uploads = request.FILES.getlist("files")
    typed = {"path": path, "text": text}
    try:
        put = _brought(uploads, get_text(request, "folder", most=200), request) if uploads else {path: text}
        drafts.change_supporting_file(
            capability=capability, put=put, based_on=get_int(request, "based_on"), by=actor_of(request)
        )
    except DraftConflict:
        return _page(request, capability, status=409, error=DRAFT_CHANGED, typed=typed)
    except RegistryError as error:
        return _page(request, capability, status=400, error=error.message, typed=typed)
    messages.success(
        request, _("Added %(paths)s to the draft. Agents get it when you publish.") % {"paths": ", ".join(put)}
    )
    return redirect("studio:supporting_list", capability_id)


def _brought(uploads: list[UploadedFile[Any]], folder: str, request: StudioRequest) -> dict[str, str]:
    """The files by their paths, or the one that is replaced by its own; without a folder they are beside the four.
    Raises `InvalidRequest` for too many, `UploadTooLarge`, `TooManyUploads`."""
    if len(uploads) > _UPLOADS_MAX:
        raise InvalidRequest(_("Upload at most %(most)s files at a time") % {"most": _UPLOADS_MAX})
    found = {}
    replaced = get_text(request, "replaces", most=200)
    for upload in uploads:
        content, name = upload.read(CONTENT_BYTES_MAX + 1), str(upload.name)[:200]
        if len(content) > CONTENT_BYTES_MAX:
            raise InvalidRequest(
                _("%(name)s is too large: files can have up to %(most)s MiB")
                % {"name": name, "most": CONTENT_BYTES_MAX >> 20}
            )
        is_text = not is_binary(content) and len(content) <= FILE_BYTES_MAX
        path = replaced or (f"{folder}/{name}" if folder else name)
        found[path] = decode_text(content)[0] if is_text else store_content(content, actor_of(request))
    return found


@author_required("GET", "POST")
@confirmed_first(questions.remove_file, page="studio:supporting_list")
def supporting_remove(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Take one away; a release that has it keeps it."""
    capability = queries.get_capability(capability_id)
    path, based_on = get_text(request, "path", most=300), get_int(request, "based_on")
    try:
        draft = drafts.change_supporting_file(
            capability=capability, remove=[path], based_on=based_on, by=actor_of(request)
        )
    except DraftConflict:
        return _page(request, capability, status=409, error=DRAFT_CHANGED)
    except RegistryError as error:
        return _page(request, capability, status=400, error=error.message)
    # The draft before is kept, as every removal of a file keeps it.
    undo = Undo.by("draft_version_restore", capability_id, based_on, based_on=str(draft.version)) if based_on else None
    report_done(request, _("Removed %(path)s from the draft.") % {"path": path}, undo)
    return redirect("studio:supporting_list", capability_id)
