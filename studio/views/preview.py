"""What the editor shows beside the text: preview, verdict on an action, a form made from a tool. Nothing is stored."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from registry.authoring import form_making, previewing
from registry.errors import RegistryError
from studio.access import StudioRequest, author_required
from studio.form_calls import in_words
from studio.markdown import as_page
from studio.views.draft import submitted
from studio.views.given import event_of, line_of


@author_required
@require_POST
def draft_preview(request: StudioRequest, capability_id: str) -> HttpResponse:
    """`{skill_html, forms: [{schema_id, title, messages, why}], agent, load, load_bytes}` for the texts given."""
    found = previewing.preview(capability_id=capability_id, files=submitted(request))
    load = found.load.decode() if found.load is not None else None
    answer: dict[str, Any] = {
        "skill_html": as_page(found.skill_doc),
        "forms": [vars(form) for form in found.forms],
        "agent": found.prompt.as_dict() if found.prompt is not None else None,
        "load": load,
        "load_bytes": len(found.load or b""),
    }
    return JsonResponse(answer)


@author_required
@require_POST
def draft_action(request: StudioRequest, capability_id: str) -> HttpResponse:
    """`{fits, words, arguments}` for what a form in the preview has sent; `arguments` are JSON as text, or null."""
    outcome = previewing.judge_action(
        capability_id=capability_id,
        files=submitted(request),
        schema_id=line_of(request, "schema_id", most=100),
        event=event_of(request),
    )
    told = in_words(outcome)
    words = told.words
    if told.standing in ("runs", "approval"):
        words = _("%(tool)s would be called: it %(policy)s.") % {"tool": told.tool, "policy": told.policy}
    fits = told.standing != "refused"
    return JsonResponse({"fits": fits, "words": words, "arguments": told.arguments or None})


@author_required
@require_POST
def draft_form(request: StudioRequest, capability_id: str) -> HttpResponse:  # noqa: ARG001 (the address names it)
    """`{schema_id, texts, words}`: the files with a form for a tool; `{words}` alone where none can be made."""
    try:
        made = form_making.make_form(files=submitted(request), tool_name=line_of(request, "tool", most=200))
    except RegistryError as error:
        return JsonResponse({"words": error.message})
    words = _("%(schema_id)s was made. Say in skill.md when to open it.") % {"schema_id": made.schema_id}
    if made.left_out:
        words += " " + _("Without a field: %(names)s.") % {"names": ", ".join(made.left_out)[:300]}
    return JsonResponse({"schema_id": made.schema_id, "texts": dict(made.texts), "words": words})
