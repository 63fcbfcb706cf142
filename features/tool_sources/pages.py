"""Tools from an API: bring a source, choose operations, look at what they become, get a draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson
from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import RegistryError, SourceUnreadable
from features.credentials.git_logins import list_for_import
from features.tool_sources import adoption, source_store
from features.tool_sources.adoption import ToolChoice
from features.tool_sources.drafting import build_files, explain_missing_form
from features.tool_sources.models import ToolSource, ToolSourceItem
from features.tool_sources.operation_table import TableFilter, build_table
from features.tool_sources.readers.limits import BYTES_MAX
from features.tool_sources.tool_documents import DocumentFormat, build_document
from registry.authoring.capability_creation import CapabilitySpec, suggest_id
from registry.catalog.integrity import is_intact
from registry.common.actors import Actor
from registry.common.errors import DraftConflict
from registry.core import queries
from registry.models import Capability
from studio.pages.actions import is_fragment, vary_on_htmx
from studio.pages.downloads import file_response
from studio.pages.drawn_forms import DrawnForm, draw_forms
from studio.pages.form_data import get_query_text, get_text
from studio.pages.permissions import StudioRequest, actor_of, author_required, operator_required
from studio.pages.views.capability_new import DescribedCapabilityForm

_SOURCES_SHOWN: Final = 5


class ToolSourceForm(forms.Form):
    """Where the tools come from: one of a file, a pasted text, or an address."""

    document = forms.FileField(
        label=gettext_lazy("File"),
        required=False,
        help_text=gettext_lazy("OpenAPI 3 as JSON or YAML, or a list of tools. Up to 10 MB."),
        widget=forms.ClearableFileInput(attrs={"class": "input", "accept": ".json,.yaml,.yml,.txt"}),
    )
    url = forms.CharField(
        label=gettext_lazy("Address"),
        required=False,
        max_length=1000,
        help_text=gettext_lazy("Of an OpenAPI document, or of an MCP server. HTTPS only."),
        widget=forms.TextInput(
            attrs={"class": "input mono", "inputmode": "url", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    is_mcp = forms.BooleanField(label=gettext_lazy("This is an MCP server"), required=False)
    header_name = forms.CharField(
        label=gettext_lazy("Header"),
        required=False,
        max_length=100,
        help_text=gettext_lazy("Sent to the MCP server (optional), such as Authorization."),
        widget=forms.TextInput(attrs={"class": "input mono", "autocomplete": "off", "spellcheck": "false"}),
    )
    header_value = forms.CharField(
        label=gettext_lazy("Value"),
        required=False,
        max_length=2000,
        help_text=gettext_lazy("Kept encrypted. You won't see it again."),
        widget=forms.PasswordInput(attrs={"class": "input mono", "autocomplete": "off"}),
    )
    credential = forms.ChoiceField(
        label=gettext_lazy("Credential"),
        required=False,
        help_text=gettext_lazy("In place of a value: one that an admin keeps, and has opened to members."),
    )
    pasted = forms.CharField(
        label=gettext_lazy("Paste"),
        required=False,
        strip=False,
        help_text=gettext_lazy("OpenAPI, or definitions in the form of OpenAI, Anthropic, Gemini or MCP."),
        widget=forms.Textarea(attrs={"class": "textarea mono", "rows": 8, "spellcheck": "false"}),
    )

    def __init__(self, by: Actor, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        names = [row.name for row in list_for_import(by)]
        fields: Any = self.fields
        fields["credential"].choices = [("", _("None")), *((name, name) for name in names)]


@author_required("GET", "POST")
def tool_source_new(request: StudioRequest) -> HttpResponse:
    """Bring a source for a new capability."""
    return _bring(request, None)


@author_required("GET", "POST")
def tool_source_add(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Bring a source for more tools of a capability."""
    return _bring(request, queries.get_capability(capability_id))


def _bring(request: StudioRequest, capability: Capability | None) -> HttpResponse:
    is_sent = request.method == "POST"
    sent = (request.POST, request.FILES) if is_sent else ()
    form = ToolSourceForm(actor_of(request), *sent)
    if is_sent and form.is_valid():
        try:
            source = _add_source(request, form.cleaned_data)
        except RegistryError as error:
            form.add_error(None, error.message)
        else:
            return redirect(_choose_address(source, capability))
    recent = source_store.list_sources()[:_SOURCES_SHOWN]
    context = {
        "form": form,
        "capability": capability,
        "way": "api",
        "recent": [(source, _choose_address(source, capability)) for source in recent],
    }
    return render(request, "studio/tool_source/new.html", context, status=400 if form.errors else 200)


def _choose_address(source: ToolSource, capability: Capability | None) -> str:
    if capability is None:
        return reverse("studio:tool_source_choose", args=[source.pk])
    return reverse("studio:tool_source_adopt", args=[capability.capability_id, source.pk])


def _add_source(request: StudioRequest, given: dict[str, Any]) -> ToolSource:
    """What was brought: a file before an address before what was pasted. Raises `RegistryError`."""
    by = actor_of(request)
    if given["document"] is not None:
        if given["document"].size > BYTES_MAX:
            raise SourceUnreadable(_("The file has more than 10 MB"))
        return source_store.add_document(content=given["document"].read(), by=by)
    if given["url"] and given["is_mcp"]:
        header = {name: given[name] for name in ("header_name", "header_value", "credential")}
        return source_store.add_mcp_server(url=given["url"], by=by, **header)
    if given["url"]:
        return source_store.add_address(url=given["url"], by=by)
    if not given["pasted"].strip():
        raise SourceUnreadable(_("Choose a file, type an address, or paste a definition"))
    return source_store.add_document(content=given["pasted"].encode(), by=by)


@author_required("GET", "POST")
def tool_source_choose(request: StudioRequest, number: int) -> HttpResponse:
    """Choose operations for a new capability, and create it."""
    return _choose(request, source_store.get_source(number), None)


@author_required("GET", "POST")
def tool_source_adopt(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """Choose operations for a capability, and add them to its draft."""
    return _choose(request, source_store.get_source(number), queries.get_capability(capability_id))


def _choose(request: StudioRequest, source: ToolSource, capability: Capability | None) -> HttpResponse:
    step = get_text(request, "step", most=10)
    chosen = request.POST.getlist("chosen")[:1000]
    if step == "create":
        return _create(request, source, capability, chosen)
    if step == "review" and chosen:
        return _review(request, source, capability, chosen)
    table = build_table(source, TableFilter.of(request.POST), chosen)
    error = _("Choose at least one operation.") if step == "review" else ""
    context = {"source": source, "capability": capability, "table": table, "error": error, "way": "api"}
    part = "#operations" if is_fragment(request) else ""
    status = 400 if error else 200
    return vary_on_htmx(render(request, f"studio/tool_source/choose.html{part}", context, status=status))


def _review(
    request: StudioRequest,
    source: ToolSource,
    capability: Capability | None,
    chosen: Sequence[str],
    *,
    form: forms.Form | None = None,
    error: str = "",
) -> HttpResponse:
    """What the chosen operations become: names, access, arguments, losses; for a new capability, what it is called."""
    items = adoption.find_items(source, chosen)
    if not items:
        raise Http404
    names = adoption.suggest_names(items, capability.capability_id if capability else "")
    if capability is None and form is None:
        form = DescribedCapabilityForm(initial=_suggested(source) | _typed(request))
    rows = [_tool_row(request, item, names[item.key], at) for at, item in enumerate(items)]
    drawn = _draw_forms(rows)
    context = {
        "source": source,
        "capability": capability,
        "tools": rows,
        "drawn": drawn,
        "form_data": [{"title": one.title, "messages": one.messages} for one in drawn],
        "form": form,
        "error": error,
        "way": "api",
    }
    status = 400 if error or (form is not None and form.is_bound) else 200
    return render(request, "studio/tool_source/review.html", context, status=status)


def _typed(request: StudioRequest) -> dict[str, str]:
    """What was typed already, where the page is asked for again."""
    return {name: request.POST[name] for name in DescribedCapabilityForm.base_fields if name in request.POST}


def _draw_forms(rows: Sequence[dict[str, Any]]) -> list[DrawnForm]:
    """The forms of the tools that are to have one, as the capability would show them."""
    with_form = [row for row in rows if row["has_form"] and not row["form_fault"]]
    contracts = [{**row["item"].contract, "name": row["name"]} for row in with_form]
    if not contracts:
        return []
    names = [contract["name"] for contract in contracts]
    files = build_files(CapabilitySpec("preview", "Preview", "A preview."), contracts, forms=names)
    return list(draw_forms(queries.load_checked_bundle(files)))


def _suggested(source: ToolSource) -> dict[str, str]:
    """What can be said of a new capability from the source alone."""
    title = source.title[:80]
    return {
        "name": title,
        "capability_id": suggest_id(title),
        "description": _("Reads and changes data of %s.") % title,
    }


def _tool_row(request: StudioRequest, item: ToolSourceItem, suggested: str, number: int) -> dict[str, Any]:
    name = (
        get_text(request, f"name-{number}", most=64) if get_text(request, f"key-{number}", most=600) == item.key else ""
    )
    schema = item.contract["args_schema"]
    has_form = f"form-{number}" in request.POST
    named = {**item.contract, "name": name or suggested}
    return {
        "item": item,
        "number": number,
        "name": name or suggested,
        "form_fault": explain_missing_form(named) if has_form else "",
        "description": item.contract["description"],
        "arguments": _argument_rows(schema),
        "losses": item.losses,
        "json": orjson.dumps(named, option=orjson.OPT_INDENT_2).decode(),
        "has_form": has_form,
    }


def _argument_rows(schema: dict[str, Any]) -> list[dict[str, Any]]:
    required = schema.get("required", ())
    return [
        {"name": name, "kind": _kind(one), "is_required": name in required, "meaning": one.get("description", "")}
        for name, one in schema.get("properties", {}).items()
        if isinstance(one, dict)
    ]


def _kind(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"][:6]))
    return " | ".join(kind) if isinstance(kind, list) else str(kind or "any")


def _create(
    request: StudioRequest, source: ToolSource, capability: Capability | None, chosen: Sequence[str]
) -> HttpResponse:
    choices = _choices(request, chosen)
    form = DescribedCapabilityForm(request.POST) if capability is None else None
    if form is not None and not form.is_valid():
        return _review(request, source, capability, chosen, form=form)
    try:
        saved = _save(request, source, capability, choices, form.cleaned_data if form else {})
    except DraftConflict as error:
        words = _("A capability with this ID already exists.") if capability is None else error.message
        return _review(request, source, capability, chosen, form=form, error=words)
    except RegistryError as error:
        return _review(request, source, capability, chosen, form=form, error=error.message)
    messages.success(request, _("Draft saved with %(count)s tools.") % {"count": len(choices)})
    return redirect("studio:draft_edit", saved.capability_id)


def _choices(request: StudioRequest, chosen: Sequence[str]) -> list[ToolChoice]:
    """The names that were typed stand beside the key of their operation, in the order of the page."""
    typed = {
        get_text(request, f"key-{number}", most=600): (
            get_text(request, f"name-{number}", most=64),
            f"form-{number}" in request.POST,
        )
        for number in range(len(chosen))
    }
    return [ToolChoice(key, *typed.get(key, ("", False))) for key in dict.fromkeys(chosen)]


def _save(
    request: StudioRequest,
    source: ToolSource,
    capability: Capability | None,
    choices: list[ToolChoice],
    given: dict[str, Any],
) -> Any:
    by = actor_of(request)
    if capability is not None:
        return adoption.add_tools(capability_id=capability.capability_id, source_id=source.pk, chosen=choices, by=by)
    named = (given["capability_id"], given["name"], given["description"])
    wish = CapabilitySpec(*named, triggers=tuple(given["triggers"]))
    return adoption.create_capability(source_id=source.pk, chosen=choices, wish=wish, by=by)


@operator_required("GET")
def tool_export(request: StudioRequest, capability_id: str) -> HttpResponse:
    """The published tools as a tool list of MCP, or as an OpenAPI document with `?format=openapi`, to download."""
    wanted = get_query_text(request, "format", most=10)
    form: DocumentFormat = "openapi" if wanted == "openapi" else "mcp"
    revision = queries.get_capability(capability_id).published_revision
    if revision is None or not is_intact(revision):
        raise Http404
    document = build_document(queries.load_bundle(revision), form)
    content = orjson.dumps(document, option=orjson.OPT_INDENT_2)
    return file_response(f"{capability_id}.{form}.json", "application/json", content)
