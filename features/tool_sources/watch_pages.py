"""Sources of tools, what has changed in them, and taking a change over."""

from __future__ import annotations

from typing import Any

import orjson
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from capability_rules.errors import RegistryError
from features.tool_sources import confirmations as questions
from features.tool_sources import source_store, takeover, watch
from features.tool_sources.readers.limits import BYTES_MAX
from registry.common.errors import CapabilityNotFound, DraftConflict, Forbidden, NotFound, StatusConflict
from studio.pages.actions import run_action
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_text
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, actor_of, author_required, operator_required


@operator_required("GET")
def tool_source_list(request: StudioRequest) -> HttpResponse:
    """All sources, the newest first."""
    return render(request, "studio/tool_source/list.html", {"page": get_page(request, source_store.list_sources())})


@operator_required("GET")
def tool_source_show(request: StudioRequest, number: int) -> HttpResponse:
    """One source with the tools that were taken from it."""
    source = source_store.get_source(number)
    bindings = source.bindings.select_related("capability").order_by("capability__capability_id", "tool_name")
    context = {
        "source": source,
        "page": get_page(request, bindings),
        "operations": source.items.count(),
        "may_change": request.user.can_edit and source_store.may_change(source, actor_of(request)),
    }
    return render(request, "studio/tool_source/show.html", context)


@author_required(form_on="studio:tool_source_show")
def tool_source_check(request: StudioRequest, number: int) -> HttpResponse:
    """Read the source again, or the newer document that was sent, and compare."""
    upload = request.FILES.get("document")
    content = upload.read(BYTES_MAX + 1) if upload is not None else None
    try:
        changed = watch.check_source(source_id=number, by=actor_of(request), content=content)
    except (Forbidden, NotFound):
        raise
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        words = ngettext("%(n)s tool differs from its source.", "%(n)s tools differ from their source.", len(changed))
        messages.success(request, words % {"n": len(changed)} if changed else _("Checked. Nothing has changed."))
    return redirect("studio:tool_source_show", number)


@author_required("GET", "POST")
@confirmed_first(questions.remove_source, page="studio:tool_source_show", gone="studio:tool_source_list")
def tool_source_remove(request: StudioRequest, number: int) -> HttpResponse:
    """Forget a source; the tools stay."""
    words = _("Source removed. The tools that were taken from it stay.")
    to = redirect("studio:tool_source_list")
    return run_action(request, source_store.remove_source, words, to=to, source_id=number)


@author_required("GET", "POST")
def tool_take_over(request: StudioRequest, capability_id: str, tool_name: str) -> HttpResponse:
    """What taking a change over would write, field by field; then do it, into a draft."""
    error = ""
    try:
        if request.method == "POST":
            try:
                takeover.take_over(
                    capability_id=capability_id,
                    tool_name=tool_name,
                    by=actor_of(request),
                    overwrite=request.POST.getlist("overwrite"),
                    seen=get_text(request, "seen", most=64),
                )
            except (DraftConflict, StatusConflict):
                error = _(
                    "It has changed since you opened this page. Nothing was taken over: this is what is there now."
                )
            else:
                messages.success(request, _("Taken over into the draft. Review and publish it."))
                return redirect("studio:draft_edit", capability_id)
        plan = takeover.plan_takeover(capability_id, tool_name)
    except (CapabilityNotFound, Forbidden):
        raise
    except RegistryError as refusal:
        messages.error(request, refusal.message)
        return redirect("studio:capability_show", capability_id)
    context = {
        "error": error,
        "seen": plan.seen,
        "capability": plan.binding.capability,
        "binding": plan.binding,
        "fields": [_field_row(one) for one in plan.fields],
    }
    return render(request, "studio/tool_source/take_over.html", context, status=409 if error else 200)


def _field_row(change: takeover.FieldChange) -> dict[str, Any]:
    return {
        "name": change.name,
        "is_edited": change.is_edited,
        "mine": orjson.dumps(change.mine, option=orjson.OPT_INDENT_2).decode(),
        "theirs": orjson.dumps(change.theirs, option=orjson.OPT_INDENT_2).decode(),
    }
