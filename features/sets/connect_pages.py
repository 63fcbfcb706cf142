"""Connect: how each client comes in, for members and below a share link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.request import Request

from agent_api.http.endpoint import endpoint
from agent_api.integrations.access import authorize_reader, base_url
from capability_rules.errors import RegistryError
from features.sets import clients, set_store
from features.sets import confirmations as questions
from features.sets.clients import TITLES, Client, ReaderAddress, Way
from features.sets.set_reader import list_sets
from features.sharing import share_links
from features.sharing.models import ShareLink
from registry.access import agent_keys
from registry.common.errors import NotFound
from registry.core import chosen_settings
from registry.models import AgentKey
from studio.pages.actions import no_store, run_action
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_int_at, get_text
from studio.pages.permissions import StudioRequest, actor_of, admin_required, operator_required

_CAN: Final = {
    "forms yes": gettext_lazy("Forms are drawn"),
    "forms text": gettext_lazy("Forms are text"),
    "approvals yes": gettext_lazy("Approvals are enforced"),
    "approvals text": gettext_lazy("Approvals are asked for in words"),
    "withdrawal both": gettext_lazy("A withdrawn capability is gone at once, in a plugin with its next version"),
    "withdrawal no": gettext_lazy("A withdrawn capability stays where it was installed"),
    "withdrawal yes": gettext_lazy("A withdrawn capability is gone at once"),
}


@dataclass(frozen=True, slots=True)
class ClientRow:
    """A client on the page; `called_at` is when a key that was made here for it was used last."""

    client: Client
    ways: list[tuple[str, Way]]
    can: list[str]
    called_at: datetime | None = None


@operator_required("GET", "POST")
def connect_show(request: StudioRequest) -> HttpResponse:
    """What to copy into each client, of the whole registry or of one set."""
    if request.method == "POST":
        # The choice is sent by the form that makes a link, so that no link is made of what was chosen before.
        return redirect(f"{reverse('studio:connect_show')}?{urlencode({'set': get_text(request, 'set', most=64)})}")
    return _page(request, _reader(request, request.GET.get("set", "")[:64]))


def _reader(request: StudioRequest, set_id: str) -> ReaderAddress:
    reader = ReaderAddress(base_url(request))
    if not set_id:
        return reader
    # A link that is made here shows the set alone.
    return replace(reader, set_id=set_store.get_set(set_id).set_id, shared_set=set_id)


def _page(
    request: StudioRequest, reader: ReaderAddress, *, status: int = 200, key: str = "", of: str = "", **more: Any
) -> HttpResponse:
    """The page; `key` is filled into the lines of the client `of` alone."""
    called = _list_calls()
    context = {
        "clients": _list_rows(reader, called, {of: key}),
        "key": key,
        "days_max": share_links.DAYS_MAX,
        "sets": [(row.set_id, row.document["name"]) for row in set_store.query_sets()],
        "reader": reader,
        "links": ShareLink.objects.filter(revoked_at__isnull=True) if request.user.can_administer else (),
        "newest_link": _newest_link(),
        "is_open": chosen_settings.is_public_read(),
    }
    return no_store(render(request, "studio/set/connect.html", context | more, status=status))


def _list_rows(reader: ReaderAddress, called: Mapping[str, datetime], keys: Mapping[str, str]) -> list[ClientRow]:
    """The clients that have a line for this reader."""
    rows = [
        _row(client, replace(reader, key=keys.get(client.id, "")), called.get(client.name))
        for client in clients.list_clients()
    ]
    return [row for row in rows if row.ways]


def _row(client: Client, reader: ReaderAddress, called_at: datetime | None = None) -> ClientRow:
    can = [str(_CAN[f"{what} {word}"]) for what, word in client.can.items()]
    ways = [(str(TITLES[way.title]), way) for way in clients.fill_ways(client, reader)]
    return ClientRow(client, ways, can, called_at)


def _list_calls() -> dict[str, datetime]:
    """By the name of a client, when one of the keys that were made here for it was used last."""
    found: dict[str, datetime] = {}
    for name, used in AgentKey.objects.filter(last_used_at__isnull=False).values_list("name", "last_used_at"):
        client = name.partition(_BY)[0]
        if used is not None:
            found[client] = max(used, found.get(client, used))
    return found


# Between the client and the member in the name of a key.
_BY: Final = " · "


@admin_required(form_on="studio:connect_show")
def connect_key_create(request: StudioRequest) -> HttpResponse:
    """A key for one client, filled into its lines on this page only."""
    client = next((each for each in clients.list_clients() if each.id == get_text(request, "client", most=40)), None)
    reader = _reader(request, get_text(request, "set", most=64))
    if client is None:
        return _page(request, reader, status=400, error=_("Choose a client."))
    name = f"{client.name}{_BY}{request.user.get_username()}"[:60]
    if AgentKey.objects.filter(name=name).exists():
        name = f"{name} {timezone.now():%Y-%m-%d %H:%M:%S}"
    try:
        _row_made, key = agent_keys.create_key(name=name, by=actor_of(request))
    except RegistryError as error:
        return _page(request, reader, status=400, error=error.message)
    return _page(request, reader, key=key, of=client.id, new_key=client.name)


@admin_required(form_on="studio:connect_show")
def connect_link_create(request: StudioRequest) -> HttpResponse:
    """A share link of the chosen set, or of everything, filled into all lines on this page only."""
    reader = _reader(request, get_text(request, "set", most=64))
    name = _("Connect, %(at)s") % {"at": f"{timezone.now():%Y-%m-%d %H:%M:%S}"}
    days = get_int_at(request.POST, "days") if request.POST.get("days") else None
    if request.POST.get("after", _newest_link()) != _newest_link():
        # The page was loaded again, which sends the form again.
        words = _("The share link is made already. It is shown once: revoke it, and make another one.")
        return _page(request, reader, status=409, error=words)
    try:
        link, url = share_links.create_link(name=name, set_id=reader.set_id, days=days, by=actor_of(request))
    except RegistryError as error:
        return _page(request, reader, status=400, error=error.message)
    origin, _slash, token = url.rpartition("/share/")
    shown = replace(reader, link=f"{reader.base_url or origin}/share/{token}")
    return _page(request, shown, new_link=link)


def _newest_link() -> str:
    """The number of the last one that was made; empty where there is none."""
    return str(ShareLink.objects.order_by("-pk").values_list("pk", flat=True).first() or "")


@admin_required("GET", "POST")
@confirmed_first(questions.revoke_link, page="studio:connect_show")
def connect_link_revoke(request: StudioRequest) -> HttpResponse:
    """End a share link."""
    name = get_text(request, "name", most=80)
    words = _("Share link %(name)s is revoked.") % {"name": name}
    return run_action(request, share_links.revoke_link, words, to=redirect("studio:connect_show"), name=name)


@endpoint("GET")
def shared_connect(request: Request, token: str) -> HttpResponse:
    """The same for somebody without an account, with the link filled in."""
    try:
        visitor = authorize_reader(request, token)
    except NotFound:
        return no_store(render(request, "studio/set/shared_gone.html", status=404))
    found = list_sets(visitor.snapshot, visitor.caller.principal, only=visitor.shared_set)
    chosen = next((each for each in found if each.set_id == request.query_params.get("set", "")), None)
    chosen = chosen or (found[0] if len(found) == 1 else None)
    reader = ReaderAddress(
        base_url(request),
        link=base_url(request, token),
        set_id=chosen.set_id if chosen else "",
        shared_set=visitor.shared_set,
    )
    context = {
        "clients": _list_rows(reader, {}, {}),
        "sets": [(each.set_id, each.document.name) for each in found],
        "chosen": chosen,
        "reader": reader,
    }
    response = no_store(render(request, "studio/set/shared_connect.html", context))
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
