"""Documents of others: fetched from checked addresses, bounded in bytes and time, without redirects."""

from __future__ import annotations

from typing import Any, Final

from capability_kit.json_text import parse_json
from capability_rules.errors import SourceUnreadable
from registry.common.net.guarded_client import GuardedRequest, allowed_addresses
from registry.common.net.ip_policy import AddressNotAllowed

_SECONDS: Final = 3.0
_SETTING: Final = "IMPORT_ALLOWED_NETWORKS"


def fetch_json(url: str, *, bytes_max: int) -> Any:
    """The value at an address; None where it is not JSON. Raises `SourceUnreadable`."""
    try:
        addresses = allowed_addresses(url, _SETTING, _SECONDS)
    except AddressNotAllowed as error:
        raise SourceUnreadable(str(error)) from None
    headers = {"User-Agent": "Capability-Studio-OAuth/1", "Accept": "application/json"}
    request = GuardedRequest("GET", url, headers, bytes_max + 1)
    request.send_or_explain(addresses, _SECONDS, place=url)
    status = request.status or 0
    if status != 200:
        raise SourceUnreadable(f"{url} answered with status {status}")
    if len(request.received) > bytes_max:
        raise SourceUnreadable(f"{url} has more than {bytes_max:,} bytes")
    return parse_json(request.received.decode("utf-8", "replace"))
