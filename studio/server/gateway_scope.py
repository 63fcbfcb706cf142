"""A request that came through the gateway: whose it is stands in a header that only the gateway can write."""

from __future__ import annotations

import hmac
from typing import Any, Final

from studio.server.rsgi import HeaderList, RequestScope

# In the environment of the application; both are given by the gateway that started it.
SECRET_VARIABLE: Final = "STUDIO_GATEWAY_SECRET"  # noqa: S105 (a name)
CLIENT_FIELD: Final = "x-gateway-client"
COUNTS_FIELD: Final = "x-gateway-counts"


class GatewayHeaders:
    """Headers without the gateway's own."""

    def __init__(self, headers: Any) -> None:
        self._headers = headers

    def items(self) -> HeaderList:
        return [item for item in self._headers.items() if not item[0].startswith("x-gateway-")]

    def keys(self) -> list[str]:
        return [name for name in self._headers.keys() if not name.startswith("x-gateway-")]  # noqa: SIM118 (no dict)

    def __contains__(self, name: str) -> bool:
        return name in self._headers


class GatewayScope:
    """A scope as it would be without the gateway in between."""

    def __init__(self, scope: RequestScope, client: str, server: str) -> None:
        self.http_version = scope.http_version
        self.scheme = scope.scheme
        self.method = scope.method
        self.path = scope.path
        self.query_string = scope.query_string
        self.authority = scope.authority
        self.client = client
        self.server = server
        self.headers = GatewayHeaders(scope.headers)


def open_scope(scope: RequestScope, secret: str) -> tuple[GatewayScope | None, list[int]]:
    """The client's own scope and the gateway's counts; None where the gateway did not send the request."""
    said = dict(scope.headers.items())
    given, _, rest = said.get(CLIENT_FIELD, "").partition(" ")
    if not hmac.compare_digest(given.encode(), secret.encode()):
        return None, []
    client, _, server = rest.partition(" ")
    counts = [int(number) for number in said.get(COUNTS_FIELD, "").split(",") if number]
    return GatewayScope(scope, client, server), counts
