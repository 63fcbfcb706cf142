"""What waited while its person confirmed at the identity provider who they are."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from studio.middleware.typed_fields import typed_fields
from studio.pages.actions import no_store
from studio.pages.permissions import StudioRequest, operator_required
from studio.pages.reauthentication import find_kept_form


@operator_required("GET")
def identity_continue(request: StudioRequest) -> HttpResponse:
    """The form that was sent before, to send it now."""
    kept = find_kept_form(request)
    if kept is None:
        messages.info(request, _("No action is waiting: it is done, or was begun in another browser."))
        return redirect("studio:home")
    address, sent = kept
    fields = [(name, value) for name, values in sent.lists() for value in values]
    context = {"address": address, "fields": fields, "written": typed_fields(sent)}
    return no_store(render(request, "studio/session/continue.html", context))
