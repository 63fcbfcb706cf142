"""What agents and their clients read of sets: lists, plugins and the marketplace (docs/contract.md 6.1)."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.http import HttpResponse
from rest_framework.request import Request

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.http.endpoint import endpoint
from agent_api.http.representations import respond
from agent_api.integrations.access import ReaderContext, authorize_reader, base_url
from agent_api.openapi.annotations import CAPABILITY_ID, NOT_MODIFIED, query_parameter, read_endpoint
from capability_rules.errors import InvalidRequest
from features.sets import marketplace, plugins
from features.sets.plugin_forms import FORMS
from features.sets.plugins import Plugin, PluginAddress
from features.sets.set_reader import ResolvedSet, describe_set, get_readable_set, list_sets
from registry.common.errors import NotFound
from registry.snapshot import Snapshot
from registry.snapshot.response_cache import RenderedResponse

_SET: Final = (query_parameter("set_id", "Which set.", kind=CAPABILITY_ID, required=True),)
_NO_SET: Final = {404: ("Error", "There is no set of this id that the key sees (NOT_FOUND).")}
_TOO_LARGE: Final = {409: ("Error", "A plugin of the set would be over 32 MiB (STATUS_CONFLICT).")}
JSON_ZIP: Final = {"zip": "application/zip", "dsse.json": "application/json"}


@read_endpoint("GET", answer="SetList", also=NOT_MODIFIED)
def set_list(request: Request, held: Snapshot, caller: Caller) -> HttpResponse:
    """The sets of which the key sees a member, ordered by set_id."""
    rows = [describe_set(each) for each in list_sets(held, caller.principal)]
    return respond(request, caller, RenderedResponse(orjson.dumps({"sets": rows})))


@read_endpoint("GET", answer="SetLoaded", parameters=_SET, also=NOT_MODIFIED | _NO_SET | _TOO_LARGE)
def set_load(request: Request, held: Snapshot, caller: Caller) -> HttpResponse:
    """One set with its plugins: address, digest and signature of each form, and what a client cannot hold."""
    found = get_readable_set(held, caller.principal, read_set_id(parameters.query(request)))
    address = PluginAddress(base_url(request), needs_key=not caller.is_public)
    answer = {"set": describe_set(found)} | plugins.describe_plugins(held, found, address)
    return respond(request, caller, RenderedResponse(orjson.dumps(answer)))


def read_set_id(values: Any) -> str:
    """The id that a query or a body names. Raises `InvalidRequest`."""
    found = parameters.string(values, "set_id", most=200)
    if not found:
        raise InvalidRequest("set_id is missing; set_list names them all")
    return found


@endpoint("GET")
def marketplace_show(request: Request, token: str = "") -> HttpResponse:
    """The reader's sets as plugins that Claude Code installs."""
    visitor = authorize_reader(request, token)
    address = address_of(request, visitor, token)
    key = f"marketplace of {visitor.caller.principal.sight} {visitor.shared_set} {address}"
    kept: RenderedResponse | None = visitor.snapshot.of_access.get(key)
    if kept is None:
        found = list_sets(visitor.snapshot, visitor.caller.principal, only=visitor.shared_set)
        document = marketplace.build_marketplace(visitor.snapshot, found, address, only=visitor.shared_set)
        kept = visitor.snapshot.of_access[key] = RenderedResponse(orjson.dumps(document, option=orjson.OPT_INDENT_2))
    return respond(request, visitor.caller, kept)


@endpoint("GET")
def plugin_show(
    request: Request, set_id: str, version: str, form: str, kind: str, token: str = ""
) -> HttpResponse:  # fmt: skip
    """A plugin as a zip, or its signature."""
    visitor = authorize_reader(request, token)
    found, plugin = _load(request, visitor, (set_id, version, form), token)
    rendered = plugin.rendered
    if kind != "zip":
        rendered = RenderedResponse(plugins.sign_plugin(found, plugin).encode("utf-8"))
    response = respond(request, visitor.caller, rendered, content_type=JSON_ZIP[kind])
    response["Content-Disposition"] = f'attachment; filename="{found.set_id}-{form}.{kind}"'
    return response


def _load(
    request: Request, visitor: ReaderContext, named: tuple[str, str, str], token: str
) -> tuple[ResolvedSet, Plugin]:
    set_id, version, form = named
    found = get_readable_set(visitor.snapshot, visitor.caller.principal, set_id, only=visitor.shared_set)
    if version not in (found.version, "latest"):
        raise NotFound(f"The set '{set_id}' has the version {found.version} now; its list has the new addresses")
    if form not in FORMS:
        raise NotFound(f"A plugin has one of the forms {', '.join(FORMS)}")
    return found, plugins.load_plugin(visitor.snapshot, found, form, address_of(request, visitor, token))


def address_of(request: Request, visitor: ReaderContext, token: str) -> PluginAddress:
    """Where this reader finds the registry."""
    return PluginAddress(base_url(request, token), needs_key=not token and not visitor.caller.is_public)
