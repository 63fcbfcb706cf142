"""Docs: the pages of `docs/` by role, found by words, and what they show. Open to all (docs/contract.md 8)."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from studio.pages.documentation.catalog import get_pages, list_groups_for, list_shown_files
from studio.pages.documentation.rendering import render_docs
from studio.pages.documentation.search import TEXT_MAX, search_docs
from studio.pages.form_data import get_query_text
from studio.pages.permissions import is_signed_in

# Everything else is shown as text.
_MEDIA_TYPES: Final = {".png": "image/png", ".svg": "image/svg+xml", ".webp": "image/webp"}


@require_safe
def docs_list(request: HttpRequest) -> HttpResponse:
    """The pages by role, those of one's own role first; or what was found for the words `q`."""
    text = get_query_text(request, "q", most=TEXT_MAX)
    role = str(getattr(request.user, "role", "")) if is_signed_in(request) else ""
    context = {"groups": list_groups_for(role), "text": text, "found": search_docs(text) if text else None}
    return _of_one_person(render(request, "studio/docs/list.html", context))


@require_safe
def docs_show(request: HttpRequest, page: str) -> HttpResponse:
    """Show one page of the documentation."""
    found = get_pages().get(page)
    if found is None:
        raise Http404(_("There is no such page"))
    return _of_one_person(render(request, "studio/docs/show.html", {"page": found, "rendered": render_docs(page)}))


@require_safe
def docs_file(request: HttpRequest, path: str) -> HttpResponseBase:
    """A picture or an example that a page shows or links to."""
    file = list_shown_files().get(path)
    if file is None:
        raise Http404(_("There is no such file"))
    content, etag = _read(file)
    response = HttpResponse(content, content_type=_MEDIA_TYPES.get(file.suffix, "text/plain; charset=utf-8"))
    response["Cache-Control"] = "public, max-age=300"
    response["ETag"] = etag
    return get_conditional_response(request, etag=etag, response=response) or response


@lru_cache(maxsize=128)
def _read(file: Path) -> tuple[bytes, str]:
    """A file and its ETag."""
    content = file.read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def _of_one_person(response: HttpResponse) -> HttpResponse:
    # The frame around it is that of who is signed in.
    patch_cache_control(response, private=True, no_cache=True)
    return response
