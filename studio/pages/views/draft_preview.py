"""What the editor shows beside the text: preview, verdict on an action, a form made from a tool. Nothing is stored."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from capability_rules.errors import RegistryError
from registry.authoring import form_generator, preview
from studio.pages.form_data import get_json, get_text
from studio.pages.form_dry_run import describe_outcome
from studio.pages.markdown import render_page
from studio.pages.permissions import StudioRequest, author_required
from studio.pages.views.draft import get_submitted_files


@author_required("POST")
def draft_preview(request: StudioRequest, capability_id: str) -> HttpResponse:
    """`{skill_html, forms, agent, load, load_bytes}` for the texts given; each form is a `FormPreview`."""
    found = preview.build_preview(capability_id=capability_id, files=get_submitted_files(request))
    load = found.load.decode() if found.load is not None else None
    answer: dict[str, Any] = {
        "skill_html": render_page(found.skill_doc),
        "forms": [vars(form) for form in found.forms],
        "agent": found.prompt.as_dict() if found.prompt is not None else None,
        "load": load,
        "load_bytes": len(found.load or b""),
    }
    return JsonResponse(answer)


@author_required("POST")
def draft_action(request: StudioRequest, capability_id: str) -> HttpResponse:
    """`{fits, words, arguments}` for what a form in the preview has sent; `arguments` are JSON as text, or null."""
    outcome = preview.check_action(
        capability_id=capability_id,
        files=get_submitted_files(request),
        schema_id=get_text(request, "schema_id", most=100),
        event=get_json(request),
    )
    told = describe_outcome(outcome)
    words = told.words
    if told.standing in ("runs", "approval"):
        words = _("Calls %(tool)s: %(policy)s.") % {"tool": told.tool, "policy": told.policy}
    fits = told.standing != "refused"
    return JsonResponse({"fits": fits, "words": words, "arguments": told.arguments or None})


@author_required("POST")
def draft_form(request: StudioRequest, capability_id: str) -> HttpResponse:  # noqa: ARG001 (the address names it)
    """`{schema_id, texts, words}`: the files with a form for a tool; `{words}` alone where none can be made."""
    try:
        made = form_generator.generate_form(
            files=get_submitted_files(request), tool_name=get_text(request, "tool", most=200)
        )
    except RegistryError as error:
        return JsonResponse({"words": error.message})
    words = _("Form %(schema_id)s created. Say in the instructions when to show it.") % {"schema_id": made.schema_id}
    if made.left_out:
        words += " " + _("No field for: %(names)s.") % {"names": ", ".join(made.left_out)[:300]}
    return JsonResponse({"schema_id": made.schema_id, "texts": dict(made.texts), "words": words})
