"""A form that was sent by a page of another session: after signing in again it can be sent once more."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from studio.middleware.typed_fields import fields_to_resubmit, typed_fields


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 (Django names it in its log)
    """Refuse the form, and offer what it held to a person who is signed in and sent it from a page of ours: nothing is
    done before they click."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or not _is_from_here(request):
        return render(request, "403_csrf.html", status=403)
    fields, written = fields_to_resubmit(request.POST), typed_fields(request.POST)
    if fields is None or not written:
        return render(request, "403_csrf.html", status=403)
    return render(request, "studio/session/resubmit.html", {"fields": fields, "written": written}, status=403)


def _is_from_here(request: HttpRequest) -> bool:
    return request.headers.get("Origin", "") == f"{request.scheme}://{request.get_host()}"
