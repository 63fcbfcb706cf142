"""Warm reads in the event loop: a response that was prepared before is found by the request itself."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, Protocol

from studio.config.parsers import Network
from studio.middleware.proxies import apply_forwarding, forwarded, is_request_id
from studio.server.environ import Environ, split_address
from studio.server.rsgi import HeaderList, HttpProtocol, RequestScope

# What makes a difference to a list or a load, and what a trusted proxy may say. All else is passed over.
_KEY: Final = "authorization"
_SIGNIFICANT: Final = frozenset({"accept-encoding", _KEY, "host", "if-none-match", "origin"})
_FORWARDING: Final = frozenset({"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-request-id"})


class ReadyResponse(Protocol):
    """A response that can be sent as it is."""

    status: int
    headers: HeaderList
    body: bytes


class ReadyResponses(Protocol):
    """What `agent_api.fast_path.FastPath` does; it is given by `studio.rsgi`."""

    def find(self, key: Hashable) -> ReadyResponse | None: ...

    def prepare(self, environ: Environ, key: Hashable) -> ReadyResponse | None: ...


class WarmReads:
    """Sends what can be sent at once."""

    def __init__(self, responses: ReadyResponses, trusted: tuple[Network, ...]) -> None:
        self._responses = responses
        self._trusted = trusted

    def send_ready(self, scope: RequestScope, protocol: HttpProtocol) -> bool:
        """Send the response that is kept for such a request. False where there is none."""
        return _send(protocol, *self.find(scope))

    def send_prepared(self, scope: RequestScope, environ: Environ, protocol: HttpProtocol) -> bool:
        """Prepare the response, keep it for the next such request, and send it. False for what is not a warm read."""
        return _send(protocol, *self.prepare(scope, environ))

    def find(self, scope: RequestScope) -> tuple[Any, str | None]:
        """The response that is kept for such a request, or None; and the id that a trusted proxy set."""
        key, request_id = self._request(scope)
        return self._responses.find(key), request_id

    def prepare(self, scope: RequestScope, environ: Environ) -> tuple[Any, str | None]:
        """The response, prepared and kept for the next such request; None for what is not a warm read."""
        apply_forwarding(environ, self._trusted)
        key, request_id = self._request(scope)
        return self._responses.prepare(environ, key), request_id

    def _request(self, scope: RequestScope) -> tuple[Hashable, str | None]:
        """Everything that distinguishes the request from another one, and the id that a trusted proxy set."""
        significant: HeaderList = []
        forwarding: HeaderList = []
        has_key = False
        for item in scope.headers.items():
            if item[0] in _SIGNIFICANT:
                significant.append(item)
                has_key = has_key or item[0] == _KEY
            elif item[0] in _FORWARDING:
                forwarding.append(item)
        if not has_key and _KEY in scope.headers:
            # Its value is not ASCII: a request with an unreadable key is not a public read.
            significant.append((_KEY, ""))
        origin, request_id = (scope.scheme, ""), None
        if forwarding and self._trusted:
            origin, request_id = self._forwarded(scope, forwarding)
        return (scope.path, scope.query_string, scope.method, scope.authority, origin, *significant), request_id

    def _forwarded(self, scope: RequestScope, forwarding: HeaderList) -> tuple[tuple[str, str], str | None]:
        """Scheme and host as a trusted proxy saw them, the host empty where it did not say, and the request's id."""
        said: dict[str, str] = {}
        for name, value in forwarding:
            said[name] = f"{said[name]},{value}" if name in said else value
        get = said.get
        found = forwarded(
            split_address(scope.client)[0],
            get("x-forwarded-for", ""),
            get("x-forwarded-proto", ""),
            get("x-forwarded-host", ""),
            self._trusted,
        )
        if found is None:
            return (scope.scheme, ""), None
        request_id = get("x-request-id", "")
        return (found.scheme or scope.scheme, found.host), request_id if is_request_id(request_id) else None


def _send(protocol: HttpProtocol, ready: ReadyResponse | None, request_id: str | None) -> bool:
    if ready is None:
        return False
    headers = [*ready.headers, ("X-Request-ID", request_id)] if request_id else ready.headers
    protocol.response_bytes(ready.status, headers, ready.body)
    return True
