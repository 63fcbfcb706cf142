"""The shapes of RSGI, granian's interface: https://github.com/emmett-framework/granian/blob/master/docs/spec/RSGI.md."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Protocol

HeaderList = list[tuple[str, str]]


class Headers(Protocol):
    """Lower-case names; a header that came twice has two items. One whose value is not ASCII has a name and no item."""

    def items(self) -> HeaderList: ...

    def keys(self) -> list[str]: ...

    def __contains__(self, name: str) -> bool: ...


class RequestScope(Protocol):
    """What is known of a request before its body: addresses are `host:port`, the path is decoded."""

    http_version: str
    server: str
    client: str
    scheme: str
    method: str
    path: str
    query_string: str
    authority: str | None

    @property
    def headers(self) -> Headers: ...


class HttpProtocol(Protocol):
    """Receives the body, whole by a call or in pieces by iteration (an empty piece ends it), and sends one response."""

    def __call__(self) -> Awaitable[bytes]: ...

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    def response_bytes(self, status: int, headers: HeaderList, body: bytes) -> None: ...

    def response_file(self, status: int, headers: HeaderList, file: str) -> None: ...
