"""Who asks: clients that are known by their metadata document, and clients that have registered."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from capability_kit.json_text import parse_json
from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.oauth.models import OAuthClient
from features.oauth.redirect_uris import URIS_MAX, is_on_this_computer, is_redirect_uri
from registry.common import rate_limits
from registry.common.actors import Actor
from registry.common.errors import NotFound
from registry.common.net.guarded_client import GuardedRequest, allowed_addresses
from registry.common.net.ip_policy import AddressNotAllowed
from registry.common.rate_limits import RateLimited
from registry.core import audit
from registry.core.rows import get_row
from registry.core.transactions import write_transaction

NAME_LENGTH_MAX: Final = 80
# A client that nobody has allowed is forgotten after this long, and counted as long.
DAY: Final = timedelta(days=1)
REGISTRATIONS_OF_NETWORK_MAX: Final = 20
REGISTRATIONS_MAX: Final = 1000
DOCUMENT_BYTES_MAX: Final = 10 * 1024
_DOCUMENT_SECONDS: Final = 3.0
_SETTING: Final = "IMPORT_ALLOWED_NETWORKS"
# A path that is not empty and has neither dot segments nor doubled slashes: one document has one address.
_DOCUMENT: Final = re.compile(
    r"https://(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?"
    r"(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~!$&'()*+,;=:@%-]+)+"
)
_DOCUMENT_LENGTH_MAX: Final = 512
_REGISTERED: Final = re.compile(r"[A-Za-z0-9_-]{32}")


class RedirectUriInvalid(InvalidRequest):
    """A client names an address that no browser may be sent to."""


@dataclass(frozen=True, slots=True)
class ClientMetadata:
    """What a client says of itself, as far as it is used."""

    name: str
    redirect_uris: tuple[str, ...]


def read_metadata(document: Mapping[str, Any]) -> ClientMetadata:
    """What RFC 7591 and a metadata document both have. Raises `RedirectUriInvalid`, `InvalidRequest`."""
    uris = document.get("redirect_uris")
    if not isinstance(uris, list) or not 1 <= len(uris) <= URIS_MAX:
        raise RedirectUriInvalid(f"redirect_uris has 1 to {URIS_MAX} addresses")
    bad = next((one for one in uris if not isinstance(one, str) or not is_redirect_uri(one)), None)
    if bad is not None:
        words = "https://, http://127.0.0.1, http://[::1], http://localhost, or a private scheme with a dot"
        raise RedirectUriInvalid(f"'{str(bad)[:200]}' is not an address to redirect to: it is {words}")
    for key, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
        given = document.get(key, [needed])
        if not isinstance(given, list) or needed not in given:
            raise InvalidRequest(f"{key} must have '{needed}'")
    name = document.get("client_name")
    shown = "".join(letter for letter in name if letter.isprintable()) if isinstance(name, str) else ""
    return ClientMetadata(" ".join(shown.split())[:NAME_LENGTH_MAX], tuple(dict.fromkeys(uris)))


def register_client(document: Mapping[str, Any], *, address: str) -> OAuthClient:
    """RFC 7591: a client without a secret. Raises `InvalidRequest`, and `RateLimited` past the bounds of a day."""
    metadata = read_metadata(document)
    network = rate_limits.network_of(address) or "unknown"
    # Before the lock, so that a flood does not wait for it; and under it, so that the bounds hold.
    _require_room(network)
    with write_transaction():
        _require_room(network)
        row = OAuthClient.objects.create(
            client_id=secrets.token_urlsafe(24),
            name=metadata.name,
            redirect_uris=list(metadata.redirect_uris),
            network=network,
        )
        by, detail = Actor("system", "oauth"), {"name": row.name, "redirect_uris": row.redirect_uris[:5]}
        audit.record(by=by, verb="client.register", subject=row.client_id, detail=detail | {"network": network})
    return row


def _require_room(network: str) -> None:
    # Those that somebody has allowed do not count: many members may come by one network of a vendor.
    unused = OAuthClient.objects.filter(connections__isnull=True, created_at__gt=timezone.now() - DAY)
    today = unused.exclude(network="")
    is_full = today.filter(network=network).count() >= REGISTRATIONS_OF_NETWORK_MAX
    if is_full or today.count() >= REGISTRATIONS_MAX:
        raise RateLimited(3600)


def find_client(client_id: str, *, asked_by: str) -> OAuthClient:
    """The client, not stored where it is known by a document, which is fetched. `asked_by` is the member for whom.

    Raises `NotFound`, `SourceUnreadable` or `InvalidRequest` for a document that is not one, `RateLimited`.
    """
    if not client_id.startswith("https:"):
        # What no database is asked for: one of them takes no NUL.
        known = client_id if _REGISTERED.fullmatch(client_id) else ""
        found = OAuthClient.objects.filter(client_id=known).exclude(network="")
        return get_row(found, NotFound("This client is unknown here, or was forgotten: it has to register again"))
    if len(client_id) > _DOCUMENT_LENGTH_MAX or not _DOCUMENT.fullmatch(client_id):
        raise InvalidRequest("A client_id that is an address is https://host/path, without a query and a fragment")
    rate_limits.consume("guess", f"client document {asked_by}")
    document = fetch_json(client_id, bytes_max=DOCUMENT_BYTES_MAX)
    if not isinstance(document, dict) or document.get("client_id") != client_id:
        raise InvalidRequest(f"What is at {client_id} is not the metadata of this client")
    if document.get("token_endpoint_auth_method", "none") != "none":
        raise InvalidRequest("This client signs in with a secret or a key of its own, which is not supported here")
    metadata = read_metadata(document)
    return OAuthClient(client_id=client_id, name=metadata.name, redirect_uris=list(metadata.redirect_uris))


def fetch_json(url: str, *, bytes_max: int) -> Any:
    """The value at an address of somebody else; None where it is not JSON. No redirect is followed. Raises
    `SourceUnreadable`."""
    try:
        addresses = allowed_addresses(url, _SETTING, _DOCUMENT_SECONDS)
    except AddressNotAllowed as error:
        raise SourceUnreadable(str(error)) from None
    headers = {"User-Agent": "Capability-Studio-OAuth/1", "Accept": "application/json"}
    request = GuardedRequest("GET", url, headers, bytes_max + 1)
    request.send_or_explain(addresses, _DOCUMENT_SECONDS, place=url)
    status = request.status or 0
    if status != 200:
        raise SourceUnreadable(f"{url} answered with status {status}")
    if len(request.received) > bytes_max:
        raise SourceUnreadable(f"{url} has more than {bytes_max:,} bytes")
    return parse_json(request.received.decode("utf-8", "replace"))


def store_client(client: OAuthClient) -> OAuthClient:
    """The row of a client that a member allows, which is made for one that is known by its document. Under the lock."""
    if client.network:
        return client
    said = {"name": client.name, "redirect_uris": client.redirect_uris}
    return OAuthClient.objects.update_or_create(client_id=client.client_id, defaults=said)[0]


def get_host(client: OAuthClient, redirect_uri: str) -> str:
    """Who a member deals with, at most 100 characters: the host of the document, or where the browser is sent.

    The name that a client gives itself proves nothing.
    """
    is_known_by_document = client.client_id.startswith("https:")
    parts = urlsplit(client.client_id if is_known_by_document else redirect_uri)
    if not is_known_by_document and is_on_this_computer(redirect_uri):
        return "localhost" if parts.scheme == "http" else f"{parts.scheme}:"[-100:]
    return parts.netloc[-100:]


def is_registration_open() -> bool:
    """Whether clients may register."""
    return bool(settings.OAUTH_REGISTRATION)


def forget_unused() -> None:
    """Delete the clients of before yesterday that nobody has allowed anything."""
    OAuthClient.objects.filter(connections__isnull=True, created_at__lt=timezone.now() - DAY).delete()
