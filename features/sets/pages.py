"""Sets: the list, one of them, changing it, and its plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agent_api.integrations.access import base_url
from capability_kit.bundles.skill_names import capability_id_of, propose_skill_name
from capability_rules.errors import InvalidRequest
from features.sets import confirmations as questions
from features.sets import plugins, set_store
from features.sets.clients import plugin_clients
from features.sets.models import CapabilitySet, SetRevision
from features.sets.plugin_forms import FORMS
from features.sets.plugins import PluginAddress
from features.sets.set_form import SetForm, initial_of
from features.sets.set_reader import ResolvedSet, resolve_set, store_set
from registry import snapshot
from registry.catalog.facets import find_display_names
from registry.common.actors import Actor
from registry.common.errors import StatusConflict
from registry.snapshot import Principal, Snapshot
from registry.snapshot.snapshot import AccessScope
from studio.pages.actions import no_store, run_action, submit_form
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_int_at, get_text
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, actor_of, operator_required, publisher_required

_REVISIONS_SHOWN: Final = 20


@operator_required("GET")
def set_list(request: StudioRequest) -> HttpResponse:
    """Every set, with what has left it."""
    held = snapshot.current_snapshot()
    page = get_page(request, set_store.query_sets())
    context = {"page": page, "rows": [(row, resolve_for_members(held, row)) for row in page.object_list]}
    return render(request, "studio/set/list.html", context)


def resolve_for_members(held: Snapshot, row: CapabilitySet) -> ResolvedSet:
    """A set as the members of the Studio see it, who see unlisted capabilities too."""
    stored = store_set(row)
    sight = AccessScope(redeemed=frozenset(stored.document.members))
    return resolve_set(held, Principal("", frozenset({"read"}), sight), stored)


@publisher_required("GET", "POST")
def set_new(request: StudioRequest) -> HttpResponse:
    """Put a set together; its id follows from its name."""
    form = SetForm(request.POST if request.method == "POST" else None)

    def save(*, by: Actor, name: str, team: str = "", **_given: Any) -> CapabilitySet:
        set_id = capability_id_of(propose_skill_name(name))
        if not set_id:
            raise InvalidRequest(_("The name needs a letter or a digit."))
        return set_store.save_set(form.document(set_id), by=by, expected_revision=0, team=team)

    if row := submit_form(request, form, save, field="name"):
        messages.success(request, _("The set is saved."))
        return redirect("studio:set_show", row.set_id)
    return render(request, "studio/set/edit.html", {"form": form}, status=400 if form.errors else 200)


@publisher_required("GET", "POST")
def set_edit(request: StudioRequest, set_id: str) -> HttpResponse:
    """Change a set in one step."""
    row = set_store.get_set(set_id)
    document = set_store.read_document(row)
    initial = initial_of(document, row.team.name if row.team is not None else "")
    form = SetForm(request.POST if request.method == "POST" else None, initial=initial, before=document)
    seen = get_int_at(request.POST, "revision") if request.method == "POST" else row.revision

    def save(*, by: Actor, team: str | None = None, **_given: Any) -> CapabilitySet:
        return set_store.save_set(form.document(set_id), by=by, expected_revision=seen, team=team)

    if submit_form(request, form, save, field=None):
        messages.success(request, _("The set is saved. Assistants get it with their next update."))
        return redirect("studio:set_show", set_id)
    context = {
        "form": form,
        "row": row,
        "document": document,
        "may_change": set_store.may_change(row, actor_of(request)),
    }
    return render(request, "studio/set/edit.html", context, status=400 if form.errors else 200)


@operator_required("GET")
def set_show(request: StudioRequest, set_id: str) -> HttpResponse:
    """One set: its capabilities, plugins, share links and history."""
    row = set_store.get_set(set_id)
    held = snapshot.current_snapshot()
    found = resolve_for_members(held, row)
    left_names = find_display_names([name for name, _word in found.left])
    context: dict[str, Any] = {
        "row": row,
        "found": found,
        "left": [(name, left_names.get(name) or name, word) for name, word in found.left],
        "revisions": _describe_revisions(row),
        "may_change": set_store.may_change(row, actor_of(request)),
    }
    try:
        described = plugins.describe_plugins(held, found, _address(request)) if found.members else {}
    except StatusConflict as error:
        described = {"too_large": error.message}
    context |= described | {
        "plugins": [each | {"client": plugin_clients()[each["form"]]} for each in described.get("plugins", [])]
    }
    names = find_display_names([loss["capability_id"] for loss in described.get("losses", [])])
    context["losses"] = [loss | {"name": names.get(loss["capability_id"])} for loss in described.get("losses", [])]
    return render(request, "studio/set/show.html", context)


_TEXTS: Final = {
    "name": gettext_lazy("name"),
    "description": gettext_lazy("description"),
    "icon": gettext_lazy("icon"),
    "visibility": gettext_lazy("visibility"),
}


def _describe_revisions(row: CapabilitySet) -> list[dict[str, Any]]:
    """The last twenty, with the names of capabilities."""
    rows = set_store.list_revisions(row)[:_REVISIONS_SHOWN]
    ids = {each for found in rows for each in _list_ids(found.changes)}
    names = find_display_names(ids)
    return [_describe_revision(found, names) for found in rows]


def _list_ids(changes: dict[str, Any]) -> list[str]:
    kept = [changes.get(key, []) for key in ("added", "removed", "unpinned")]
    return [*(each for ids in kept for each in ids), *(pair[0] for pair in changes.get("pinned", []))]


def _describe_revision(found: SetRevision, names: Mapping[str, str]) -> dict[str, Any]:
    changes = found.changes
    named = {
        key: [names.get(each) or each for each in changes.get(key, [])] for key in ("added", "removed", "unpinned")
    }
    return named | {
        "row": found,
        "pinned": [(names.get(name) or name, pin) for name, pin in changes.get("pinned", [])],
        "texts": [_TEXTS[key] for key in changes.get("after", {})] if found.number > 1 else [],
    }


def _address(request: StudioRequest) -> PluginAddress:
    return PluginAddress(base_url(request), needs_key=True)


@operator_required("GET")
def set_plugin_file(request: StudioRequest, set_id: str, plugin_form: str) -> HttpResponse:
    """A plugin as a zip, with what members see in it."""
    row = set_store.get_set(set_id)
    held = snapshot.current_snapshot()
    found = resolve_for_members(held, row)
    if plugin_form not in FORMS or not found.members:
        raise Http404
    try:
        plugin = plugins.load_plugin(held, found, plugin_form, _address(request))
    except StatusConflict as error:
        messages.error(request, error.message)
        return redirect("studio:set_show", set_id)
    response = HttpResponse(plugin.rendered.identity, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{set_id}-{plugin_form}.zip"'
    return no_store(response)


@publisher_required(form_on="studio:set_show")
def set_pin(request: StudioRequest, set_id: str) -> HttpResponse:
    """Keep one member at a revision, or follow the latest."""
    row = set_store.get_set(set_id)
    document = set_store.read_document(row)
    to = redirect("studio:set_show", set_id)
    name, pin = get_text(request, "capability_id", most=64), get_int_at(request.POST, "pin")
    if name not in document.members:
        messages.error(request, _("It is not in the set any more."))
        return to
    values = replace(document, members={**document.members, name: pin or None}).as_dict()
    words = _("Pinned at revision %(pin)s.") % {"pin": pin} if pin else _("The set follows the latest revision.")
    return run_action(request, set_store.save_set, words, to=to, values=values, expected_revision=row.revision)


@publisher_required("GET", "POST")
@confirmed_first(questions.delete_set, page="studio:set_show", gone="studio:set_list")
def set_delete(request: StudioRequest, set_id: str) -> HttpResponse:
    """End a set; its capabilities stay."""
    words = _("The set %(name)s is deleted.") % {"name": set_id}
    return run_action(request, set_store.delete_set, words, to=redirect("studio:set_list"), set_id=set_id)
